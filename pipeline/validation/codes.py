"""Types of findings that are reported with any choice of profiles."""

from catalog.model.finding import ALWAYS, NEVER, OURS, FindingType
from pipeline.parsing import codes as parsing_codes
from pipeline.roots import codes as roots_codes
from pipeline.roots.archives import codes as archives_codes

FIELD_TYPE = FindingType(
    "field-type",
    "warning",
    "reading",
    NEVER,
    "A field's value does not have the type that its owner defined.",
    "Use that type; the field is ignored until then.",
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
    "The description is missing, and the body has no paragraph to take one from.",
    "Add a description that says what the skill does and when to use it.",
    f"{OURS}, permissive acceptance",
)
FOLDER_UNREADABLE = FindingType(
    "folder-unreadable",
    "error",
    "reading",
    ALWAYS,
    "The folder could not be read completely.",
    "Make every file in it readable; the folder is tried again when it changes.",
    f"{OURS}, reading",
)
READING: tuple[FindingType, ...] = (
    *roots_codes.TYPES,
    *archives_codes.TYPES,
    *parsing_codes.TYPES,
    FIELD_TYPE,
    DESCRIPTION_DERIVED,
    DESCRIPTION_UNDERIVABLE,
    FOLDER_UNREADABLE,
)
