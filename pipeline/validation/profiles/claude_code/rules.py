"""Rules of Claude Code's own fields; wrong types are reported for all fields elsewhere."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from catalog.model.finding import Finding
from catalog.model.values import Json
from catalog.text.visible import kind_of, printable, quoted
from pipeline.validation.profile import Profile
from pipeline.validation.profiles.claude_code import codes
from pipeline.validation.skill import Skill

LISTING_LIMIT = 1_536
"""Characters that Claude sees of description and when_to_use together.

Source: Claude Code documentation, Skills, Frontmatter reference.
"""

EFFORTS = ("low", "medium", "high", "xhigh", "max")
SHELLS = ("bash", "powershell")
EVENTS = tuple(
    """
    SessionStart Setup SessionEnd UserPromptSubmit UserPromptExpansion PreToolUse
    PermissionRequest PermissionDenied PostToolUse PostToolUseFailure PostToolBatch Notification
    MessageDisplay SubagentStart SubagentStop TaskCreated TaskCompleted Stop StopFailure
    TeammateIdle InstructionsLoaded ConfigChange CwdChanged FileChanged WorktreeCreate
    WorktreeRemove PreCompact PostCompact Elicitation ElicitationResult
""".split()
)
"""Source: Claude Code documentation, Hooks reference, Hook events."""

_MODEL = re.compile(
    r"(?:default|best|inherit|fable|sonnet|opus|haiku|opusplan)(?:\[1m\])?"
    r"|.*(?:claude|anthropic).*|arn:.*",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST_MISSPELT = 40  # characters; a longer field is not a misspelling


def listing_length(skill: Skill) -> Iterator[Finding]:
    """Find a description that Claude Code cuts short because of when_to_use.

    The specification reports one that is too long without it.
    """
    description, when = skill.declared.description or "", skill.declared.when_to_use or ""
    if when and (size := len(description) + len(when)) > LISTING_LIMIT:
        yield skill.finding(
            codes.LISTING_TOO_LONG,
            f"description and when_to_use are {size:,} characters; Claude sees the first "
            f"{LISTING_LIMIT:,}.",
            field="when_to_use",
        )


def context_is_fork(skill: Skill) -> Iterator[Finding]:
    """Find a context other than fork, and an agent without a context."""
    context = skill.declared.context
    if context and context != "fork":
        message = f"context is {quoted(context)}; fork is the only value that Claude Code knows."
        yield skill.finding(codes.CONTEXT_UNKNOWN, message, field="context")
    elif skill.declared.agent and not context:
        yield skill.finding(codes.AGENT_WITHOUT_FORK, field="agent")


def values_are_known(skill: Skill) -> Iterator[Finding]:
    """Find a model, an effort and a shell that Claude Code does not know."""
    declared = skill.declared
    if declared.model and not _MODEL.fullmatch(declared.model):
        message = f"model is {quoted(declared.model)}, which Claude Code does not know."
        yield skill.finding(codes.MODEL_UNKNOWN, message, field="model")
    if declared.effort and declared.effort.lower() not in EFFORTS:
        message = f"effort is {quoted(declared.effort)}, which is not an effort level."
        yield skill.finding(codes.EFFORT_UNKNOWN, message, field="effort")
    if declared.shell and declared.shell.lower() not in SHELLS:
        message = f"shell is {quoted(declared.shell)}, neither bash nor powershell."
        yield skill.finding(codes.SHELL_UNKNOWN, message, field="shell")


def hooks_are_valid(skill: Skill) -> Iterator[Finding]:
    """Find hooks for unknown events, and malformed hooks."""
    hooks: Mapping[str, Json] = skill.declared.hooks or {}
    for event, matchers in hooks.items():
        field = f"hooks.{event}"
        if event not in EVENTS:
            close = get_close_matches(event[:_LONGEST_MISSPELT], EVENTS, n=1)
            message = f"hooks names the event {quoted(event)}, which Claude Code does not have."
            fix = f"Write {close[0]}." if close else None
            yield skill.finding(codes.HOOK_EVENT_UNKNOWN, message, field=field, fix=fix)
        elif problem := _problem_of(matchers):
            yield skill.finding(codes.HOOK_MALFORMED, f"{field} {problem}.", field=field)


def paths_can_match(skill: Skill) -> Iterator[Finding]:
    """Find patterns that match no file of a project: absolute, or with ../ or a backslash."""
    for pattern in skill.declared.paths:
        if pattern.startswith(("/", "~", "../")) or "\\" in pattern or pattern[1:3] == ":/":
            message = f"The pattern {quoted(pattern)} in paths cannot match any file of a project."
            yield skill.finding(codes.PATHS_NEVER_MATCH, message, field="paths")
            return


def argument_hint_is_text(skill: Skill) -> Iterator[Finding]:
    """Find a hint whose brackets YAML reads as a list."""
    hint = skill.frontmatter.get("argument-hint")
    if isinstance(hint, list) and skill.declared.argument_hint:
        fix = f'Put it in quotes: argument-hint: "[{printable(", ".join(hint))}]".'
        yield skill.finding(codes.ARGUMENT_HINT_LIST, field="argument-hint", fix=fix)


CLAUDE_CODE = Profile(
    "claude-code",
    codes.TYPES,
    (
        listing_length,
        context_is_fork,
        values_are_known,
        hooks_are_valid,
        paths_can_match,
        argument_hint_is_text,
    ),
)


def _problem_of(matchers: Json) -> str | None:
    """Return the problem of an event's matchers as the end of a sentence, if any."""
    if not isinstance(matchers, list):
        return f"is {kind_of(matchers)}, not a list of matchers"
    for matcher in matchers:
        handlers = matcher.get("hooks") if isinstance(matcher, Mapping) else None
        if not isinstance(handlers, list):
            return "has an entry without a list of hooks"
        if not all(isinstance(hook, Mapping) and hook.get("type") for hook in handlers):
            return "has a hook without a type"
    return None
