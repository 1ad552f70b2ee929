"""Findings of the `safety` profile: content that could deceive a reader or mislead an agent."""

import tomllib
from pathlib import Path

from catalog.model.finding import CLAUDE_CODE, FindingTypes

TYPES = FindingTypes("safety")
_OWASP = "OWASP Top 10 for LLM Applications, "
_INJECTION = f"{_OWASP}LLM01 Prompt Injection"

INVISIBLE_CHARACTERS = TYPES.warning(
    "invisible-characters",
    "The text contains invisible characters, which an agent still reads.",
    "Delete them; retype the word if you cannot find them.",
    "Unicode Technical Standard #39, Security Mechanisms",
)
BIDI_CHARACTERS = TYPES.warning(
    "bidi-characters",
    "The text contains bidirectional controls, which change the displayed order.",
    "Delete them; right-to-left words need none.",
    "Unicode Standard Annex #9, Bidirectional Algorithm; CVE-2021-42574",
)
TAG_CHARACTERS = TYPES.danger(
    "tag-characters",
    "The text contains tag characters, which can spell a whole invisible message.",
    "Delete them, and find out where the text came from.",
    "Unicode Technical Standard #51, Emoji, Tag sequences; " + _INJECTION,
)
NAME_CONFUSABLE = TYPES.warning(
    "name-confusable",
    "A word of the name mixes letters of scripts that look alike.",
    "Check that it is the skill you want; write each word in letters of one script.",
    "Unicode Technical Standard #39, Security Mechanisms",
)
MARKUP_IN_PROMPT = TYPES.warning(
    "markup-in-prompt",
    "A field that is put into prompts contains markup that could close or open a tag there.",
    "Remove the markup, or move it into the body.",
    "Claude Platform documentation, Agent Skills, Skill structure; " + _INJECTION,
)
DATA = tomllib.loads(Path(__file__).with_name("dangers.toml").read_text("utf-8"))
"""Dangers that texts are searched for: their kinds, and the rules that find them."""
DANGERS = {
    code: getattr(TYPES, kind["severity"])(
        code, kind["summary"], kind["fix"], f"{_OWASP}{kind['source']}"
    )
    for code, kind in DATA["kinds"].items()
}
INSTRUCTION_OVERRIDE = DANGERS["instruction-override"]
HIDDEN_FROM_USER = DANGERS["hidden-from-user"]
DANGER_NAMED = TYPES.info(
    "danger-named",
    "The text only names a dangerous command or request, in a warning or a quotation.",
    "Read the line before you trust the skill; nothing has to be changed.",
    _INJECTION,
)
JUDGED_IN_PART = TYPES.info(
    "judged-in-part",
    "The text repeats a word, an order or code blocks so often that not all of it was judged.",
    "Shorten or split it; read the rest before you trust the skill.",
)
NOT_JUDGED = TYPES.info(
    "not-judged",
    "The skill has texts that are too large or too many to be judged, or are not UTF-8.",
    "Read them before you trust the skill; write them in UTF-8, and split large ones.",
)
ALLOWED_TOOLS_BROAD = TYPES.warning(
    "allowed-tools-broad",
    "allowed-tools lets the agent do anything without asking for permission.",
    "Name the commands that the skill needs: Bash(git add:*) rather than Bash.",
    f"{CLAUDE_CODE}, Pre-approve tools for a skill",
)
LINK_TO_MACHINE = TYPES.warning(
    "link-to-machine",
    "A link points to a system folder, a home folder or a drive of the reader's machine.",
    "Copy the target into the skill's folder, or tell the agent to ask for its location.",
)
NATIVE_BINARY = TYPES.warning(
    "native-binary",
    "The file is a compiled program or library, which cannot be read as text.",
    "Ship its source, or say where to get it; an agent may run any file of the skill.",
)
