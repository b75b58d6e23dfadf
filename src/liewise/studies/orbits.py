"""Figs. 13 and 14: examples of one orbit have one prototype, and are resampled alike."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from liewise.datasets import to_unit
from liewise.report import Band, Block, draw_bands
from liewise.studies.context import Context, Fit
from liewise.studies.examples import pick
from liewise.studies.outcome import Outcome, Picture, Table
from liewise.studies.settings import SETTINGS
from liewise.transforms import Group

__all__ = ["affine", "colours", "orbit"]

_COLUMNS, _SHOWN = 7, 2  # examples of an orbit; rows of resampled ones
_DIGITS = (1, 2, 5, 6, 8)
_AFFINE = {
    "rotation": ("rotation",),
    "translations": ("shift-x", "shift-y"),
    "rotation, translations, scales": ("rotation", "shift-x", "shift-y", "scale-x", "scale-y"),
}
_COLOUR = {name: (name,) for name in ("hue", "saturation", "value")}
_CAPTION = (
    "Each block: seven examples of one orbit, made from one test example by {}; their prototypes, which should be the"
    " same; and resampled versions, one below each example, which should not tell which of the seven they came from."
)


def affine(context: Context) -> Outcome:
    """Fig. 13: digits that are turned, shifted, or both and scaled."""
    return _run(context, "mnist-affine", _AFFINE, "rotation, by translations, or by all with scales")


def colours(context: Context) -> Outcome:
    """Fig. 14: digits whose hue, saturation or value is changed."""
    return _run(context, "mnist-colour", _COLOUR, "a change of hue, of saturation or of value alone")


def orbit(group: Group, image: np.ndarray, names: tuple[str, ...], count: int, *, seed: int) -> np.ndarray:
    """Transform an image at random along some of the coordinates: [count, height, width, channels], in [0, 1].

    They come in the order of the first of these coordinates.
    """
    eta = group.sample(jax.random.key(seed), count)
    moved = jnp.array([name in names for name in group.names])
    eta = jnp.where(moved[None], eta, 0.0)
    eta = eta[jnp.argsort(eta[:, group.index(names[0])])]
    return np.asarray(_acted(group, eta, jnp.repeat(to_unit(image[None]), count, 0)))


@eqx.filter_jit
def _acted(group: Group, eta: jax.Array, examples: jax.Array) -> jax.Array:
    return jnp.clip((group.act(group.element(eta), examples) + 1) / 2, 0, 1)


def _run(context: Context, name: str, columns: dict[str, tuple[str, ...]], made_by: str) -> Outcome:
    fit = context.fit(SETTINGS[name])
    chosen = pick(fit.examples.test, len(_DIGITS), _DIGITS).images
    blocks, ratios = [], {title: [] for title in columns}
    for place, image in enumerate(chosen):
        for title, names in columns.items():
            examples = orbit(fit.model.group_, image, names, _COLUMNS, seed=context.seed + place)
            block, ratio = _block(fit, title, examples, seed=context.seed + len(blocks))
            blocks.append(block)
            ratios[title].append(ratio)
    figure = draw_bands(blocks, across=len(columns))
    rows = tuple((title, float(np.mean(values)), float(np.max(values))) for title, values in ratios.items())
    table = Table(
        "Variance over the seven prototypes / over the seven examples, in the blocks drawn",
        ("changed", "mean", "worst"),
        rows,
    )
    return Outcome({"orbits": Picture(figure, _CAPTION.format(made_by))}, (table,))


def _block(fit: Fit, title: str, examples: np.ndarray, *, seed: int) -> tuple[Block, float]:
    found = fit.model.prototype(examples)
    versions = np.swapaxes(fit.model.resample(examples, _SHOWN, seed=seed), 0, 1)
    bands = (Band("orbit", examples[None]), Band("prototypes", found[None]), Band("resampled", versions))
    return Block(title, bands), float(found.var(0).mean() / max(examples.var(0).mean(), 1e-12))
