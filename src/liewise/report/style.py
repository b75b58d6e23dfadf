"""Colours and sizes that all pictures share."""

__all__ = ["CAPTION", "FILLS", "INK", "QUIET"]

INK, QUIET = "#1b1f24", "#5b6470"
CAPTION = 7  # points
FILLS = ("#3b6ea5", "#4f9d86", "#c8873a", "#a5548c", "#7a6fc0", "#7b8a45", "#b8574a", "#5b8aa8", "#8d7355")
