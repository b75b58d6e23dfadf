"""A run so small that its answers mean nothing; its page has all the parts of a large one's."""

import warnings

import pytest

from liewise import datasets
from liewise.errors import LiewiseWarning
from liewise.report import write_report
from liewise.sgm import SGM, DensityConfig, InferenceConfig, density_training, inference_training
from liewise.train import RunFolder
from liewise.transforms import parse


@pytest.fixture(scope="session")
def run_dir(tmp_path_factory):
    """A finished run on some sprites, as `liewise fit` leaves it."""
    data = datasets.load("sprites", n=120, n_test=3, size=16)
    about = {
        "data": {
            "given": "sprites",
            "options": {"size": 16},
            "split": "train",
            "name": "<sprites> & co",
            "class_names": list(data.class_names),
        },
        "transforms": "rotation,flip-x",
    }
    path = tmp_path_factory.mktemp("runs") / "run"
    model = SGM(
        parse("rotation,flip-x", (16, 16)),
        inference_config=InferenceConfig(network="plain", hidden=(16,)),
        density_config=DensityConfig(features=(16,), side=16, head=(8,), conditioner=(8,), layers=1, bins=4),
        inference_training=inference_training(4, batch_size=8),
        density_training=density_training(4, batch_size=8),
        draws=1,
        validation=0.2,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LiewiseWarning)
        model.fit(data.train, run_dir=RunFolder(path, about=about), progress="silent")
    return path


@pytest.fixture(scope="session")
def page(run_dir, tmp_path_factory):
    """Its report."""
    return write_report(run_dir, tmp_path_factory.mktemp("pages") / "page.html")
