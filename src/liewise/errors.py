"""Errors that name what was expected and what came, so that a caller can mend it."""

__all__ = ["DataError", "LiewiseError", "LiewiseWarning", "NotFittedError", "StoreError", "TransformError"]


class LiewiseError(ValueError):
    """The base of every error that liewise raises on purpose; the command line prints it as one line."""


class TransformError(LiewiseError):
    """A group, a coordinate or an element that cannot be what was asked for."""


class DataError(LiewiseError):
    """Examples that are missing, broken, or not of the shape that was expected."""


class StoreError(LiewiseError):
    """A checkpoint or a saved model that is torn, foreign, or of another version."""


class NotFittedError(LiewiseError, AttributeError):
    """A model was asked before it was fitted."""


class LiewiseWarning(UserWarning):
    """An answer was found, but there is a reason to doubt it; the message says which."""
