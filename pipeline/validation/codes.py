"""Types of findings that are reported with any choice of profiles."""

from catalog.model.finding import FindingType, FindingTypes
from pipeline.parsing import codes as parsing_codes
from pipeline.roots import codes as roots_codes

_TYPES = FindingTypes("reading")

FIELD_TYPE = _TYPES.warning(
    "field-type",
    "A field's value does not have the type that its owner defined.",
    "Use that type; the field is ignored until then.",
)
DESCRIPTION_DERIVED = _TYPES.warning(
    "description-derived",
    "The description was taken from the first paragraph of the body.",
    "Add a description that says what the skill does and when to use it.",
)
DESCRIPTION_UNDERIVABLE = _TYPES.rejection(
    "description-underivable",
    "The description is missing, and the body has no paragraph to take one from.",
    "Add a description that says what the skill does and when to use it.",
)
PLACEHOLDER_TEXT = _TYPES.error(
    "placeholder-text",
    "The text of a template, such as [TODO: …], was never replaced.",
    "Write what it asks for.",
)
FOLDER_UNREADABLE = _TYPES.rejection(
    "folder-unreadable",
    "The folder could not be read completely.",
    "Make every file in it readable; the folder is tried again when it changes.",
)
READING: tuple[FindingType, ...] = (
    *roots_codes.TYPES,
    *parsing_codes.TYPES,
    *_TYPES,
)
