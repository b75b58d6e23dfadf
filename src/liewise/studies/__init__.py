"""The papers' figures and tables: one small module each, run by `liewise study run NAME`.

Nothing here waits for JAX until a study runs. `outcome` holds what a study gives, `context` fits the models that
figures share, `settings` the cases of data and transformations with their presets.
"""

from liewise.studies.registry import STUDIES, Scale, Study, study_named

__all__ = ["STUDIES", "Scale", "Study", "study_named"]
