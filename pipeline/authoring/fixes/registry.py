"""Registry of the fixes: for each code the ways to mend its findings, safe ones first."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from catalog.model.finding import Finding
from pipeline.authoring.fixes import bytes as of_bytes
from pipeline.authoring.fixes import frontmatter
from pipeline.authoring.fixes.draft import Draft

Fix: TypeAlias = Callable[[Draft, Finding], Draft | None]
"""Returns the mended draft, or None if the finding has no single meaning."""


class Fixes(NamedTuple):
    """Fixes of one code."""

    safe: Fix | None = None
    unsafe: Fix | None = None  # may change the meaning, or lose text


_REPAIR = Fixes(frontmatter.repaired)
_NAME = Fixes(frontmatter.named_like_its_folder)

FIXES: Mapping[str, Fixes] = {
    "not-utf-8": Fixes(of_bytes.as_utf_8),
    "invalid-utf-8": Fixes(unsafe=of_bytes.from_windows),
    "control-characters": Fixes(of_bytes.decoded_again, of_bytes.without_controls),
    "forbidden-characters": Fixes(of_bytes.decoded_again, of_bytes.without_controls),
    "mojibake": Fixes(of_bytes.decoded_again),
    "byte-order-mark": Fixes(of_bytes.without_mark),
    "lone-carriage-return": Fixes(of_bytes.usual_line_ends),
    "frontmatter-not-first": Fixes(frontmatter.starting_at_the_top),
    "opening-fence-too-long": _REPAIR,
    "fence-not-alone": _REPAIR,
    "closing-fence-missing": _REPAIR,
    "tab-indentation": _REPAIR,
    "unquoted-colon": _REPAIR,
    "unquoted-value": _REPAIR,
    "unquoted-text": _REPAIR,
    "broken-quotes": _REPAIR,
    "tab-outside-quotes": Fixes(frontmatter.without_tabs),
    "name-missing": _NAME,
    "name-not-lower-case": _NAME,
    "name-characters": _NAME,
    "name-outer-hyphen": _NAME,
    "name-double-hyphen": _NAME,
    "name-not-folder": Fixes(frontmatter.named_like_its_folder, frontmatter.renamed),
    "allowed-tools-not-text": Fixes(frontmatter.tools_on_one_line),
    "field-not-in-specification": Fixes(frontmatter.under_metadata),
}
"""Fixes by code, in the order in which they are tried: each needs the ones before it."""

RENAMED = "skill-md-other-case"
"""Code that is mended by renaming the file."""
