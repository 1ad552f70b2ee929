"""Findings of the `spec` profile about the fields of a SKILL.md."""

from catalog.model.finding import (
    CLIENT_GUIDE,
    IF_STRICT,
    NEVER,
    SPECIFICATION,
    UNLESS_PERMISSIVE,
    FindingType,
)

_FRONTMATTER = f"{SPECIFICATION}, Frontmatter"
_NOT_JUDGED = "the reference validator accepts it, so spec_valid is not affected"
_KEPT = f"The value is still read; {_NOT_JUDGED}."

NAME_MISSING = FindingType(
    "name-missing",
    "error",
    "spec",
    IF_STRICT,
    "name is missing or empty.",
    "Add a name equal to the folder's name, which is used until then.",
    f"{_FRONTMATTER}, name",
)
NAME_NOT_TEXT = FindingType(
    "name-not-text",
    "error",
    "spec",
    IF_STRICT,
    "name is not text.",
    "Write the name on one line; the folder's name is used until then.",
    f"{_FRONTMATTER}, name",
)
NAME_TOO_LONG = FindingType(
    "name-too-long",
    "error",
    "spec",
    IF_STRICT,
    "name is longer than 64 characters.",
    "Shorten the name and the folder's name.",
    f"{_FRONTMATTER}, name",
)
NAME_NOT_LOWER_CASE = FindingType(
    "name-not-lower-case",
    "error",
    "spec",
    IF_STRICT,
    "name is not all lower case.",
    "Write the name and the folder's name in lower case.",
    f"{_FRONTMATTER}, name",
)
NAME_OUTER_HYPHEN = FindingType(
    "name-outer-hyphen",
    "error",
    "spec",
    IF_STRICT,
    "name begins or ends with a hyphen.",
    "Remove the hyphens at the ends of the name.",
    f"{_FRONTMATTER}, name",
)
NAME_DOUBLE_HYPHEN = FindingType(
    "name-double-hyphen",
    "error",
    "spec",
    IF_STRICT,
    "name has two hyphens in a row.",
    "Put one hyphen between two words.",
    f"{_FRONTMATTER}, name",
)
NAME_CHARACTERS = FindingType(
    "name-characters",
    "error",
    "spec",
    IF_STRICT,
    "name contains characters other than letters, digits and hyphens.",
    "Replace them with hyphens, or remove them.",
    f"{_FRONTMATTER}, name",
)
NAME_NOT_FOLDER = FindingType(
    "name-not-folder",
    "error",
    "spec",
    IF_STRICT,
    "name differs from the folder's name.",
    "Rename the folder, or change the name, so that they are equal.",
    f"{_FRONTMATTER}, name",
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

DESCRIPTION_MISSING = FindingType(
    "description-missing",
    "error",
    "spec",
    UNLESS_PERMISSIVE,
    "description is missing or blank.",
    "Say in a sentence or two what the skill does and when to use it.",
    f"{_FRONTMATTER}, description; {CLIENT_GUIDE}, Lenient validation",
)
DESCRIPTION_NOT_TEXT = FindingType(
    "description-not-text",
    "error",
    "spec",
    UNLESS_PERMISSIVE,
    "description is not text.",
    "Write the description as one text; put it in quotes if it begins with [ or {.",
    f"{_FRONTMATTER}, description; {CLIENT_GUIDE}, Lenient validation",
)
DESCRIPTION_TOO_LONG = FindingType(
    "description-too-long",
    "error",
    "spec",
    IF_STRICT,
    "description is longer than 1,024 characters.",
    "Keep the text that says when to use the skill; move details into the body.",
    f"{_FRONTMATTER}, description",
)
COMPATIBILITY_NOT_TEXT = FindingType(
    "compatibility-not-text",
    "error",
    "spec",
    IF_STRICT,
    "compatibility is not text.",
    "Write the requirements as one text.",
    f"{_FRONTMATTER}, compatibility",
)
COMPATIBILITY_TOO_LONG = FindingType(
    "compatibility-too-long",
    "error",
    "spec",
    IF_STRICT,
    "compatibility is longer than 500 characters.",
    "Keep the requirements; move details into the body.",
    f"{_FRONTMATTER}, compatibility",
)
COMPATIBILITY_EMPTY = FindingType(
    "compatibility-empty",
    "warning",
    "spec",
    NEVER,
    "compatibility is empty; 1 to 500 characters are expected.",
    "Write down the skill's requirements, or remove the field.",
    f"{_FRONTMATTER}, compatibility; {_NOT_JUDGED}",
)
LICENSE_NOT_TEXT = FindingType(
    "license-not-text",
    "warning",
    "spec",
    NEVER,
    "license is not text.",
    f"Write the licence's name or its file's name. None is stored until then; {_NOT_JUDGED}.",
    f"{_FRONTMATTER}, license; {_NOT_JUDGED}",
)
METADATA_NOT_MAP = FindingType(
    "metadata-not-map",
    "warning",
    "spec",
    NEVER,
    "metadata is not a map.",
    f"Write one `key: value` per line below metadata; {_NOT_JUDGED}.",
    f"{_FRONTMATTER}, metadata; {_NOT_JUDGED}",
)
METADATA_VALUE_NOT_TEXT = FindingType(
    "metadata-value-not-text",
    "warning",
    "spec",
    NEVER,
    "A value in metadata is not text.",
    f"Write the value as text, in quotes if necessary. {_KEPT}",
    f"{_FRONTMATTER}, metadata; {_NOT_JUDGED}",
)
ALLOWED_TOOLS_NOT_TEXT = FindingType(
    "allowed-tools-not-text",
    "warning",
    "spec",
    NEVER,
    "allowed-tools is not a single space-separated text.",
    f"Write the tools on one line with spaces between them. {_KEPT}",
    f"{_FRONTMATTER}, allowed-tools; {_NOT_JUDGED}",
)
FIELD_NOT_IN_SPECIFICATION = FindingType(
    "field-not-in-specification",
    "error",
    "spec",
    IF_STRICT,
    "A field is not one of the specification's six.",
    "Move it under metadata, or remove it. It is stored in any case.",
    f"{_FRONTMATTER}",
)
FIELDS_OF_DIALECT = FindingType(
    "fields-of-dialect",
    "info",
    "spec",
    NEVER,
    "Fields of the system that the package is for are not the specification's.",
    "Keep them for that system; spec_valid is no, and other clients ignore them.",
    f"{_FRONTMATTER}",
)
TYPES = (
    NAME_MISSING,
    NAME_NOT_TEXT,
    *NAME_FORM,
    DESCRIPTION_MISSING,
    DESCRIPTION_NOT_TEXT,
    DESCRIPTION_TOO_LONG,
    COMPATIBILITY_NOT_TEXT,
    COMPATIBILITY_TOO_LONG,
    COMPATIBILITY_EMPTY,
    LICENSE_NOT_TEXT,
    METADATA_NOT_MAP,
    METADATA_VALUE_NOT_TEXT,
    ALLOWED_TOOLS_NOT_TEXT,
    FIELD_NOT_IN_SPECIFICATION,
    FIELDS_OF_DIALECT,
)
