"""Colour as a group: hue turned, saturation and value multiplied, pixel by pixel in HSV (`004`, eq. 25)."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from liewise.errors import TransformError
from liewise.transforms.coordinate import Coordinate
from liewise.transforms.group import Additive, Box
from liewise.transforms.interpolation import expect_images

__all__ = ["COLOUR_NAMES", "Colour", "colour", "hsv_to_rgb", "rgb_to_hsv"]

_COORDINATES = (  # the limits are those of the paper's C.2
    Coordinate("hue", "deg", "red to green to blue", -0.5, 0.5, period=1.0),
    Coordinate("saturation", "factor", "more vivid", -2.301, 2.301),
    Coordinate("value", "factor", "brighter", -0.51, 0.51),
)
COLOUR_NAMES = tuple(c.name for c in _COORDINATES)
_FAINT = 1e-6  # below this, a hue or a saturation is rounding error


class Colour(Additive):
    """Hue in turns, saturation and value as logarithms of factors; elements add up."""

    def act(self, element: Float[Array, "batch dim"], examples):
        """Change each pixel's colour; saturation and value are clipped to [0, 1], gradients pass the clip."""
        expect_images(examples, len(element))
        self.check(examples.shape[1:])
        hue, saturation, value = (self._column(element, name) for name in ("hue", "saturation", "value"))
        hsv = rgb_to_hsv(_pass_clip((examples + 1) / 2))  # bicubic reading overshoots
        h = hsv[..., 0] + hue
        s = _pass_clip(hsv[..., 1] * jnp.exp(saturation))
        v = _pass_clip(hsv[..., 2] * jnp.exp(value))
        return 2 * hsv_to_rgb(jnp.stack([h, s, v], -1)) - 1

    def check(self, shape: tuple[int, ...]) -> None:
        """Refuse images without three channels."""
        if len(shape) != 3 or shape[-1] != 3:
            raise TransformError(f"colour needs images [height, width, 3]; got {shape}")

    def _column(self, element, name: str):
        if name not in self.names:
            return jnp.zeros((element.shape[0], 1, 1))
        return element[:, self.index(name), None, None]


def colour(*names: str, box: Box | None = None) -> Colour:
    """Make a colour group of any of hue, saturation and value; of all three without names.

    Args:
        names: the coordinates.
        box: limits of the random box by name, in η: turns for the hue, logarithms of factors for the others.

    >>> colour("hue").names
    ('hue',)
    """
    for name in names:
        if name not in COLOUR_NAMES:
            raise TransformError(f"no colour coordinate {name!r}; there are {', '.join(COLOUR_NAMES)}")
    chosen = tuple(c for c in _COORDINATES if c.name in (names or COLOUR_NAMES))
    return Colour(chosen).with_box(box or {})


def rgb_to_hsv(rgb: Float[Array, "*batch 3"]) -> Float[Array, "*batch 3"]:
    """Convert colours in [0, 1]; hue in turns.

    Gradients are finite everywhere: greys have no hue and black no saturation; there both are 0, with gradient 0.

    >>> rgb_to_hsv(jnp.array([0.0, 0.5, 0.0]))
    Array([0.33333334, 1.        , 0.5       ], dtype=float32)
    """
    red, green, blue = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    red_leads = (red >= green) & (red >= blue)
    green_leads = ~red_leads & (green >= blue)
    value = jnp.where(red_leads, red, jnp.where(green_leads, green, blue))
    chroma = value - jnp.minimum(jnp.minimum(red, green), blue)
    coloured, lit = chroma > _FAINT, value > _FAINT
    per_chroma = jnp.where(coloured, 1 / jnp.where(coloured, chroma, 1.0), 0.0)
    from_red, from_green, from_blue = green - blue, blue - red, red - green
    sixth = jnp.where(
        red_leads,
        from_red * per_chroma,
        jnp.where(green_leads, 2 + from_green * per_chroma, 4 + from_blue * per_chroma),
    )
    hue = jnp.where(coloured, jnp.mod(sixth / 6, 1.0), 0.0)
    saturation = jnp.where(lit, chroma / jnp.where(lit, value, 1.0), 0.0)
    return jnp.stack([hue, saturation, value], -1)


def hsv_to_rgb(hsv: Float[Array, "*batch 3"]) -> Float[Array, "*batch 3"]:
    """Convert back; hue in turns, any number of them.

    >>> hsv_to_rgb(jnp.array([-1 / 3, 1.0, 1.0]))
    Array([0., 0., 1.], dtype=float32)
    """
    hue, saturation, value = hsv[..., 0], hsv[..., 1], hsv[..., 2]

    def channel(offset: int):
        k = jnp.mod(hue * 6 + offset, 6.0)
        return value * (1 - saturation * jnp.clip(jnp.minimum(k, 4 - k), 0.0, 1.0))

    return jnp.stack([channel(5), channel(3), channel(1)], -1)


@jax.custom_jvp
def _pass_clip(x):
    """Clip to [0, 1] and let gradients through as if it had not: outside, they are what brings a value back."""
    return jnp.clip(x, 0.0, 1.0)


@_pass_clip.defjvp
def _pass_clip_jvp(primals, tangents):
    return _pass_clip(*primals), tangents[0]
