"""Findings about outcome files, in which runtimes report the results of runs."""

from catalog.model.finding import NEVER, FindingTypes

TYPES = FindingTypes("outcome", rejects=NEVER)

OUTCOME_TOO_LARGE = TYPES.error(
    "outcome-too-large",
    "The outcome is larger than 16 MiB.",
    "Write large output to a separate file, and give its path in output.",
)
OUTCOME_UNREADABLE = TYPES.error(
    "outcome-unreadable",
    "An outcome file cannot be read, or is not a regular file.",
    "Make it a regular file that the user running skilldrop can read.",
)
OUTCOME_NOT_JSON = TYPES.error(
    "outcome-not-json",
    "The outcome is not one JSON object.",
    "Write one object in UTF-8, with a JSON library.",
    "RFC 8259",
)
OUTCOME_KEY_TWICE = TYPES.error(
    "outcome-key-twice",
    "An object in the outcome has the same key twice.",
    "Keep one of them; JSON parsers differ in which one they use.",
    "RFC 8259, section 4",
)
OUTCOME_FIELD_MISSING = TYPES.error(
    "outcome-field-missing",
    "A required field of the outcome is missing.",
    "Add it; docs/schemas has the schema.",
)
OUTCOME_FIELD_WRONG = TYPES.error(
    "outcome-field-wrong",
    "The value of an outcome field is not valid.",
    "Correct the value; docs/schemas has the schema.",
)
OUTCOME_FIELD_UNKNOWN = TYPES.warning(
    "outcome-field-unknown",
    "An outcome has fields that no schema defines; they are not stored.",
    "Remove them, or move them into output or the metadata of a memory write.",
)
OUTCOME_HALF_CHARACTER = TYPES.warning(
    "outcome-half-character",
    "A text of the outcome has a \\u escape for half a character; it is stored as U+FFFD.",
    "Cut texts between characters, not between the halves of an emoji.",
    "RFC 8259, section 8.2",
)
