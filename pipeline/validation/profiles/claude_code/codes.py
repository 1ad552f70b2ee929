"""Findings of the `claude-code` profile: content that Claude Code reads differently or ignores."""

from catalog.model.finding import CLAUDE_CODE, FindingTypes

_FIELDS = f"{CLAUDE_CODE}, Frontmatter reference"
TYPES = FindingTypes("claude-code", _FIELDS)
_HOOKS = "Claude Code documentation, Hooks reference, Hooks in skills and agents"

LISTING_TOO_LONG = TYPES.warning(
    "listing-too-long",
    "description and when_to_use together exceed 1,536 characters; Claude sees only that many.",
    "Put the most important use first, and shorten the rest.",
)
CONTEXT_UNKNOWN = TYPES.warning(
    "context-unknown",
    "context is not fork, the only value that Claude Code knows.",
    "Write context: fork to run the skill in a subagent, or remove the field.",
)
AGENT_WITHOUT_FORK = TYPES.warning(
    "agent-without-fork",
    "agent is set without context: fork and has no effect.",
    "Add context: fork, or remove agent.",
)
MODEL_UNKNOWN = TYPES.warning(
    "model-unknown",
    "model is neither a model alias of Claude Code nor the full name of a Claude model.",
    "Write sonnet, opus, haiku, inherit or a full name such as claude-sonnet-4-5.",
    f"{_FIELDS}, model; Claude Code documentation, Model configuration",
)
EFFORT_UNKNOWN = TYPES.warning(
    "effort-unknown",
    "effort is not a level that Claude Code knows.",
    "Write low, medium, high, xhigh or max, or remove the field.",
)
SHELL_UNKNOWN = TYPES.warning(
    "shell-unknown",
    "shell is neither bash nor powershell.",
    "Write bash or powershell, or remove the field.",
)
HOOK_EVENT_UNKNOWN = TYPES.warning(
    "hook-event-unknown",
    "hooks names an event that Claude Code does not have, so the hook never runs.",
    "Correct the event's name; upper and lower case matter.",
    _HOOKS,
)
HOOK_MALFORMED = TYPES.warning(
    "hook-malformed",
    "A hook is not a list of matchers, each with a list of hooks that have a type.",
    "Under the event, write - matcher: Bash; below it, write hooks: with an item - type: command.",
    _HOOKS,
)
PATHS_NEVER_MATCH = TYPES.warning(
    "paths-never-match",
    "A pattern in paths cannot match any file of a project.",
    "Write it relative to the project, with / between the parts: src/**/*.ts.",
)
ARGUMENT_HINT_LIST = TYPES.warning(
    "argument-hint-list",
    "argument-hint is a YAML list, as its brackets are not quoted; GitHub Copilot CLI skips such "
    "a skill.",
    'Put it in quotes: argument-hint: "[issue-number]".',
    f"{_FIELDS}, argument-hint; GitHub Copilot CLI 1.0.65",
)
