"""Facts about one skill: its state, versions, reviews and references, and who may get it."""
