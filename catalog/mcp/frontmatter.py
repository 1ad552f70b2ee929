"""Frontmatter of a SKILL.md as JSON, with the types that its author wrote."""

import math
import re
from typing import Any

import yaml

_BLOCK = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)


def parse(text: str) -> dict[str, Any]:
    """Return the fields of a SKILL.md that was accepted. Raises ValueError with a reason.

    Scalars get the types of YAML 1.2's core schema, so that a date or `yes` is text.
    Source: YAML 1.2.2, section 10.3.2, Tag Resolution.
    """
    block = _BLOCK.match(text)
    if block is None:
        raise ValueError("its frontmatter is not between --- lines")
    try:
        fields = yaml.load(block[1], Loader=_CoreLoader)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise ValueError("its frontmatter is not valid YAML") from error
    if not isinstance(fields, dict) or not all(isinstance(key, str) for key in fields):
        raise ValueError("its frontmatter has no named fields")
    return fields


class _CoreLoader(yaml.SafeLoader):
    """Loader that makes strings, numbers, booleans, null, lists and mappings, and no aliases."""

    yaml_implicit_resolvers = {}  # noqa: RUF012

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        # An alias lets a few bytes become many.
        if self.check_event(yaml.AliasEvent):
            raise ValueError("an alias")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        fields = super().construct_mapping(node, deep)
        if len(fields) < len(node.value):
            raise ValueError("a field that is declared twice")
        return fields

    def integer(self, node: yaml.ScalarNode) -> int:
        text = self.construct_scalar(node)
        return int(text, 0 if text[:2] in ("0o", "0x") else 10)

    def number(self, node: yaml.ScalarNode) -> float:
        value = float(self.construct_scalar(node))
        if not math.isfinite(value):
            raise ValueError("a number without a form in JSON")
        return value

    def boolean(self, node: yaml.ScalarNode) -> bool:
        return self.construct_scalar(node).lower() == "true"


for _tag, _form, _starts in (
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    _CoreLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_form})\Z"), [*_starts.replace("\0", ""), ""]
    )
_CoreLoader.add_constructor("tag:yaml.org,2002:int", _CoreLoader.integer)
_CoreLoader.add_constructor("tag:yaml.org,2002:float", _CoreLoader.number)
_CoreLoader.add_constructor("tag:yaml.org,2002:bool", _CoreLoader.boolean)
