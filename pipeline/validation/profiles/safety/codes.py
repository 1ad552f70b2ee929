"""Findings of the `safety` profile: content that could deceive a reader or mislead an agent."""

from catalog.model.finding import CLAUDE_CODE, FindingTypes

TYPES = FindingTypes("safety")
_MACHINE = "OWASP Top 10 for LLM Applications, LLM06 Excessive Agency"
_INJECTION = "OWASP Top 10 for LLM Applications, LLM01 Prompt Injection"

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
MARKUP_IN_PROMPT = TYPES.warning(
    "markup-in-prompt",
    "A field that is put into prompts contains markup that could close or open a tag there.",
    "Remove the markup, or move it into the body.",
    "Claude Platform documentation, Agent Skills, Skill structure; " + _INJECTION,
)
INSTRUCTION_OVERRIDE = TYPES.danger(
    "instruction-override",
    "The text contains a request to ignore the agent's instructions.",
    "Read that line before you trust the skill; if you wrote it, say what to do instead.",
    _INJECTION,
)
DOWNLOAD_RUN = TYPES.warning(
    "download-run",
    "The text contains a command that downloads a program and runs it unread.",
    "Name a package manager, or check the checksum of a given version before running it.",
    _MACHINE,
)
DOWNLOAD_LOCKED = TYPES.danger(
    "download-locked",
    "The text contains a password for a download, which keeps scanners from reading it.",
    "Ship the files in the skill, or name a source that anyone can check.",
    _MACHINE,
)
PAYLOAD_ENCODED = TYPES.danger(
    "payload-encoded",
    "The text contains a command that decodes a text and runs the result, which nobody can read.",
    "Write the commands in plain text, best in a file under scripts/.",
    _MACHINE,
)
DESTRUCTIVE_COMMAND = TYPES.danger(
    "destructive-command",
    "The text contains a command that deletes a home folder, a disk or a whole system.",
    "Name the one folder that the skill itself made.",
    _MACHINE,
)
PROTECTION_DISABLED = TYPES.warning(
    "protection-disabled",
    "The text contains a command or setting that switches a protection off.",
    "Leave it on, and say which single permission the skill needs.",
    _MACHINE,
)
CREDENTIALS_READ = TYPES.danger(
    "credentials-read",
    "The text contains a command that reads stored keys or passwords.",
    "Let the program that owns them sign in, or ask the user for a token of limited scope.",
    _MACHINE,
)
DATA_SENT_AWAY = TYPES.danger(
    "data-sent-away",
    "The text contains a command or an address that sends data of the machine to a server.",
    "Say what is sent where, and ask the user first; use the service's own client.",
    _MACHINE,
)
HIDDEN_FROM_USER = TYPES.danger(
    "hidden-from-user",
    "The text contains a request to hide something from the user.",
    "Read that line before you trust the skill; if you wrote it, say what the user should be told.",
    _INJECTION,
)
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
    "Read them before you trust the skill; split large ones.",
)
PACKAGE_UNPINNED = TYPES.info(
    "package-unpinned",
    "The text contains a command that runs the newest version of a package.",
    "Name the version: npx -y package@1.2.3.",
    "OWASP Top 10 for LLM Applications, LLM03 Supply Chain",
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
EXECUTABLE_OUTSIDE_SCRIPTS = TYPES.warning(
    "executable-outside-scripts",
    "The file is executable but not under scripts/.",
    "Move it to scripts/, or make it not executable (chmod -x).",
    "Agent Skills specification, Optional directories",
)
