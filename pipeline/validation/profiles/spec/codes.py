"""Findings of the `spec` profile about the fields of a SKILL.md."""

from catalog.model.finding import (
    CLIENT_GUIDE,
    IF_STRICT,
    SPECIFICATION,
    UNLESS_PERMISSIVE,
    FindingTypes,
)

_FRONTMATTER = f"{SPECIFICATION}, Frontmatter"
TYPES = FindingTypes("spec", _FRONTMATTER)
_LENIENT = f"{_FRONTMATTER}; {CLIENT_GUIDE}, Lenient validation"
_KEPT = "The value is still read."

NAME_MISSING = TYPES.error(
    "name-missing",
    "name is missing or empty.",
    "Add a name equal to the folder's name, which is used until then.",
)
NAME_NOT_TEXT = TYPES.error(
    "name-not-text",
    "name is not text.",
    "Write the name on one line; the folder's name is used until then.",
)
NAME_TOO_LONG = TYPES.error(
    "name-too-long", "name is longer than 64 characters.", "Shorten the name and the folder's name."
)
NAME_NOT_LOWER_CASE = TYPES.error(
    "name-not-lower-case",
    "name is not all lower case.",
    "Write the name and the folder's name in lower case.",
)
NAME_OUTER_HYPHEN = TYPES.error(
    "name-outer-hyphen",
    "name begins or ends with a hyphen.",
    "Remove the hyphens at the ends of the name.",
)
NAME_DOUBLE_HYPHEN = TYPES.error(
    "name-double-hyphen", "name has two hyphens in a row.", "Put one hyphen between two words."
)
NAME_CHARACTERS = TYPES.error(
    "name-characters",
    "name contains characters other than letters, digits and hyphens.",
    "Replace them with hyphens, or remove them.",
)
NAME_NOT_FOLDER = TYPES.error(
    "name-not-folder",
    "name differs from the folder's name.",
    "Rename the folder, or change the name, so that they are equal.",
)
NAME_FORM = (
    NAME_TOO_LONG,
    NAME_NOT_LOWER_CASE,
    NAME_OUTER_HYPHEN,
    NAME_DOUBLE_HYPHEN,
    NAME_CHARACTERS,
    NAME_NOT_FOLDER,
)
"""Findings about names that only the specification forbids; a dialect may permit them."""

DESCRIPTION_MISSING = TYPES.error(
    "description-missing",
    "description is missing or blank.",
    "Say in a sentence or two what the skill does and when to use it.",
    _LENIENT,
    rejects=UNLESS_PERMISSIVE,
)
DESCRIPTION_NOT_TEXT = TYPES.error(
    "description-not-text",
    "description is not text.",
    "Write the description as one text; put it in quotes if it begins with [ or {.",
    _LENIENT,
    rejects=UNLESS_PERMISSIVE,
)
DESCRIPTION_TOO_LONG = TYPES.error(
    "description-too-long",
    "description is longer than 1,024 characters.",
    "Keep the text that says when to use the skill; move details into the body.",
)
COMPATIBILITY_NOT_TEXT = TYPES.error(
    "compatibility-not-text", "compatibility is not text.", "Write the requirements as one text."
)
COMPATIBILITY_TOO_LONG = TYPES.error(
    "compatibility-too-long",
    "compatibility is longer than 500 characters.",
    "Keep the requirements; move details into the body.",
)
COMPATIBILITY_EMPTY = TYPES.error(
    "compatibility-empty",
    "compatibility is empty; 1 to 500 characters are expected.",
    "Write down the skill's requirements, or remove the field.",
)
LICENSE_NOT_TEXT = TYPES.warning(
    "license-not-text",
    "license is not text.",
    "Write the licence's name or its file's name. None is stored until then.",
)
METADATA_NOT_MAP = TYPES.error(
    "metadata-not-map",
    "metadata is not a map.",
    "Write one `key: value` per line below metadata.",
)
METADATA_VALUE_NOT_TEXT = TYPES.error(
    "metadata-value-not-text",
    "A value in metadata is not text; an info if known clients read it.",
    f"Write the value as text, in quotes if necessary. {_KEPT}",
)
ALLOWED_TOOLS_NOT_TEXT = TYPES.warning(
    "allowed-tools-not-text",
    "allowed-tools is not a single space-separated text; of a list, only the profile spec alone "
    "says so.",
    f"Write the tools on one line with spaces between them. {_KEPT}",
)
FIELD_NOT_IN_SPECIFICATION = TYPES.warning(
    "field-not-in-specification",
    "A field is not among the specification's six, and no known client reads it; with the profile "
    "spec alone, every other field is an error.",
    "Move them under metadata, or remove them.",
    rejects=IF_STRICT,
)
