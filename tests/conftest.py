"""Every test runs with shapes checked, keys used once, ranks explicit, and warnings as errors."""

import os
from pathlib import Path

from jaxtyping import install_import_hook

install_import_hook("liewise", "beartype.beartype")

import jax  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

jax.config.update("jax_debug_key_reuse", True)
jax.config.update("jax_numpy_rank_promotion", "raise")

settings.register_profile("liewise", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("liewise")

_SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """What helps tests is not one: several rooms have a file of the same name."""
    helper = collection_path.suffix == ".py" and not collection_path.name.startswith("test_")
    return True if helper and Path(__file__).parent in collection_path.parents else None


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Where the real data sets lie: LIEWISE_DATA_DIR, or a folder `shared/data` beside the checkout."""
    folder = Path(os.environ.get("LIEWISE_DATA_DIR", _SHARED))
    if not folder.is_dir():
        pytest.skip("no real data here: set LIEWISE_DATA_DIR to a folder with mnist/, dsprites/, ...")
    return folder
