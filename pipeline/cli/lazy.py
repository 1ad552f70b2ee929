"""Lazy commands: the module of each is imported when the command is called."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any

import click

from pipeline.cli.imports import quick_imports

COMMANDS: Mapping[str, tuple[str, str]] = {
    "up": ("up.up", "Watch the roots, update the catalog and serve the site until stopped."),
    "scan": (
        "scan.scan",
        "Update the catalog from the roots, or only from PATHS inside them, and exit.",
    ),
    "serve": ("serve.serve", "Serve the catalog read-only, without watching the roots."),
    "reconcile": (
        "reconcile.reconcile",
        "Compare folders, catalog, packages, indexes and links, and repair differences.",
    ),
    "validate": (
        "validate.validate",
        "Validate skill folders, trees, archives or a SKILL.md; exit 1 on errors.",
    ),
    "rule": ("rule.rule", "Explain the finding CODE, with examples; without CODE, list all codes."),
    "outcome": (
        "outcome.outcome",
        "Validate outcome FILES, which runtimes write after runs of skills.",
    ),
    "migrate": (
        "migrate.migrate",
        "Convert skill folders in older layouts, or a tree of them, to ApexBridge packages.",
    ),
    "index": ("index.index", "Print the prompt index NAME; options override its settings."),
    "search": (
        "search.search_",
        "Find the skills for a task, best match first.",
    ),
    "status": (
        "status.status",
        "Print health, counts, and which folders wait or are rejected, and why.",
    ),
    "replicate": (
        "replicate.replicate",
        "Copy every change of the catalog to URL until stopped; runs alongside `up`.",
    ),
    "restore": (
        "replicate.restore",
        "Restore the catalog from URL, to serve it read-only or to continue with it.",
    ),
    "read": ("read.read", "Print a published FILE of SKILL, by default its SKILL.md."),
    "mcp": ("mcp.mcp", "Serve search and skill files to agents over the Model Context Protocol."),
    "new": (
        "new.new",
        "Write a skill called NAME to fill in: a folder with a SKILL.md.",
    ),
    "remove": (
        "remove.remove",
        "Move the folder of SKILL, or its archive, to a dated trash; nothing is deleted.",
    ),
    "add": (
        "add.add",
        "Copy skill folders or archives into a root; exit 1 if one would be rejected.",
    ),
    "link": ("link.link", "Keep a link to each selected skill in DIRECTORY, for agents."),
    "unlink": ("link.unlink", "Remove the links and copies of skilldrop from DIRECTORY."),
    "export": (
        "export.export",
        "Copy the published skills to DIRECTORY or an archive, with a lock file.",
    ),
    "list": ("list.list_", "List the skills of the catalog by name, by default the active ones."),
    "findings": (
        "findings.findings",
        "List the findings of the catalog, or only those of SKILL or with CODE.",
    ),
    "versions": (
        "versions.versions",
        "List the versions of SKILL and their changes, newest first.",
    ),
    "show": (
        "show.show",
        "Show SKILL as its page does, and the commands that install it.",
    ),
    "token": (
        "token.token",
        "Make, list and remove the tokens of the site's readers.",
    ),
    "rollback": (
        "rollback.rollback",
        "Publish VERSION of SKILL and hold the skill there until `unpin`.",
    ),
    "unpin": ("rollback.unpin", "Publish the newest version of SKILL and follow its folder again."),
    "pending": (
        "review.pending",
        "List the versions that wait for review, and what is new in them; exit 1 if one waits.",
    ),
    "approve": (
        "review.approve",
        "Let agents get a version of SKILL that waits for review, by default the newest.",
    ),
    "reject": (
        "review.reject",
        "Keep agents from getting a version of SKILL, by default the newest.",
    ),
    "prefer": (
        "prefer.prefer",
        "Give the skill in the folder PATH its name, before other skills of its level and name.",
    ),
    "completion": (
        "completion.completion",
        "Print the script that completes commands and options in SHELL.",
    ),
}
"""Module and function of each command in `pipeline.cli.commands`, and its first help line."""


class LazyCommand(click.Command):
    """Placeholder for a command in lists, which must not wait for the imports of all commands."""

    def __init__(self, name: str, target: str, line: str) -> None:
        """Take the command's name, its module and function, and the first line of its help."""
        super().__init__(name, help=line)
        self._target = target

    @cached_property
    def real(self) -> click.Command:
        """Command that this one stands for, imported."""
        module, _, function = self._target.partition(".")
        with quick_imports():
            imported = import_module(f"pipeline.cli.commands.{module}")
        command: click.Command = getattr(imported, function)
        return command

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        """Parse the arguments as the real command, which handles the call from here on."""
        return self.real.make_context(*arguments, **options)


def lazy_commands() -> Iterator[LazyCommand]:
    """Yield every command without importing any."""
    for name, (target, line) in COMMANDS.items():
        yield LazyCommand(name, target, line)
