"""Findings of the `safety` profile: what could deceive a reader or mislead an agent."""

from catalog.model.finding import CLAUDE_CODE, NEVER, OURS, FindingType

_SAFETY = f"{OURS}, safety"
_INJECTION = "OWASP Top 10 for LLM Applications, LLM01 Prompt Injection"

INVISIBLE_CHARACTERS = FindingType(
    "invisible-characters",
    "warning",
    "safety",
    NEVER,
    "The text holds characters that no reader can see, but that an agent reads.",
    "Delete them; retype the word if you do not know where they are.",
    "Unicode Technical Standard #39, Security Mechanisms",
)
BIDI_CHARACTERS = FindingType(
    "bidi-characters",
    "warning",
    "safety",
    NEVER,
    "The text holds characters that reorder what is shown, so that it reads differently.",
    "Delete them; right-to-left words are shown rightly without.",
    "Unicode Standard Annex #9, Bidirectional Algorithm; CVE-2021-42574",
)
TAG_CHARACTERS = FindingType(
    "tag-characters",
    "warning",
    "safety",
    NEVER,
    "The text holds tag characters, which can carry a whole message that no reader sees.",
    "Delete them, and ask where the text came from.",
    "Unicode Technical Standard #51, Emoji, Tag sequences; " + _INJECTION,
)
MARKUP_IN_PROMPT = FindingType(
    "markup-in-prompt",
    "warning",
    "safety",
    NEVER,
    "A field that is put into prompts holds markup that could close or open a tag there.",
    "Write it without angle brackets, or move it into the body.",
    "Claude Platform documentation, Agent Skills, Skill structure; " + _INJECTION,
)
INSTRUCTION_OVERRIDE = FindingType(
    "instruction-override",
    "warning",
    "safety",
    NEVER,
    "The text tells the agent to drop its instructions or to keep something from its user.",
    "Read that line before you trust the skill; if it is yours, say what to do instead.",
    _INJECTION,
)
ALLOWED_TOOLS_BROAD = FindingType(
    "allowed-tools-broad",
    "warning",
    "safety",
    NEVER,
    "allowed-tools lets the agent do anything without being asked.",
    "Name the commands that the skill needs: Bash(git add:*) rather than Bash.",
    f"{CLAUDE_CODE}, Pre-approve tools for a skill",
)
LINK_TO_MACHINE = FindingType(
    "link-to-machine",
    "warning",
    "safety",
    NEVER,
    "A link leads to a system folder, a home folder or a drive of the reader's machine.",
    "Put what is meant into the skill's folder, or tell the agent to ask for the place.",
    _SAFETY,
)
NATIVE_BINARY = FindingType(
    "native-binary",
    "warning",
    "safety",
    NEVER,
    "The file is a program or a library that nobody can read.",
    "Ship its source or say where to get it; an agent may run whatever the skill holds.",
    _SAFETY,
)
EXECUTABLE_OUTSIDE_SCRIPTS = FindingType(
    "executable-outside-scripts",
    "warning",
    "safety",
    NEVER,
    "The file may be executed, but does not lie under scripts/.",
    "Move it to scripts/, or take the right to execute it away (chmod -x).",
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
