"""Findings of the `claude-code` profile: content that Claude Code reads differently or ignores."""

from catalog.model.finding import CLAUDE_CODE, NEVER, FindingType

_FIELDS = f"{CLAUDE_CODE}, Frontmatter reference"
_HOOKS = "Claude Code documentation, Hooks reference, Hooks in skills and agents"

LISTING_TOO_LONG = FindingType(
    "listing-too-long",
    "warning",
    "claude-code",
    NEVER,
    "description and when_to_use together exceed 1,536 characters; Claude sees only that many.",
    "Put the most important use first, and shorten the rest.",
    f"{_FIELDS}, description and when_to_use",
)
CONTEXT_UNKNOWN = FindingType(
    "context-unknown",
    "warning",
    "claude-code",
    NEVER,
    "context is not fork, the only value that Claude Code knows.",
    "Write context: fork to run the skill in a subagent, or remove the field.",
    f"{_FIELDS}, context",
)
AGENT_WITHOUT_FORK = FindingType(
    "agent-without-fork",
    "warning",
    "claude-code",
    NEVER,
    "agent is set without context: fork and has no effect.",
    "Add context: fork, or remove agent.",
    f"{_FIELDS}, agent",
)
MODEL_UNKNOWN = FindingType(
    "model-unknown",
    "warning",
    "claude-code",
    NEVER,
    "model is neither a model alias of Claude Code nor the full name of a Claude model.",
    "Write sonnet, opus, haiku, inherit or a full name such as claude-sonnet-4-5.",
    f"{_FIELDS}, model; Claude Code documentation, Model configuration",
)
EFFORT_UNKNOWN = FindingType(
    "effort-unknown",
    "warning",
    "claude-code",
    NEVER,
    "effort is not a level that Claude Code knows.",
    "Write low, medium, high, xhigh or max, or remove the field.",
    f"{_FIELDS}, effort",
)
SHELL_UNKNOWN = FindingType(
    "shell-unknown",
    "warning",
    "claude-code",
    NEVER,
    "shell is neither bash nor powershell.",
    "Write bash or powershell, or remove the field.",
    f"{_FIELDS}, shell",
)
HOOK_EVENT_UNKNOWN = FindingType(
    "hook-event-unknown",
    "warning",
    "claude-code",
    NEVER,
    "hooks names an event that Claude Code does not have, so the hook never runs.",
    "Correct the event's name; upper and lower case matter.",
    f"{_HOOKS}",
)
HOOK_MALFORMED = FindingType(
    "hook-malformed",
    "warning",
    "claude-code",
    NEVER,
    "A hook is not a list of matchers, each with a list of hooks that have a type.",
    "Under the event, write - matcher: Bash; below it, write hooks: with an item - type: command.",
    f"{_HOOKS}",
)
PATHS_NEVER_MATCH = FindingType(
    "paths-never-match",
    "warning",
    "claude-code",
    NEVER,
    "A pattern in paths cannot match any file of a project.",
    "Write it relative to the project, with / between the parts: src/**/*.ts.",
    f"{_FIELDS}, paths",
)
ARGUMENT_HINT_LIST = FindingType(
    "argument-hint-list",
    "info",
    "claude-code",
    NEVER,
    "argument-hint is read as a YAML list, because its brackets are not quoted.",
    'Put it in quotes: argument-hint: "[issue-number]".',
    f"{_FIELDS}, argument-hint",
)
TYPES = (
    LISTING_TOO_LONG,
    CONTEXT_UNKNOWN,
    AGENT_WITHOUT_FORK,
    MODEL_UNKNOWN,
    EFFORT_UNKNOWN,
    SHELL_UNKNOWN,
    HOOK_EVENT_UNKNOWN,
    HOOK_MALFORMED,
    PATHS_NEVER_MATCH,
    ARGUMENT_HINT_LIST,
)
