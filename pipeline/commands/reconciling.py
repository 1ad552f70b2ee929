"""The command that proves that folder, catalog, packages and indexes agree, or makes them agree."""

from collections import Counter
from collections.abc import Sequence

import click

from catalog.audit import Difference
from pipeline import reconcile as comparing
from pipeline import terminal
from pipeline.commands.invocation import DONE, FINDINGS, as_json_option, to_json
from pipeline.commands.settings_in_force import settings_of
from pipeline.config import Settings
from pipeline.excerpt import visible
from pipeline.reconcile import Comparison


@click.command()
@click.option("--check", is_flag=True, help="Only report; write nothing.")
@click.option("--accept-removals", is_flag=True,
              help="Say that skills whose removal is held were meant to go.")
@as_json_option
@click.pass_context
def reconcile(context: click.Context, check: bool, accept_removals: bool, as_json: bool) -> int:
    """Compare every folder with the catalog, packages and indexes, and mend what differs.

    Every file is read and hashed anew, those of the packages, too. The exit code is 1 where
    something differs, or where it still does after mending. While `skilldrop up` runs it is the
    service that mends, and follows the folders meanwhile.

    \b
    Examples:
      skilldrop reconcile --check
      skilldrop reconcile --accept-removals
    """
    if check and accept_removals:
        raise click.UsageError("--check changes nothing, so it cannot accept removals.")
    settings = settings_of(context)
    if check:
        found = _compared(settings)
        wrong = found.differences
    else:
        found, wrong = _mended(settings, accept_removals)
    mended = [difference for difference in found.differences if difference not in wrong]
    if as_json:
        click.echo(to_json({
            "differences": [d._asdict() for d in wrong], "mended": [d._asdict() for d in mended],
            "seen": found.seen, "held": found.held, "last_good": found.last_good}))
    else:
        click.echo(_told(found, wrong, mended))
    return FINDINGS if wrong else DONE


def _compared(settings: Settings) -> Comparison:
    with terminal.progress("skills") as progress:
        return comparing.compare(settings, progress=progress)


def _mended(settings: Settings, accept_removals: bool,
            ) -> tuple[Comparison, tuple[Difference, ...]]:
    with (terminal.progress("skills") as progress,
          terminal.progress("seconds that the service has been mending") as waiting):
        return comparing.mend(settings, accepts_removals=accept_removals, progress=progress,
                              waiting=waiting)


def _told(found: Comparison, wrong: Sequence[Difference], mended: Sequence[Difference]) -> str:
    lines = [visible(f"{d.kind}: {d.where}: {d.what}") for d in wrong]
    lines += [visible(f"mended: {d.where}: {d.what}") for d in mended]
    kinds = ", ".join(f"{count} in {kind}" for kind, count in Counter(
        d.kind for d in wrong).items())
    lines.append(f"{terminal.counted(found.seen, 'skill folder')} compared; "
                 f"{f'differences: {kinds}' if wrong else 'no differences'}.")
    if found.held:
        lines.append(f"{terminal.counted(found.held, 'removal')} held: bring the folders back, or "
                     "confirm it with `skilldrop reconcile --accept-removals`.")
    if found.last_good:
        lines.append(f"Of {found.last_good} the newest content is rejected and the last good "
                     "version stays; `skilldrop status` says which.")
    return "\n".join(lines)
