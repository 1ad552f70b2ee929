"""Findings of the `safety` profile: content that could deceive a reader or mislead an agent."""

from catalog.model.finding import CLAUDE_CODE, NEVER, OURS, FindingType

_SAFETY = f"{OURS}, safety"
_MACHINE = f"{OURS}, safety; OWASP Top 10 for LLM Applications, LLM06 Excessive Agency"
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
    "The text contains a request to ignore the agent's instructions.",
    "Read that line before you trust the skill; if you wrote it, say what to do instead.",
    _INJECTION,
)
DOWNLOAD_RUN = FindingType(
    "download-run",
    "warning",
    "safety",
    NEVER,
    "The text contains a command that downloads a program and runs it unread.",
    "Name a package manager, or download a given version, check its checksum, and run it then.",
    _MACHINE,
)
DOWNLOAD_LOCKED = FindingType(
    "download-locked",
    "warning",
    "safety",
    NEVER,
    "The text contains a password for a download, which keeps scanners from reading it.",
    "Ship the files in the skill, or name a source that anyone can check.",
    _MACHINE,
)
PAYLOAD_ENCODED = FindingType(
    "payload-encoded",
    "warning",
    "safety",
    NEVER,
    "The text contains a command that decodes a text and runs the result, which nobody can read.",
    "Write the commands in plain text, best in a file under scripts/.",
    _MACHINE,
)
SECRET = FindingType(
    "secret",
    "warning",
    "safety",
    NEVER,
    "The text contains a key, a token or a password in a known form.",
    "Revoke it at its issuer, remove it, and read it from an environment variable instead.",
    "OWASP Top 10 for LLM Applications, LLM02 Sensitive Information Disclosure",
)
DESTRUCTIVE_COMMAND = FindingType(
    "destructive-command",
    "warning",
    "safety",
    NEVER,
    "The text contains a command that deletes a home folder, a disk or a whole system.",
    "Name the one folder that the skill itself made.",
    _MACHINE,
)
PROTECTION_DISABLED = FindingType(
    "protection-disabled",
    "warning",
    "safety",
    NEVER,
    "The text contains a command or setting that switches a protection off.",
    "Leave it on, and say which single permission the skill needs.",
    _MACHINE,
)
CREDENTIALS_READ = FindingType(
    "credentials-read",
    "warning",
    "safety",
    NEVER,
    "The text contains a command that reads stored keys or passwords.",
    "Let the program that owns them sign in, or ask the user for a token of limited scope.",
    _MACHINE,
)
DATA_SENT_AWAY = FindingType(
    "data-sent-away",
    "warning",
    "safety",
    NEVER,
    "The text contains a command or an address that sends data of the machine to a server.",
    "Say what is sent where, and ask the user first; use the service's own client.",
    _MACHINE,
)
HIDDEN_FROM_USER = FindingType(
    "hidden-from-user",
    "warning",
    "safety",
    NEVER,
    "The text contains a request to hide something from the user.",
    "Read that line before you trust the skill; if you wrote it, say what the user should be told.",
    _INJECTION,
)
PACKAGE_UNPINNED = FindingType(
    "package-unpinned",
    "info",
    "safety",
    NEVER,
    "The text contains a command that runs the newest version of a package, whatever it is then.",
    "Name the version: npx -y package@1.2.3.",
    "OWASP Top 10 for LLM Applications, LLM03 Supply Chain",
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
    DOWNLOAD_RUN,
    DOWNLOAD_LOCKED,
    PAYLOAD_ENCODED,
    SECRET,
    DESTRUCTIVE_COMMAND,
    PROTECTION_DISABLED,
    CREDENTIALS_READ,
    DATA_SENT_AWAY,
    HIDDEN_FROM_USER,
    PACKAGE_UNPINNED,
    ALLOWED_TOOLS_BROAD,
    LINK_TO_MACHINE,
    NATIVE_BINARY,
    EXECUTABLE_OUTSIDE_SCRIPTS,
)
