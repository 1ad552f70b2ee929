"""Where the repository and the real skills lie."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
CORPUS = Path(os.environ.get("SKILLDROP_CORPUS", REPOSITORY.parent / "shared" / "corpus"))
