"""Findings of parsing a SKILL.md.

Findings that the reference validator reports, too, have profile `spec`, so that `spec_valid`
agrees with it; skilldrop's own have profile `reading`.
"""

from catalog.model.finding import (
    ALWAYS,
    CLIENT_GUIDE,
    IF_STRICT,
    NEVER,
    OURS,
    SPECIFICATION,
    FindingType,
)

_FORMAT = f"{SPECIFICATION}, SKILL.md format"
_LENIENT = f"{CLIENT_GUIDE}, Parsing SKILL.md files"
_YAML = "YAML 1.2.2"

SKILL_MD_EMPTY = FindingType(
    "skill-md-empty",
    "error",
    "spec",
    ALWAYS,
    "SKILL.md is empty.",
    "Write frontmatter with name and description between two --- lines, then instructions.",
    _FORMAT,
)
NOT_UTF_8 = FindingType(
    "not-utf-8",
    "error",
    "spec",
    ALWAYS,
    "SKILL.md is not encoded in UTF-8, so agents read garbled text.",
    "Save the file as UTF-8.",
    _FORMAT,
)
INVALID_UTF_8 = FindingType(
    "invalid-utf-8",
    "error",
    "spec",
    IF_STRICT,
    "Some bytes are not valid UTF-8; each was read as U+FFFD.",
    "Save the file as UTF-8, or retype the characters at that place.",
    _FORMAT,
)
FORBIDDEN_CHARACTERS = FindingType(
    "forbidden-characters",
    "error",
    "spec",
    IF_STRICT,
    "The frontmatter contains characters that YAML forbids; each was read as U+FFFD.",
    "Delete the invisible characters at that place.",
    f"{_YAML}, 5.1 Character set",
)
CONTROL_CHARACTERS = FindingType(
    "control-characters",
    "warning",
    "reading",
    NEVER,
    "The text contains control characters, which are invisible.",
    "Delete them.",
    f"{OURS}, bytes",
)
MOJIBAKE = FindingType(
    "mojibake",
    "warning",
    "reading",
    NEVER,
    "Some text was once decoded in a wrong encoding, so its letters are garbled.",
    "Restore the characters, which were decoded as Windows-1252 instead of UTF-8.",
    f"{OURS}, bytes",
)
BYTE_ORDER_MARK = FindingType(
    "byte-order-mark",
    "info",
    "reading",
    NEVER,
    "The file starts with a byte order mark, which was skipped.",
    "Save the file as UTF-8 without it; with it, some readers miss the frontmatter.",
    f"{OURS}, bytes",
)
LONE_CARRIAGE_RETURN = FindingType(
    "lone-carriage-return",
    "warning",
    "reading",
    NEVER,
    "Some lines end in a carriage return alone, which many tools do not read as a line end.",
    "Save the file with LF or CRLF line endings.",
    f"{OURS}, bytes",
)
CONFLICT_MARKERS = FindingType(
    "conflict-markers",
    "warning",
    "reading",
    NEVER,
    "The file contains an unresolved merge conflict.",
    "Keep one side, and delete the <<<<<<<, ======= and >>>>>>> lines.",
    f"{OURS}, bytes",
)
_BYTES = (
    SKILL_MD_EMPTY,
    NOT_UTF_8,
    INVALID_UTF_8,
    FORBIDDEN_CHARACTERS,
    CONTROL_CHARACTERS,
    MOJIBAKE,
    BYTE_ORDER_MARK,
    LONE_CARRIAGE_RETURN,
    CONFLICT_MARKERS,
)

FRONTMATTER_MISSING = FindingType(
    "frontmatter-missing",
    "error",
    "spec",
    ALWAYS,
    "The file does not start with frontmatter.",
    "Put name and description between two --- lines at the top of the file.",
    _FORMAT,
)
FRONTMATTER_NOT_FIRST = FindingType(
    "frontmatter-not-first",
    "error",
    "spec",
    IF_STRICT,
    "Spaces or empty lines precede the frontmatter.",
    "Make --- the first three characters of the file.",
    _FORMAT,
)
OPENING_FENCE_TOO_LONG = FindingType(
    "opening-fence-too-long",
    "error",
    "spec",
    IF_STRICT,
    "The line that opens the frontmatter has more than three dashes.",
    "Write exactly three dashes: ---.",
    _FORMAT,
)
FENCE_NOT_ALONE = FindingType(
    "fence-not-alone",
    "warning",
    "reading",
    NEVER,
    "A --- line of the frontmatter does not consist of its three dashes alone.",
    "Write --- on a line of its own.",
    f"{OURS}, fences",
)
FRONTMATTER_UNCLOSED = FindingType(
    "frontmatter-unclosed",
    "error",
    "spec",
    ALWAYS,
    "No --- line closes the frontmatter, and its end is unclear.",
    "Write --- on a line of its own after the last field.",
    _FORMAT,
)
CLOSING_FENCE_MISSING = FindingType(
    "closing-fence-missing",
    "error",
    "spec",
    IF_STRICT,
    "No --- line closes the frontmatter; it was read as ending where the fields end.",
    "Write --- on a line of its own after the last field.",
    _LENIENT,
)
FRONTMATTER_TOO_LARGE = FindingType(
    "frontmatter-too-large",
    "error",
    "reading",
    ALWAYS,
    "The frontmatter is larger than the limit.",
    "Move details into the body, or close the frontmatter earlier.",
    f"{OURS}, limits",
)
FRONTMATTER_TOO_COMPLEX = FindingType(
    "frontmatter-too-complex",
    "error",
    "reading",
    ALWAYS,
    "The frontmatter is nested too deeply or has too many parts.",
    "Flatten it, or move the data into a separate file.",
    f"{OURS}, limits",
)
_FENCES = (
    FRONTMATTER_MISSING,
    FRONTMATTER_NOT_FIRST,
    OPENING_FENCE_TOO_LONG,
    FENCE_NOT_ALONE,
    FRONTMATTER_UNCLOSED,
    CLOSING_FENCE_MISSING,
    FRONTMATTER_TOO_LARGE,
    FRONTMATTER_TOO_COMPLEX,
)

