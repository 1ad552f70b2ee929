"""Safe reading of the files of published versions."""
