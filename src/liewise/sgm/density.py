"""Stage 2 of the SGM: p_ψ(η|x̂), a density over transformations given a prototype (`004`, §2.2 and Appendix C).

By the chain rule: each coordinate of η has a density of its own, given the prototype and the coordinates before it.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, UInt32

from liewise.errors import DataError, LiewiseError
from liewise.nn import MLP
from liewise.sgm.conditioner import Conditioner, Features
from liewise.sgm.density_config import DensityConfig
from liewise.sgm.scalar import Scalar
from liewise.sgm.scalars import scalar
from liewise.transforms import Coordinate, Group

__all__ = ["Density", "refuse_flat_boxes"]

Images = Float[Array, "batch height width channels"]


class Density(eqx.Module):
    """A conditional density of a group's coordinates.

    Coordinates on a line have a normal base behind splines, those on a circle a wrapped normal behind periodic ones,
    and those with finitely many values a categorical distribution. The bases are predicted from the prototype; the
    splines, and a correction to the bases, from the prototype and the coordinates before. Log-densities are with
    respect to η as the group writes it: radians, half extents, logarithms, turns; a circle is counted once round, and a
    step has a probability.

    Training needs a key, for dropout; without one, dropout is off.
    """

    extractor: Features | None
    head: MLP
    conditioners: tuple[Conditioner, ...]
    _standard: UInt32[Array, "2 dim"]  # centre and scale, as bits: neither gradients nor weight decay reach them
    coordinates: tuple[Coordinate, ...] = eqx.field(static=True)
    image_shape: tuple[int, int, int] = eqx.field(static=True)
    config: DensityConfig = eqx.field(static=True)

    def __init__(
        self,
        group: Group | Sequence[Coordinate],
        image_shape: Sequence[int],
        config: DensityConfig | None = None,
        *,
        centre: Float[Array | np.ndarray, " dim"] | None = None,
        scale: Float[Array | np.ndarray, " dim"] | None = None,
        key: PRNGKeyArray,
    ):
        """Make an untrained one.

        Args:
            group: the group, or its coordinates.
            image_shape: height, width and channels of prototypes.
            config: sizes; the small ones by default.
            centre: of each coordinate on a line, the middle of the data; with bounds, of the log-odds of where they lie
                between them. Those of the random box by default.
            scale: likewise, such that the data lie within centre ± 3 scale, where splines bend.
            key: for the weights.
        """
        self.config = config or DensityConfig()
        self.coordinates = tuple(group.coordinates if isinstance(group, Group) else group)
        self.image_shape = _image_shape(image_shape)
        if not self.coordinates:
            raise LiewiseError("a density needs one coordinate or more; got none")
        if self.config.bounded:
            refuse_flat_boxes(self.coordinates)
        default = np.array(self._standard_of_box()).T
        chosen = [d if given is None else np.asarray(given) for d, given in zip(default, (centre, scale), strict=True)]
        self._standard = jax.lax.bitcast_convert_type(jnp.asarray(np.stack(chosen), jnp.float32), jnp.uint32)

        keys = dict(zip(("extractor", "head", "conditioners"), jax.random.split(key, 3), strict=True))
        scalars, sizes = self._scalars, self.config.features
        self.extractor = (
            Features(
                self.image_shape,
                sizes,
                dropout=self.config.feature_dropout,
                side=self.config.side,
                key=keys["extractor"],
            )
            if self.config.conditional
            else None
        )
        self.head = MLP(
            [self._feature_size, *self.config.head, sum(s.base_size for s in scalars)],
            last_scale=0.1,
            key=keys["head"],
        )
        self.conditioners = tuple(
            Conditioner(
                self._feature_size,
                sum(earlier.code_size for earlier in scalars[:place]),
                self.config.conditioner,
                s.base_size + s.spline_size,
                dropout=self.config.conditioner_dropout,
                key=k,
            )
            for place, (s, k) in enumerate(
                zip(scalars, jax.random.split(keys["conditioners"], len(scalars)), strict=True)
            )
            if self.config.family == "spline"
        )

    @eqx.filter_jit
    def features(self, prototypes: Images, *, key: PRNGKeyArray | None = None) -> Float[Array, "batch features"]:
        """Look at prototypes in [-1, 1] once, for any number of questions about them."""
        if prototypes.shape[1:] != self.image_shape:
            raise DataError(f"expected prototypes [batch, {_words(self.image_shape)}]; got {_words(prototypes.shape)}")
        if self.extractor is None:
            return jnp.ones((len(prototypes), self._feature_size))
        extractor = self.extractor if key is not None else eqx.nn.inference_mode(self.extractor)
        return extractor(prototypes, key=key)

    def log_prob(
        self, eta: Float[Array, "batch dim"], prototypes: Images, *, key: PRNGKeyArray | None = None
    ) -> Float[Array, " batch"]:
        """Return log p_ψ(η|x̂), one η a prototype."""
        look, ask = (None, None) if key is None else jax.random.split(key)
        return self.log_prob_from(self.features(prototypes, key=look), eta[:, None], key=ask)[:, 0]

    def log_prob_from(
        self,
        features: Float[Array, "batch features"],
        eta: Float[Array, "batch n dim"],
        *,
        key: PRNGKeyArray | None = None,
    ) -> Float[Array, "batch n"]:
        """Return log p_ψ(η|x̂) of n values of η a prototype, from its features."""
        return jnp.sum(self.log_probs_from(features, eta, key=key), -1)

    @eqx.filter_jit
    def log_probs_from(
        self,
        features: Float[Array, "batch features"],
        eta: Float[Array, "batch n dim"],
        *,
        key: PRNGKeyArray | None = None,
    ) -> Float[Array, "batch n dim"]:
        """Return the log-density of each coordinate given the prototype and the coordinates before it."""
        if eta.shape[-1] != len(self.coordinates):
            names = ", ".join(c.name for c in self.coordinates)
            raise DataError(f"expected η [batch, n, {len(self.coordinates)}] for {names}; got {_words(eta.shape)}")
        model, keys = self._ready(key), self._split(key)
        bases, code = model._bases(features), jnp.zeros((*eta.shape[:2], 0))
        rows, log_dets = [], []
        for place, s in enumerate(self._scalars):
            value, log_det = s.inward(eta[..., place], *self._at(place))
            rows.append((*model._numbers(place, features, bases[place], code, keys[place]), value))
            log_dets.append(log_det)
            code = jnp.concatenate([code, s.encode(value)], -1)
        return self._terms(rows) + jnp.stack(log_dets, -1)

    def sample(self, key: PRNGKeyArray, prototypes: Images, n: int) -> Float[Array, "batch n dim"]:
        """Draw n values of η for each prototype; circles in the middle turn."""
        return self.sample_from(key, self.features(prototypes), n)

    def sample_and_log_prob(
        self, key: PRNGKeyArray, prototypes: Images, n: int
    ) -> tuple[Float[Array, "batch n dim"], Float[Array, "batch n"]]:
        """Draw n values of η for each prototype, and say how likely each was."""
        features = self.features(prototypes)
        eta = self.sample_from(key, features, n)
        return eta, self.log_prob_from(features, eta)

    @eqx.filter_jit
    def sample_from(
        self, key: PRNGKeyArray, features: Float[Array, "batch features"], n: int
    ) -> Float[Array, "batch n dim"]:
        """Draw n values of η for each prototype, from its features."""
        model, keys = self._ready(None), jax.random.split(key, len(self.coordinates))
        bases, code = model._bases(features), jnp.zeros((len(features), n, 0))
        columns = []
        for place, s in enumerate(self._scalars):
            base, splines = model._numbers(place, features, bases[place], code, None)
            value = s.sample(keys[place], base, splines)
            columns.append(s.outward(value, *self._at(place)))
            code = jnp.concatenate([code, s.encode(value)], -1)
        return jnp.stack(columns, -1)

    def within_bounds(self, eta: Float[Array, "*rows dim"]) -> Float[Array, "*rows dim"]:
        """Bring what lies beyond the bounds to them, if there are any; the density there is zero."""
        return jnp.stack(
            [s.within(column) for s, column in zip(self._scalars, jnp.moveaxis(eta, -1, 0), strict=True)], -1
        )

    @property
    def standard(self) -> tuple[Float[Array, " dim"], Float[Array, " dim"]]:
        """The centre and the scale of each coordinate; they are not trained."""
        centre, scale = jax.lax.bitcast_convert_type(self._standard, jnp.float32)
        return centre, scale

    @property
    def _scalars(self) -> tuple[Scalar, ...]:
        layers = self.config.layers if self.config.family == "spline" else 0
        return tuple(scalar(c, layers, self.config.bins, bounded=self.config.bounded) for c in self.coordinates)

    @property
    def _feature_size(self) -> int:
        return self.config.features[-1] if self.config.conditional else 1

    def _ready(self, key: PRNGKeyArray | None) -> "Density":
        return eqx.nn.inference_mode(self) if key is None else self

    def _split(self, key: PRNGKeyArray | None) -> Sequence[PRNGKeyArray | None]:
        return [None] * len(self.coordinates) if key is None else list(jax.random.split(key, len(self.coordinates)))

    def _at(self, place: int) -> tuple[Float[Array, ""], Float[Array, ""]]:
        centre, scale = self.standard
        return centre[place], scale[place]

    def _bases(self, features: Float[Array, "batch features"]) -> list[Float[Array, "batch numbers"]]:
        ends = np.cumsum([s.base_size for s in self._scalars])[:-1]
        return jnp.split(self.head(features), ends, axis=-1)

    def _numbers(
        self,
        place: int,
        features: Float[Array, "batch features"],
        base: Float[Array, "batch numbers"],
        code: Float[Array, "batch n code"],
        key: PRNGKeyArray | None,
    ) -> tuple[Float[Array, "batch n base"], Float[Array, "batch n splines"]]:
        """What a coordinate's density needs: the base with its correction, and the splines."""
        base = jnp.broadcast_to(base[:, None], (*code.shape[:2], base.shape[-1]))
        if not self.conditioners:
            return base, jnp.zeros((*code.shape[:2], 0))
        predicted = self.conditioners[place](features, code, key=key)
        correction, splines = jnp.split(predicted, [base.shape[-1]], axis=-1)
        return base + correction, splines

    def _terms(self, rows: Sequence[tuple[Array, Array, Array]]) -> Float[Array, "batch n dim"]:
        """Log-densities from bases, splines and values; coordinates of a kind are worked out together."""
        kinds: dict[tuple[type[Scalar], int], list[int]] = {}
        for place, s in enumerate(self._scalars):
            kinds.setdefault((type(s), s.base_size), []).append(place)
        terms: dict[int, Array] = {}
        for places in kinds.values():
            base, splines, value = (jnp.stack(part, 2) for part in zip(*[rows[p] for p in places], strict=True))
            together = self._scalars[places[0]].log_prob(base, splines, value)
            terms.update(zip(places, jnp.moveaxis(together, -1, 0), strict=True))
        return jnp.stack([terms[place] for place in range(len(rows))], -1)

    def _standard_of_box(self) -> list[tuple[float, float]]:
        return [s.standard(np.linspace(s.coordinate.low, s.coordinate.high, 1001)) for s in self._scalars]


def _image_shape(shape: Sequence[int]) -> tuple[int, int, int]:
    if len(shape) != 3 or any(length < 1 for length in shape):
        raise DataError(f"expected an image shape (height, width, channels); got {tuple(shape)}")
    height, width, channels = (int(length) for length in shape)
    return height, width, channels


def refuse_flat_boxes(coordinates: Sequence[Coordinate]) -> None:
    """Refuse coordinates on a line that bounds would leave no room."""
    for c in coordinates:
        if c.line and c.low == c.high:
            raise LiewiseError(
                f"a bounded density needs a box with low < high; that of {c.name!r} is {c.low}, {c.high}"
            )


def _words(shape: Sequence[int]) -> str:
    return ", ".join(map(str, shape))
