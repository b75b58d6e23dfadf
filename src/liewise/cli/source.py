"""What commands share: where examples come from, which transformations are meant, what may be written."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from liewise.errors import LiewiseError

if TYPE_CHECKING:
    from liewise.datasets import Dataset, Split
    from liewise.transforms import Group

__all__ = ["DataDir", "Force", "Source", "Transforms", "group_for", "may_write"]

DataDir = Annotated[Path | None, tyro.conf.arg(metavar="DIR", help_behavior_hint="")]
Transforms = Annotated[str | None, tyro.conf.arg(metavar="LIST", help_behavior_hint="")]
Force = Annotated[bool, tyro.conf.arg(help_behavior_hint="")]


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where examples come from, and how files of one's own are read."""

    # a name of `liewise data list`, a folder of images, an .npz or an .npy file
    data: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="DATA")]
    # where data sets lie; also LIEWISE_DATA_DIR
    data_dir: DataDir = None
    # of sprites, or what a folder's images are brought to
    size: Annotated[int | None, tyro.conf.arg(metavar="PIXELS", help_behavior_hint="")] = None
    # how a folder's images are brought to that size
    resize: Annotated[
        Literal["crop", "pad", "stretch"] | None, tyro.conf.arg(metavar="crop|pad|stretch", help_behavior_hint="")
    ] = None
    # grey level under a folder's transparent pixels and beside padded images
    background: Annotated[int | None, tyro.conf.arg(metavar="0-255", help_behavior_hint="")] = None
    # leave a folder's broken images out, and say how many
    skip_unreadable: Annotated[bool, tyro.conf.arg(help_behavior_hint="")] = False
    # what to do with images of one colour
    constant: Annotated[
        Literal["refuse", "skip", "keep"] | None, tyro.conf.arg(metavar="refuse|skip|keep", help_behavior_hint="")
    ] = None
    # the array of an .npz file that holds the images
    key: Annotated[str | None, tyro.conf.arg(metavar="NAME", help_behavior_hint="")] = None
    # whether channels come last or first in an array
    layout: Annotated[Literal["HWC", "CHW"] | None, tyro.conf.arg(metavar="HWC|CHW", help_behavior_hint="")] = None

    def load(self) -> "Dataset":
        """Load the data, and say what had to be converted or left out."""
        from liewise.datasets import load

        data = load(self.data, data_dir=self.data_dir, **self.options)
        for note in data.notes:
            print(f"note: {note}", file=sys.stderr)
        return data

    @property
    def options(self) -> dict[str, Any]:
        """What was said about how the data are read."""
        names = ("size", "resize", "background", "skip_unreadable", "constant", "key", "layout")
        return {name: value for name in names if (value := getattr(self, name)) is not None and value is not False}


def group_for(split: "Split", text: str | None) -> "Group":
    """Return the group that a text names, or what fits the images: affine, and colour where there is any."""
    from liewise.transforms import parse

    height, width, channels = split.image_shape
    if text is None:
        text = "affine"
        if channels == 3 and (split.images != split.images[..., :1]).any():
            text = "affine,colour"
    return parse(text, (height, width))


def may_write(path: Path, force: bool) -> None:
    """Refuse before the work is done rather than after it."""
    if path.is_dir():
        raise LiewiseError(f"{path} is a folder; name the file to write")
    if path.exists() and not force:
        raise LiewiseError(f"{path} is there already; --force replaces it")
