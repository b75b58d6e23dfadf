"""Reading images between their pixels, in NumPy: the values of `liewise.transforms.sample`, in a third of its lines.

Few pixels at a time, please (`Sampler` sees to it): every step goes over all of them, and they should stay in the
cache.
"""

import numpy as np

__all__ = ["read_between"]


def read_between(images: np.ndarray, points: np.ndarray, *, kind: str, fill: float) -> np.ndarray:
    """Read images [batch, rows, columns, channels] at points [batch, 2, height, width], x before y.

    Bilinear, or bicubic by Keys with a = -1/2; the image goes on for ever with the fill value.
    """
    batch, rows, columns, channels = images.shape
    reach = 1 if kind == "bilinear" else 2
    wide = columns + 4 * reach  # twice the reach on either side, for what reads only fill
    padded = np.full((channels, batch, rows + 4 * reach, wide), fill, np.float32)
    padded[:, :, 2 * reach : -2 * reach, 2 * reach : -2 * reach] = np.moveaxis(images, -1, 0)
    flat = padded.reshape(channels, -1)
    column, dx = _divide(points[:, 0], columns, reach)
    row, dy = _divide(points[:, 1], rows, reach)
    row *= wide
    row += column
    row += (np.arange(batch) * padded[0, 0].size + (wide + 1) * (reach + 1)).reshape(-1, 1, 1)
    along, down = (_linear(dx), _linear(dy)) if kind == "bilinear" else (_cubic(dx), _cubic(dy))
    made = np.empty((*row.shape, channels), np.float32)
    line, tap = np.empty_like(dx), np.empty_like(dx)
    for channel in range(channels):
        total = np.zeros_like(dx)
        for j, weight in enumerate(down):
            line[...] = 0
            for i, share in enumerate(along):
                np.take(flat[channel, j * wide + i :], row, out=tap, mode="clip")
                tap *= share
                line += tap
            line *= weight
            total += line
        made[..., channel] = total
    return made


def _divide(position: np.ndarray, extent: int, reach: int) -> tuple[np.ndarray, np.ndarray]:
    """Divide positions into a pixel and the rest; where only fill is read, any such pixel will do."""
    position = np.fmin(np.fmax(position, np.float32(-reach - 1)), np.float32(extent + reach - 1))
    pixel = np.floor(position)
    return pixel.astype(np.intp), position - pixel


def _linear(t: np.ndarray) -> list[np.ndarray]:
    return [1 - t, t]


def _cubic(t: np.ndarray) -> list[np.ndarray]:
    """Linear weights, and half of t (1 - t) times how the slope changes from pixel to pixel."""
    s = 1 - t
    bend = np.float32(0.5) * t * s
    far = bend * t
    near = bend - far
    return [-near, s + 2 * near - far, t - near + 2 * far, -far]
