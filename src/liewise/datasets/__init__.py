"""Where examples come from.
