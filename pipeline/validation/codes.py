"""Findings met while what was read is turned into a verdict, whichever rules are asked."""

from catalog.model.finding import ALWAYS, NEVER, OURS, FindingType

FIELD_TYPE = FindingType(
    "field-type",
    "warning",
    "reading",
    NEVER,
    "A field's value is not of the type that its owner defined.",
    "Write such a value; until then the field counts as not declared.",
    f"{OURS}, types of declared fields",
)
DESCRIPTION_DERIVED = FindingType(
    "description-derived",
    "warning",
    "reading",
    NEVER,
    "The description was taken from the first paragraph of the body.",
    "Add a description that says what the skill does and when to use it.",
    f"{OURS}, permissive acceptance",
)
DESCRIPTION_UNDERIVABLE = FindingType(
    "description-underivable",
    "error",
    "reading",
    ALWAYS,
    "There is no description, and the body has no paragraph to take one from.",
    "Add a description that says what the skill does and when to use it.",
    f"{OURS}, permissive acceptance",
)
FOLDER_UNREADABLE = FindingType(
    "folder-unreadable",
    "error",
    "reading",
    ALWAYS,
    "The folder could not be read whole.",
    "See that every file in it can be read; it is tried again when it changes.",
    f"{OURS}, reading",
)
INTERNAL_ERROR = FindingType(
    "internal-error",
    "error",
    "reading",
    ALWAYS,
    "skilldrop itself failed on this folder; no other folder is concerned.",
    "Please report it to us with the folder; it is tried again when it changes.",
    f"{OURS}, reading",
)
TYPES = (
    FIELD_TYPE,
    DESCRIPTION_DERIVED,
    DESCRIPTION_UNDERIVABLE,
    FOLDER_UNREADABLE,
    INTERNAL_ERROR,
)
