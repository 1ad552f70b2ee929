"""Findings of the `safety` profile: content that could deceive a reader or mislead an agent."""

from catalog.model.finding import CLAUDE_CODE, NEVER, OURS, FindingType

_SAFETY = f"{OURS}, safety"
_INJECTION = "OWASP Top 10 for LLM Applications, LLM01 Prompt Injection"

INVISIBLE_CHARACTERS = FindingType(
    "invisible-characters",
    "warning",
    "safety",
    NEVER,
    "The text contains invisible characters, which an agent still reads.",
    "Delete them; retype the word if you cannot find them.",
    "Unicode Technical Standard #39, Security Mechanisms",
)
BIDI_CHARACTERS = FindingType(
    "bidi-characters",
    "warning",
    "safety",
    NEVER,
    "The text contains bidirectional controls, which change the order in which it is displayed.",
    "Delete them; right-to-left words are displayed correctly without them.",
    "Unicode Standard Annex #9, Bidirectional Algorithm; CVE-2021-42574",
)
TAG_CHARACTERS = FindingType(
    "tag-characters",
    "warning",
    "safety",
    NEVER,
    "The text contains tag characters, which can spell a whole invisible message.",
    "Delete them, and find out where the text came from.",
    "Unicode Technical Standard #51, Emoji, Tag sequences; " + _INJECTION,
)
MARKUP_IN_PROMPT = FindingType(
    "markup-in-prompt",
    "warning",
    "safety",
    NEVER,
    "A field that is put into prompts contains markup that could close or open a tag there.",
    "Remove the markup, or move it into the body.",
    "Claude Platform documentation, Agent Skills, Skill structure; " + _INJECTION,
)
INSTRUCTION_OVERRIDE = FindingType(
    "instruction-override",
    "warning",
    "safety",
    NEVER,
    "The text tells the agent to ignore its instructions or to hide something from its user.",
    "Read that line before you trust the skill; if you wrote it, say what to do instead.",
    _INJECTION,
)
ALLOWED_TOOLS_BROAD = FindingType(
    "allowed-tools-broad",
    "warning",
    "safety",
    NEVER,
    "allowed-tools lets the agent do anything without asking for permission.",
    "Name the commands that the skill needs: Bash(git add:*) rather than Bash.",
    f"{CLAUDE_CODE}, Pre-approve tools for a skill",
)
LINK_TO_MACHINE = FindingType(
    "link-to-machine",
    "warning",
    "safety",
    NEVER,
    "A link points to a system folder, a home folder or a drive of the reader's machine.",
    "Copy the target into the skill's folder, or tell the agent to ask for its location.",
    _SAFETY,
)
NATIVE_BINARY = FindingType(
    "native-binary",
    "warning",
    "safety",
    NEVER,
    "The file is a compiled program or library, which cannot be read as text.",
    "Ship its source, or say where to get it; an agent may run any file of the skill.",
    _SAFETY,
)
EXECUTABLE_OUTSIDE_SCRIPTS = FindingType(
    "executable-outside-scripts",
    "warning",
    "safety",
    NEVER,
    "The file is executable but not under scripts/.",
    "Move it to scripts/, or make it not executable (chmod -x).",
    f"{_SAFETY}; Agent Skills specification, Optional directories",
)
TYPES = (
    INVISIBLE_CHARACTERS,
    BIDI_CHARACTERS,
    TAG_CHARACTERS,
    MARKUP_IN_PROMPT,
    INSTRUCTION_OVERRIDE,
    ALLOWED_TOOLS_BROAD,
    LINK_TO_MACHINE,
    NATIVE_BINARY,
    EXECUTABLE_OUTSIDE_SCRIPTS,
)
