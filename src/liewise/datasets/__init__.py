"""Where examples come from."""
