"""What users have that tests have not: functions whose annotations are not enforced."""

from collections.abc import Iterator

import jaxtyping
import pytest


@pytest.fixture
def without_annotations() -> Iterator[None]:
    """Arguments of the wrong kind reach the functions themselves, whose own words are then what counts."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)
