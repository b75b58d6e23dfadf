"""Numbers that say how good an answer is."""
