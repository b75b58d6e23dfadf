"""What may happen to an example: groups of transformations and how they act."""
