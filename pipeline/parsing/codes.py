"""Findings of parsing a SKILL.md.

Findings that the reference validator reports, too, have profile `spec`, so that `spec_valid`
agrees with it; skilldrop's own have profile `reading`.
"""

from catalog.model.finding import CLIENT_GUIDE, OURS, SPECIFICATION, FindingTypes

_SPEC = FindingTypes("spec", f"{SPECIFICATION}, SKILL.md format")
_READING = FindingTypes("reading")
_LENIENT = f"{CLIENT_GUIDE}, Parsing SKILL.md files"
_YAML = "YAML 1.2.2"

SKILL_MD_EMPTY = _SPEC.rejection(
    "skill-md-empty",
    "SKILL.md is empty.",
    "Write frontmatter with name and description between two --- lines, then instructions.",
)
NOT_UTF_8 = _SPEC.rejection(
    "not-utf-8",
    "SKILL.md is encoded in UTF-16, not UTF-8; agents read garbled text.",
    "Save the file as UTF-8.",
)
INVALID_UTF_8 = _SPEC.error(
    "invalid-utf-8",
    "Some bytes are not valid UTF-8; each was read as U+FFFD.",
    "Save the file as UTF-8, or retype the characters at that place.",
)
FORBIDDEN_CHARACTERS = _SPEC.error(
    "forbidden-characters",
    "The frontmatter contains characters that YAML forbids; each was read as U+FFFD.",
    "Delete the invisible characters at that place.",
    f"{_YAML}, 5.1 Character set",
)
CONTROL_CHARACTERS = _READING.warning(
    "control-characters",
    "The text contains control characters, which are invisible.",
    "Delete them.",
)
BYTE_ORDER_MARK = _READING.info(
    "byte-order-mark",
    "The file starts with a byte order mark, which was skipped.",
    "Save the file as UTF-8 without it; with it, some readers miss the frontmatter.",
)
LONE_CARRIAGE_RETURN = _READING.warning(
    "lone-carriage-return",
    "Some lines end in a carriage return alone, which many tools do not read as a line end.",
    "Save the file with LF or CRLF line endings.",
)
CONFLICT_MARKERS = _READING.warning(
    "conflict-markers",
    "The file contains an unresolved merge conflict.",
    "Keep one side, and delete the <<<<<<<, ======= and >>>>>>> lines.",
)

FRONTMATTER_MISSING = _SPEC.rejection(
    "frontmatter-missing",
    "The file does not start with frontmatter.",
    "Put name and description between two --- lines at the top of the file.",
)
FRONTMATTER_NOT_FIRST = _SPEC.error(
    "frontmatter-not-first",
    "Spaces or empty lines precede the frontmatter.",
    "Make --- the first three characters of the file.",
)
FENCE_NOT_ALONE = _READING.warning(
    "fence-not-alone",
    "A --- line of the frontmatter does not consist of its three dashes alone.",
    "Write --- on a line of its own.",
)
FRONTMATTER_UNCLOSED = _SPEC.rejection(
    "frontmatter-unclosed",
    "No --- line closes the frontmatter, and its end is unclear.",
    "Write --- on a line of its own after the last field.",
)
CLOSING_FENCE_MISSING = _SPEC.error(
    "closing-fence-missing",
    "No --- line closes the frontmatter; it was read as ending where the fields end.",
    "Write --- on a line of its own after the last field.",
    _LENIENT,
)
FRONTMATTER_TOO_LARGE = _READING.rejection(
    "frontmatter-too-large",
    "The frontmatter is larger or nested deeper than the limit.",
    "Move details into the body or a separate file, or close the frontmatter earlier.",
)

FRONTMATTER_NOT_MAPPING = _SPEC.rejection(
    "frontmatter-not-mapping",
    "The frontmatter does not consist of `key: value` fields.",
    "Write it as fields, at least `name: …` and `description: …`.",
)
YAML_INVALID = _SPEC.rejection(
    "yaml-invalid",
    "The frontmatter is not valid YAML.",
    "Correct that line; quote a value that contains punctuation.",
    _YAML,
)
YAML_ALIAS = _SPEC.rejection(
    "yaml-alias",
    "The frontmatter uses an anchor (&) or an alias (*).",
    "Write the value in full; quote it if it is meant as text.",
    f"{OURS}, safety: aliases can make a small file huge",
)
YAML_TAG = _SPEC.error(
    "yaml-tag",
    "A value has a YAML tag (!), which was ignored.",
    "Delete the tag; quote the value if the ! is part of its text.",
    f"{_YAML}, 6.8.1 Node tags; refused by the reference validator",
)
YAML_KEY_NOT_TEXT = _SPEC.rejection(
    "yaml-key-not-text",
    "A key of the frontmatter is a list or a mapping.",
    "Use plain text as the key.",
)
DUPLICATE_KEY = _SPEC.rejection(
    "duplicate-key",
    "A key appears twice.",
    "Keep one of the two lines.",
    f"{_YAML}, 3.2.1.3 Node comparison",
)
UNEVEN_INDENTATION = _SPEC.error(
    "uneven-indentation",
    "Nested fields are indented by different amounts.",
    "Indent all nested fields of one mapping by the same number of spaces.",
    "reference validator (StrictYAML)",
)
TAB_OUTSIDE_QUOTES = _SPEC.error(
    "tab-outside-quotes",
    "A tab appears outside quotes, which some YAML readers reject.",
    "Use spaces, or put the value in quotes.",
    "reference validator (StrictYAML)",
)

UNQUOTED_COLON = _SPEC.error(
    "unquoted-colon",
    "An unquoted value contains a colon and a space; it was read as quoted text.",
    "Put the value in quotes.",
    _LENIENT,
)
UNQUOTED_VALUE = _SPEC.error(
    "unquoted-value",
    "An unquoted value starts with a character that YAML reserves; it was read as quoted text.",
    "Put the value in quotes.",
    _LENIENT,
)

TYPES = (*_SPEC, *_READING)
