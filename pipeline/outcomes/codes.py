"""Findings about outcome files, in which runtimes report the results of runs."""

from catalog.model.finding import NEVER, OURS, FindingType

_FILES = f"{OURS}, outcome files"
_SCHEMA = f"{OURS}, docs/schemas"

OUTCOME_TOO_LARGE = FindingType(
    "outcome-too-large",
    "error",
    "outcome",
    NEVER,
    "The outcome is larger than 16 MiB.",
    "Write large output to a separate file, and give its path in output.",
    _FILES,
)
OUTCOME_UNREADABLE = FindingType(
    "outcome-unreadable",
    "error",
    "outcome",
    NEVER,
    "An outcome file cannot be read, or is not a regular file.",
    "Make it a regular file that the user running skilldrop can read.",
    _FILES,
)
OUTCOME_NOT_JSON = FindingType(
    "outcome-not-json",
    "error",
    "outcome",
    NEVER,
    "The outcome is not one JSON object.",
    "Write one object in UTF-8, with a JSON library.",
    "RFC 8259",
)
OUTCOME_KEY_TWICE = FindingType(
    "outcome-key-twice",
    "error",
    "outcome",
    NEVER,
    "An object in the outcome has the same key twice.",
    "Keep one of them; JSON parsers differ in which one they use.",
    "RFC 8259, section 4",
)
OUTCOME_FIELD_MISSING = FindingType(
    "outcome-field-missing",
    "error",
    "outcome",
    NEVER,
    "A required field of the outcome is missing.",
    "Add it; docs/schemas holds the schema.",
    _SCHEMA,
)
OUTCOME_FIELD_WRONG = FindingType(
    "outcome-field-wrong",
    "error",
    "outcome",
    NEVER,
    "The value of an outcome field is not valid.",
    "Correct the value; docs/schemas holds the schema.",
    _SCHEMA,
)
OUTCOME_FIELD_UNKNOWN = FindingType(
    "outcome-field-unknown",
    "warning",
    "outcome",
    NEVER,
    "An outcome has fields that no schema defines; they are not stored.",
    "Remove them, or move them into output or the metadata of a memory write.",
    _SCHEMA,
)
OUTCOME_HALF_CHARACTER = FindingType(
    "outcome-half-character",
    "warning",
    "outcome",
    NEVER,
    "A text of the outcome has a \\u escape for half a character; it is stored as U+FFFD.",
    "Cut texts between characters, not between the halves of an emoji.",
    "RFC 8259, section 8.2",
)
TYPES = (
    OUTCOME_TOO_LARGE,
    OUTCOME_UNREADABLE,
    OUTCOME_NOT_JSON,
    OUTCOME_KEY_TWICE,
    OUTCOME_FIELD_MISSING,
    OUTCOME_FIELD_WRONG,
    OUTCOME_FIELD_UNKNOWN,
    OUTCOME_HALF_CHARACTER,
)
