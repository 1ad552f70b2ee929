"""Difference between two things that should agree."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from catalog.model.values import Json

DifferenceKind: TypeAlias = Literal["folder", "catalog", "package", "index", "link"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One disagreement between roots, catalog, packages, prompt indexes and links."""

    kind: DifferenceKind  # the side that is wrong
    folder: str  # absolute path of a root, of a folder that skilldrop writes to
    path: str  # in that folder; empty for the folder itself
    message: str  # the rest of the sentence that begins with the path
    package_path: str | None = None  # `<skill_id>/<version>` where the files of a version are wrong

    @property
    def where(self) -> str:
        """The absolute path, as it is shown."""
        return f"{self.folder}/{self.path}" if self.path else self.folder

    def as_json(self) -> dict[str, Json]:
        """Return the fields as they are published."""
        return {"kind": self.kind, "where": self.where, "message": self.message}
