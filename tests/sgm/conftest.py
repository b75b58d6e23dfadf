"""One model in a run's folder, fitted once for all the tests that ask it something."""

import warnings

import belt
import pytest

from liewise.errors import LiewiseWarning


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """The folder of a finished run, and the model that it was fitted by."""
    folder = tmp_path_factory.mktemp("belt") / "run"
    model = belt.small_model()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LiewiseWarning)  # four steps teach nothing
        assert model.fit(belt.images(), run_dir=folder, progress="silent") is model
    return folder, model


@pytest.fixture(scope="session")
def fitted(run):
    """The model alone."""
    return run[1]
