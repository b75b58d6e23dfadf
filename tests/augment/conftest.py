import fitted
import pytest


@pytest.fixture(scope="session")
def model():
    return fitted.model()


@pytest.fixture(scope="session")
def images():
    return fitted.images(24)


@pytest.fixture(scope="session")
def augment(model, images):
    """Knows the images but for the last four."""
    return model.augmenter(images[:20], draws=16, seed=3, threads=2)
