"""The Symmetry-aware Generative Model: prototypes by self-supervision, then a density over transformations."""
