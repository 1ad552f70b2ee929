"""The command that proves that folder, catalog, packages and indexes agree, or makes them agree."""

from collections import Counter
from collections.abc import Iterator, Sequence

import click

from catalog.audit.difference import Difference
from catalog.model.change import ChangeResult
from catalog.text.display import visible
from pipeline.cli.context import settings_of
from pipeline.cli.options import DONE, FINDINGS, as_json_option, to_json
from pipeline.cli.output import terminal
from pipeline.config.settings import Settings
from pipeline.sync import reconcile as comparing
from pipeline.sync.reconcile import Comparison, RepairResult

SCREENFUL = 20
"""Lines of one kind at most; --json has them all."""


@click.command()
@click.option("--check", is_flag=True, help="Only report; write nothing.")
@click.option(
    "--accept-removals",
    is_flag=True,
    help="Remove the skills whose removal is held, and list them.",
)
@as_json_option
@click.pass_context
def reconcile(context: click.Context, check: bool, accept_removals: bool, as_json: bool) -> int:
    """Compare every folder with the catalog, packages and indexes, and mend what differs.

    Every file is read and hashed again, those of the packages, too. What was changed is listed
    skill by skill. The exit code is 1 where something differs, or where it still does after
    mending. While `skilldrop up` runs it is the service that mends, and follows the folders
    meanwhile.

    \b
    Examples:
      skilldrop reconcile --check
      skilldrop reconcile --accept-removals
    """
    if check and accept_removals:
        raise click.UsageError("--check changes nothing, so it cannot accept removals.")
    settings = settings_of(context)
    result = _checked(settings) if check else _mended(settings, accept_removals)
    click.echo(to_json(_as_json(result)) if as_json else _rendered(result))
    return FINDINGS if result.left else DONE


def _checked(settings: Settings) -> RepairResult:
    with terminal.progress("skills") as progress:
        found = comparing.compare(settings, progress=progress)
    return RepairResult(found, found.differences)


def _mended(settings: Settings, accept_removals: bool) -> RepairResult:
    with (
        terminal.progress("skills") as progress,
        terminal.progress("seconds that the service has been mending") as waiting,
    ):
        return comparing.repair(
            settings, accepts_removals=accept_removals, progress=progress, waiting=waiting
        )


def _as_json(result: RepairResult) -> dict[str, object]:
    before = result.before
    return {
        "differences": [each.as_json() for each in result.left],
        "repaired": [each.as_json() for each in result.repaired],
        "lost": [each.as_json() for each in result.lost],
        "changes": [_change(each) for each in result.changes],
        "removed": [_change(each) for each in result.removed],
        "accepted": [_change(each) for each in result.accepted],
        "seen": before.seen,
        "held": before.held,
        "last_good": before.last_good,
    }


def _change(change: ChangeResult) -> dict[str, object]:
    return {
        "root": change.root,
        "path": change.path,
        "name": change.name,
        "outcome": change.outcome,
        "detail": change.detail,
    }


def _rendered(result: RepairResult) -> str:
    before, changes = result.before, (*result.removed, *result.changes)
    changed = {(change.root, change.path) for change in changes}
    repaired = [d for d in result.repaired if (d.folder, d.path) not in changed]
    return "\n".join(
        [
            *_screenful([visible(f"{d.kind}: {d.where}: {d.what}") for d in result.left]),
            *_screenful(
                [_line(each) for each in changes]
                + [visible(f"repaired: {d.where}: {d.what}") for d in repaired]
                + [visible(f"lost: {d.where}: {d.what}; no folder has it") for d in result.lost]
            ),
            f"{_compared(before)}{_summary(result, changes, repaired)}",
            *_standing(before),
        ]
    )


def _screenful(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:SCREENFUL]
    if len(lines) > SCREENFUL:
        yield f"… and {len(lines) - SCREENFUL} more; --json lists all"


def _line(change: ChangeResult) -> str:
    detail = f" ({change.detail})" if change.detail else ""
    return visible(f"{change.outcome}: {change.root}/{change.path}{detail}")


def _compared(before: Comparison) -> str:
    if not before.seen:
        return "There is no skill folder in the roots, so no folder was compared"
    return f"{terminal.counted(before.seen, 'skill folder')} compared"


def _summary(
    result: RepairResult, changes: Sequence[ChangeResult], repaired: Sequence[Difference]
) -> str:
    """Say what was done, and what still differs."""
    counts = Counter(change.outcome for change in changes)
    done = [terminal.counted(number, "skill") + f" {outcome}" for outcome, number in counts.items()]
    if repaired:
        done.append(f"{terminal.counted(len(repaired), 'difference')} repaired")
    if lost := {difference.package_path for difference in result.lost}:
        done.append(f"{terminal.counted(len(lost), 'package')} lost")
    kinds = Counter(difference.kind for difference in result.left)
    if kinds:
        done.append("differences: " + ", ".join(f"{n} in {kind}" for kind, n in kinds.items()))
    elif done:
        done.append("nothing differs any more")
    elif result.before.seen:
        done.append("no differences")
    return f"; {', '.join(done)}." if done else "."


def _standing(before: Comparison) -> Iterator[str]:
    """Say what does not agree, and is meant not to."""
    if before.held:
        yield (
            f"{terminal.counted(before.held, 'removal')} held, `skilldrop status` says why: "
            "bring the folders or the root back, or confirm it with `skilldrop reconcile "
            "--accept-removals`."
        )
    if before.last_good:
        yield (
            f"Of {before.last_good} the newest content is rejected and the last good "
            "version stays; `skilldrop status` says which."
        )
