"""Findings of the `advice` profile: ways to make a skill easier to find, load and follow."""

from catalog.model.finding import ROUTING, SPECIFICATION, FindingTypes

_DISCLOSURE = f"{SPECIFICATION}, Progressive disclosure"
_FILES = f"{SPECIFICATION}, File references"
_DESCRIPTION = f"{SPECIFICATION}, Frontmatter, description"
_OPTIMIZING = "Agent Skills guide, Optimizing skill descriptions"
TYPES = FindingTypes("advice", _DESCRIPTION)

NAME_RESERVED = TYPES.warning(
    "name-reserved",
    "name contains a word that a vendor reserves.",
    "Choose a name without anthropic or claude; Claude's API refuses such skills.",
    "Claude Platform documentation, Agent Skills, Skill structure",
)
DESCRIPTION_SHORT = TYPES.warning(
    "description-short",
    "description is short and does not say when to use the skill.",
    "Say what the skill does, what it works on and when to use it.",
)
DESCRIPTION_SAYS_NOTHING = TYPES.warning(
    "description-says-nothing",
    "description does not say what the skill does.",
    "Say what it does and when to use it.",
    f"{_DESCRIPTION}; {_OPTIMIZING}",
)
DESCRIPTION_WITHOUT_WHEN = TYPES.warning(
    "description-without-when",
    "description names neither the occasion for the skill nor its input and output.",
    "Add a sentence such as “Use when …”, in the words people use when they need it.",
    f"{_DESCRIPTION}; {_OPTIMIZING}",
)
NOBODY_CAN_INVOKE = TYPES.warning(
    "nobody-can-invoke",
    "Neither a model nor a user can invoke the skill: both are switched off.",
    "Remove disable-model-invocation or user-invocable, or remove the skill.",
    "Claude Code documentation, Skills, Control who invokes a skill",
)
BODY_EMPTY = TYPES.warning(
    "body-empty",
    "The body is empty, so an agent that loads the skill learns nothing.",
    "Write the steps to follow below the frontmatter.",
    f"{SPECIFICATION}, Body content",
)
BODY_TOO_LONG = TYPES.warning(
    "body-too-long",
    "SKILL.md is longer than recommended; an agent loads all of it.",
    "Move details into files under references/, and say in the body when to read each.",
    _DISCLOSURE,
)
REFERENCE_MISSING = TYPES.warning(
    "reference-missing",
    "A text names a file that is not in the skill's folder.",
    "Add the file, correct the path (it starts at the skill's folder), or remove the path.",
    _FILES,
)
REFERENCE_CASE = TYPES.warning(
    "reference-case",
    "A text names a file with other capital letters, which fails on Linux.",
    "Write the name as the file has it, or rename the file.",
    _FILES,
)
FILE_UNREFERENCED = TYPES.info(
    "file-unreferenced",
    "No text that an agent reads names the script or document.",
    "Say in SKILL.md when to read or run the file, or delete it.",
    f"{_DISCLOSURE}; {_FILES}",
)
REFERENCE_OUTSIDE_FOLDER = TYPES.warning(
    "reference-outside-folder",
    "A text names a file outside the skill's folder, which is not shipped with it.",
    "Copy the file into the skill's folder, or name the other skill instead.",
    _FILES,
)
REFERENCE_DEEP = TYPES.info(
    "reference-deep",
    "A document is named only by another document, so an agent may never read it.",
    "Name it in SKILL.md, too, and say when to read it.",
    _FILES,
)
NAME_NOT_ON_WINDOWS = TYPES.warning(
    "name-not-on-windows",
    "Windows cannot have a file or folder of this name, so nobody there gets the skill.",
    'Choose a name without < > : " \\ | ? * and without a dot or space at its end, that is no '
    "device such as CON, NUL or COM1, and that differs from others not only in capital letters.",
    "Microsoft, Naming files, paths, and namespaces",
)
TYPES += ROUTING  # of searches, which need other skills