FRONTMATTER_NOT_MAPPING = FindingType(
    "frontmatter-not-mapping",
    "error",
    "spec",
    ALWAYS,
    "The frontmatter does not consist of `key: value` fields.",
    "Write it as fields, at least `name: …` and `description: …`.",
    _FORMAT,
)
YAML_INVALID = FindingType(
    "yaml-invalid",
    "error",
    "spec",
    ALWAYS,
    "The frontmatter is not valid YAML.",
    "Correct that line; quote a value that contains punctuation.",
    f"{_YAML}",
)
YAML_ALIAS = FindingType(
    "yaml-alias",
    "error",
    "spec",
    ALWAYS,
    "The frontmatter uses an anchor (&) or an alias (*).",
    "Write the value in full; quote it if it is meant as text.",
    f"{OURS}, safety: aliases can make a small file huge",
)
YAML_TAG = FindingType(
    "yaml-tag",
    "error",
    "spec",
    IF_STRICT,
    "A value has a YAML tag (!), which was ignored.",
    "Delete the tag; quote the value if the ! is part of its text.",
    f"{_YAML}, 6.8.1 Node tags; refused by the reference validator",
)
YAML_MULTIPLE_DOCUMENTS = FindingType(
    "yaml-multiple-documents",
    "error",
    "spec",
    ALWAYS,
    "The frontmatter contains more than one YAML document.",
    "Delete the ... line and the text after it, or move that text into the body.",
    f"{_YAML}, 9.2 Streams",
)
YAML_KEY_NOT_TEXT = FindingType(
    "yaml-key-not-text",
    "error",
    "spec",
    ALWAYS,
    "A key of the frontmatter is a list or a mapping.",
    "Use plain text as the key.",
    f"{OURS}, values",
)
DUPLICATE_KEY = FindingType(
    "duplicate-key",
    "error",
    "spec",
    ALWAYS,
    "A key appears twice.",
    "Keep one of the two lines.",
    f"{_YAML}, 3.2.1.3 Node comparison",
)
UNEVEN_INDENTATION = FindingType(
    "uneven-indentation",
    "error",
    "spec",
    IF_STRICT,
    "Nested fields are indented by different amounts.",
    "Indent all nested fields of one mapping by the same number of spaces.",
    "reference validator (StrictYAML)",
)
TAB_OUTSIDE_QUOTES = FindingType(
    "tab-outside-quotes",
    "error",
    "spec",
    IF_STRICT,
    "A tab appears outside quotes, which some YAML readers reject.",
    "Use spaces, or put the value in quotes.",
    "reference validator (StrictYAML)",
)
_VALUES = (
    FRONTMATTER_NOT_MAPPING,
    YAML_INVALID,
    YAML_ALIAS,
    YAML_TAG,
    YAML_MULTIPLE_DOCUMENTS,
    YAML_KEY_NOT_TEXT,
    DUPLICATE_KEY,
    UNEVEN_INDENTATION,
    TAB_OUTSIDE_QUOTES,
)

UNQUOTED_COLON = FindingType(
    "unquoted-colon",
    "error",
    "spec",
    IF_STRICT,
    "An unquoted value contains a colon and a space; it was read as quoted text.",
    "Put the value in quotes.",
    _LENIENT,
)
UNQUOTED_VALUE = FindingType(
    "unquoted-value",
    "error",
    "spec",
    IF_STRICT,
    "An unquoted value starts with a character that YAML reserves; it was read as quoted text.",
    "Put the value in quotes.",
    _LENIENT,
)
UNQUOTED_TEXT = FindingType(
    "unquoted-text",
    "error",
    "spec",
    IF_STRICT,
    "A value over several lines is not valid YAML; it was read as one text.",
    "Write >- after the field's colon, and the text on the lines below, each indented.",
    _LENIENT,
)
BROKEN_QUOTES = FindingType(
    "broken-quotes",
    "error",
    "spec",
    IF_STRICT,
    "A quoted value contains unescaped quotes or backslashes; it was read literally.",
    "In single quotes, double each single quote; in double quotes, put a backslash before each "
    "double quote and each backslash.",
    f"{_YAML}, 7.3 Flow scalar styles",
)
TAB_INDENTATION = FindingType(
    "tab-indentation",
    "error",
    "spec",
    IF_STRICT,
    "Fields are indented with tabs, which YAML forbids; each was read as two spaces.",
    "Indent with spaces.",
    f"{_YAML}, 6.1 Indentation spaces",
)
_REPAIRS = (
    UNQUOTED_COLON,
    UNQUOTED_VALUE,
    UNQUOTED_TEXT,
    BROKEN_QUOTES,
    TAB_INDENTATION,
)

TYPES: tuple[FindingType, ...] = _BYTES + _FENCES + _VALUES + _REPAIRS
