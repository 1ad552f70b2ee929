"""Fields that a SKILL.md declares, with their owners and the values of a wrong type."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from catalog.model.fields import SPECIFICATION, Declared, F, Fields


class TypeMismatch(NamedTuple):
    """A field whose value has the wrong type and is ignored."""

    field: str  # "user-invocable", "triggers.priority"
    message: str


class Declaration(NamedTuple):
    """Typed fields that a SKILL.md declares."""

    common: Declared
    own: Mapping[type[Fields], Any]  # by its model, the fields of each dialect that has any here
    owners: Mapping[str, str]  # the system that defines each known field
    mismatches: tuple[TypeMismatch, ...]
    systems: tuple[str, ...] = ()  # whose dialects are asked for, or that the package names …
    extensible: str | None = None  # … and the one of them that takes any field

    def owner(self, field: str) -> str | None:
        """Return the system that a field is for; None if no known system defines it."""
        owner = self.owners.get(field)
        return owner if owner in (SPECIFICATION, *self.systems) else self.extensible or owner

    def of(self, model: type[F]) -> F:
        """Return the fields of a dialect, all undeclared if it has none here."""
        fields: F = self.own[model] if model in self.own else model()
        return fields
