"""Paths of the repository and of the real skills."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
CORPUS = Path(os.environ.get("SKILLDROP_CORPUS", REPOSITORY.parent / "shared" / "corpus"))

SEARCH = Path(os.environ.get("SKILLDROP_SEARCH", REPOSITORY.parent / "shared" / "search"))
"""Real skills with search tasks; tests that read them are skipped without."""

DOCUMENTS = Path(os.environ.get("SKILLDROP_DOCUMENTS", REPOSITORY.parent / "shared" / "seeds"))
"""Documents with the requirements; tests of their own examples are skipped without."""
