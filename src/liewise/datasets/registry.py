"""The data sets that liewise knows by name: their files, where they can be had, and how to know them.

Checksums are those that torchvision, the sets' own repositories and their archives publish; those of the idx
files are of the unpacked contents.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from liewise.datasets.dataset import Dataset
from liewise.datasets.download import RemoteFile
from liewise.datasets.outlines import SHAPES
from liewise.datasets.split import Split

__all__ = ["ENTRIES", "Entry"]


@dataclass(frozen=True)
class Entry:
    """One named data set: what it is, under which terms, and which files it needs."""

    name: str
    summary: str
    sizes: str  # images per split, and their shape
    licence: str
    citation: str
    homepage: str
    class_names: tuple[str, ...] = ()
    files: tuple[RemoteFile, ...] = ()  # none where it is built in
    folders: tuple[str, ...] = ()  # further names for its folder in a data directory
    substitutes: tuple[str, ...] = ()  # files in another format that may stand in for `files`

    def dataset(self, splits: Mapping[str, Split], *, source: str = "", notes: tuple[str, ...] = ()) -> Dataset:
        """Return these splits as the data set that this entry describes."""
        return Dataset(
            name=self.name,
            splits=splits,
            class_names=self.class_names,
            licence=self.licence,
            citation=self.citation,
            source=source or self.homepage,
            notes=notes,
        )

    @property
    def download_size(self) -> int:
        """Bytes to fetch, about."""
        return sum(file.size for file in self.files)


def _idx_files(mirrors: tuple[str, ...], known: dict[str, tuple[str, int]]) -> tuple[RemoteFile, ...]:
    return tuple(
        RemoteFile(
            name=f"{name}.gz",
            urls=tuple(f"{mirror}{name}.gz" for mirror in mirrors),
            checksum=f"sha256:{sha256}",
            size=size,
            of_contents=True,
        )
        for name, (sha256, size) in known.items()
    )


_MNIST = Entry(
    name="mnist",
    summary="handwritten digits",
    sizes="60,000 train, 10,000 test, 28x28 grey",
    licence="CC BY-SA 3.0",
    citation="LeCun, Cortes, Burges: The MNIST database of handwritten digits, 1998",
    homepage="http://yann.lecun.com/exdb/mnist/",
    class_names=tuple("0123456789"),
    files=_idx_files(
        (
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            "https://storage.googleapis.com/cvdf-datasets/mnist/",
        ),
        {
            "train-images-idx3-ubyte": (
                "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                9_912_422,
            ),
            "train-labels-idx1-ubyte": (
                "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                28_881,
            ),
            "t10k-images-idx3-ubyte": (
                "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                1_648_877,
            ),
            "t10k-labels-idx1-ubyte": (
                "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
                4_542,
            ),
        },
    ),
)

_FASHION = Entry(
    name="fashion-mnist",
    summary="articles of clothing",
    sizes="60,000 train, 10,000 test, 28x28 grey",
    licence="MIT",
    citation="Xiao, Rasul, Vollgraf: Fashion-MNIST, arXiv:1708.07747, 2017",
    homepage="https://github.com/zalandoresearch/fashion-mnist",
    class_names=(
        "T-shirt/top",
        "trouser",
        "pullover",
        "dress",
        "coat",
        "sandal",
        "shirt",
        "sneaker",
        "bag",
        "ankle boot",
    ),
    files=_idx_files(
        (
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
            "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
            "https://storage.googleapis.com/tensorflow/tf-keras-datasets/",
        ),
        {
            "train-images-idx3-ubyte": (
                "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
                26_421_880,
            ),
            "train-labels-idx1-ubyte": (
                "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
                29_515,
            ),
            "t10k-images-idx3-ubyte": (
                "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
                4_422_102,
            ),
            "t10k-labels-idx1-ubyte": (
                "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
                5_148,
            ),
        },
    ),
)


def _svhn_file(name: str, md5: str, size: int) -> RemoteFile:
    official = f"http://ufldl.stanford.edu/housenumbers/{name}"
    # no second host publishes these files; the Internet Archive keeps a copy of the first
    urls = (official, f"https://web.archive.org/web/2020id_/{official}")
    return RemoteFile(name, urls, f"md5:{md5}", size)


_SVHN = Entry(
    name="svhn",
    summary="house numbers in street photographs, cropped to one digit",
    sizes="73,257 train, 26,032 test, 32x32 RGB",
    licence="non-commercial use only",
    citation="Netzer et al.: Reading Digits in Natural Images with Unsupervised Feature Learning, 2011",
    homepage="http://ufldl.stanford.edu/housenumbers/",
    class_names=tuple("0123456789"),
    files=(
        _svhn_file("train_32x32.mat", "e26dedcc434d2e4c54c9b2d4a06d8373", 182_040_794),
        _svhn_file("test_32x32.mat", "eb5a983be6a315427106f1b164d9cef3", 64_275_384),
    ),
    folders=("svhn-cropped",),
    substitutes=(
        "train-images-idx4-ubyte.gz",
        "train-labels-idx1-ubyte.gz",
        "t10k-images-idx4-ubyte.gz",
        "t10k-labels-idx1-ubyte.gz",
    ),
)

_DSPRITES_FILE = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz"
_DSPRITES = Entry(
    name="dsprites",
    summary="squares, ellipses and hearts with known factors (the official archive)",
    sizes="737,280 in all, drawn from as asked, 64x64 black and white",
    licence="Apache-2.0",
    citation="Matthey, Higgins, Hassabis, Lerchner: dSprites, 2017",
    homepage="https://github.com/google-deepmind/dsprites-dataset",
    class_names=SHAPES,
    files=(
        RemoteFile(
            name=_DSPRITES_FILE,
            urls=(
                f"https://github.com/google-deepmind/dsprites-dataset/raw/master/{_DSPRITES_FILE}",
                f"https://github.com/deepmind/dsprites-dataset/raw/master/{_DSPRITES_FILE}",
            ),
            checksum="sha256:857dc001287e8efa226e0025fac6b29e5745c621b380b0d3363e4e33f4e28fa2",
            size=19_318_135,
        ),
    ),
)

_GALAXY = Entry(
    name="galaxy-mnist",
    summary="galaxies by shape",
    sizes="8,000 train, 2,000 test, 64x64 RGB",
    licence="not stated; DECaLS survey images",
    citation="Walmsley et al.: Galaxy Zoo DECaLS, MNRAS 509:3966, 2022",
    homepage="https://github.com/mwalmsley/galaxy_mnist",
    class_names=("smooth round", "smooth cigar", "edge-on disk", "unbarred spiral"),
    files=tuple(
        RemoteFile(
            name,
            (
                f"https://dl.dropboxusercontent.com/s/{key}/{name}",
                f"http://www.jb.man.ac.uk/research/MiraBest/MiraBest_F/{name}",
            ),
            f"md5:{md5}",
            size,
        )
        for name, key, md5, size in (
            ("train_dataset.hdf5.gz", "5a14de0o7slyif9", "e408ae294e9b975482dc1abffeb373a6", 75_000_000),
            ("test_dataset.hdf5.gz", "5rza12nn24cwd2k", "7a940e4cea64a8b7cb60339098f74490", 19_000_000),
        )
    ),
)


def _pcam_file(part: str, md5: str, drive: str, size: int) -> RemoteFile:
    name = f"camelyonpatch_level_2_split_{part}.h5.gz"
    urls = (
        f"https://zenodo.org/records/2546921/files/{name}?download=1",
        f"https://drive.usercontent.google.com/download?id={drive}&export=download&confirm=t",
    )
    return RemoteFile(name, urls, f"md5:{md5}", size)


# The table in the set's own repository names the sums of `valid` and `test` the other way round; these pairs
# are those of torchvision and of the file names on Zenodo, which agree.
_PCAM = Entry(
    name="patch-camelyon",
    summary="lymph node tissue with and without tumour",
    sizes="262,144 train, 32,768 val, 32,768 test, 96x96 RGB",
    licence="CC0",
    citation="Veeling et al.: Rotation Equivariant CNNs for Digital Pathology, MICCAI 2018",
    homepage="https://github.com/basveeling/pcam",
    class_names=("normal", "tumour"),
    files=(
        _pcam_file("train_x", "1571f514728f59376b705fc836ff4b63", "1Ka0XfEMiwgCYPdTI-vv6eUElOBnKFKQ2", 6_421_000_000),
        _pcam_file("train_y", "35c2d7259d906cfc8143347bb8e05be7", "1269yhu3pZDP8UYFQs-NYs3FPwuK-nGSG", 21_000),
        _pcam_file("valid_x", "d5b63470df7cfa627aeec8b9dc0c066e", "1hgshYGWK8V-eGRy8LToWJJgDU_rXWVJ3", 806_000_000),
        _pcam_file("valid_y", "2b85f58b927af9964a4c15b8f7e8f179", "1bH8ZRbhSVAhScTS0p9-ZzGnX91cHT3uO", 3_000),
        _pcam_file("test_x", "d8c2d60d490dbd479f8199bdfa0cf6ec", "1qV65ZqZvWzuIVthK8eVDhIwrbnsJdbg_", 801_000_000),
        _pcam_file("test_y", "60a7035772fbdb7f34eb86d4420cf66a", "17BHrSrwWKjYsOgTMmoqrIjDy6Fa2o_gP", 3_000),
    ),
    folders=("pcam",),
)

_SPRITES = Entry(
    name="sprites",
    summary="dSprites' shapes with continuous factors, made on the spot",
    sizes="as many as asked, any size, grey",
    licence="Apache-2.0 (made by liewise)",
    citation="after dSprites, Matthey et al. 2017",
    homepage="",
    class_names=SHAPES,
)

ENTRIES = {entry.name: entry for entry in (_SPRITES, _MNIST, _FASHION, _SVHN, _DSPRITES, _GALAXY, _PCAM)}
