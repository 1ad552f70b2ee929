"""Places of skill folders, with their namespaces."""

from catalog.model import namespaces
from catalog.model.skill import Place, RootSpec


def place_of(root: RootSpec, path: str, *, is_alias: bool = False) -> Place:
    """Return the place of a skill folder, with its namespace.

    In a plugin root the first folder names the plugin; an archive, without its file extension.
    """
    rule = namespaces.PLUGIN if root.level == "plugin" else root.namespace
    return Place(root.path, path, root.level, namespaces.namespace_of(path, rule), is_alias)
