"""Commands by name; the module of each is imported when that command is called."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any

import click

COMMANDS: Mapping[str, tuple[str, str]] = {
    "up": ("up.up", "Watch, re-scan and serve until stopped."),
    "scan": (
        "scan.scan",
        "Bring the catalog up to the roots, or to PATHS inside them, and exit.",
    ),
    "serve": ("serve.serve", "Serve the catalog as it is, read-only, without watching anything."),
    "reconcile": (
        "reconcile.reconcile",
        "Compare every folder with the catalog, packages and indexes, and mend what differs.",
    ),
    "validate": (
        "validate.validate",
        "Judge skill folders, trees, archives, or a SKILL.md; exit 1 where there is an error.",
    ),
    "outcome": (
        "outcome.outcome",
        "Validate outcome FILES by hand: what a runtime would drop after a run of a skill.",
    ),
    "migrate": (
        "migrate.migrate",
        "Make ApexBridge packages of skill folders in older layouts, or of all in a tree.",
    ),
    "index": ("index.index", "Print the prompt index NAME; with options, what it would be."),
    "search": (
        "search.search_",
        "Find active skills by all WORDS, best first; English or Chinese.",
    ),
    "status": (
        "status.status",
        "Say how the catalog is: its health, counts, and what waits or is rejected, and why.",
    ),
    "replicate": (
        "replicate.replicate",
        "Copy every change of the catalog to URL until stopped; runs beside `up`.",
    ),
    "restore": (
        "replicate.restore",
        "Bring the catalog back from URL, to be served read-only or to go on with.",
    ),
    "read": ("read.read", "Print a published FILE of a SKILL; without FILE it is SKILL.md."),
    "mcp": ("mcp.mcp", "Serve search and skill files to agents by the Model Context Protocol."),
    "add": (
        "add.add",
        "Copy skill folders or archives into a root whole; exit 1 where one would be rejected.",
    ),
    "versions": (
        "versions.versions",
        "List the versions of SKILL, newest first, and what changed in each.",
    ),
    "rollback": (
        "rollback.rollback",
        "Publish SKILL as it was in VERSION, and hold it there until `unpin`.",
    ),
    "unpin": ("rollback.unpin", "Let SKILL follow its folder again, from its newest version on."),
}
"""Where each command is in `pipeline.cli.commands`, and the first line of its help."""


class LazyCommand(click.Command):
    """Stands for a command in lists of commands, which must not wait for all that these need."""

    def __init__(self, name: str, place: str, line: str) -> None:
        """Take the command's name, its module and function, and the first line of its help."""
        super().__init__(name, help=line)
        self._place = place

    @cached_property
    def real(self) -> click.Command:
        """The command itself."""
        module, _, function = self._place.partition(".")
        found: click.Command = getattr(import_module(f"pipeline.cli.commands.{module}"), function)
        return found

    def make_context(self, *given: Any, **options: Any) -> click.Context:
        """Let the command itself read its words; from here on it has the word."""
        return self.real.make_context(*given, **options)


def lazy_commands() -> Iterator[LazyCommand]:
    """Yield every command, none of them imported yet."""
    for name, (place, line) in COMMANDS.items():
        yield LazyCommand(name, place, line)
