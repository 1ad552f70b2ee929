"""The command line: thin commands that ask other modules, print, and return an exit code."""

import json
import logging
import signal
import sys
import tempfile
import traceback
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args

import click

from catalog import search
from catalog.errors import SkilldropError
from catalog.formats import FORMATS
from catalog.record import Acceptance
from catalog.site.process import SiteProcess
from pipeline import config, lint_formats, report
from pipeline.config import Settings
from pipeline.engines import ENGINES, EngineName
from pipeline.one_pass import scan_once, unit_at
from pipeline.opening import open_store
from pipeline.rules.checks import PROFILES
from pipeline.service import Service
from pipeline.validate import judge_paths

DONE, FINDINGS, WRONG_USAGE, OUR_BUG, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes."""


def main() -> None:
    """Run the command line and exit; all failures are printed here."""
    try:
        code = cli.main(prog_name="skilldrop", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        code = INTERRUPTED
    except click.ClickException as error:
        error.show()
        code = WRONG_USAGE
    except SkilldropError as error:
        click.echo(f"skilldrop: {error}", err=True)
        code = WRONG_USAGE
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        sys.stderr.close()
        code = DONE
    except Exception as error:  # noqa: BLE001  # the one place that speaks of our own bugs
        code = _our_bug(error)
    sys.exit(code if isinstance(code, int) else DONE)


def _our_bug(error: Exception) -> int:
    with tempfile.NamedTemporaryFile("w", prefix="skilldrop-", suffix=".log",
                                     delete=False) as log:
        traceback.print_exception(error, file=log)
    click.echo(f"skilldrop: this is a bug of ours: {type(error).__name__}: {error}. "
               f"Please report it with {log.name}.", err=True)
    return OUR_BUG


_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_path = click.Path(path_type=Path, readable=False)  # we say ourselves what cannot be read


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--config", "config_file", type=_path,
              help="Settings file.  [default: skilldrop.toml where it exists]")
@click.option("--watched", type=_path, help="The one root to watch.  [default: watched]")
@click.option("--data", type=_path, help="Where catalog and index go.  [default: var]")
@click.version_option(version("skilldrop"), prog_name="skilldrop")
@click.pass_context
def cli(context: click.Context, config_file: Path | None, watched: Path | None,
        data: Path | None) -> None:
    """Keep a shared folder of Agent Skills as a searchable catalog and a prompt index.

    \b
    Drop skill folders into watched/ and run:
      skilldrop up
    """
    context.obj = lambda: config.load(config_file, watched, data)


@cli.command()
@click.option("--host", help="Address of the site.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the site.  [default: 8001]")
@click.option("--no-site", is_flag=True, help="Only watch; serve nothing.")
@click.pass_context
def up(context: click.Context, host: str | None, port: int | None, no_site: bool) -> int:
    """Watch, re-scan and serve until stopped.

    \b
    Example:
      skilldrop --watched /srv/skills --data /var/lib/skilldrop up --port 8080
    """
    settings = _settings(context, host=host, port=port)
    site = SiteProcess(settings.catalog_path, settings.host, settings.port,
                       settings.data / "site.log") if settings.site and not no_site else None
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("apscheduler").setLevel(logging.ERROR)
    store = open_store(settings)
    try:
        service = Service(settings, store, site)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: service.stop())
        service.run(lambda: click.echo(
            report.welcome(settings, site.url if site else None), err=True))
    finally:
        store.close()
    click.echo("Stopped.", err=True)
    return DONE


@cli.command()
@click.argument("paths", nargs=-1, type=_path)
@click.option("--deep", is_flag=True, help="Read and hash every file, also of unchanged folders.")
@click.option("--engine", type=click.Choice(list(ENGINES)), default="processes",
              show_default=True, help="Who reads and judges: this process, or one a core.")
@_as_json
@click.pass_context
def scan(context: click.Context, paths: tuple[Path, ...], deep: bool, engine: EngineName,
         as_json: bool) -> int:
    """Bring the catalog up to the roots, or to PATHS inside them, and exit.

    \b
    Examples:
      skilldrop scan
      skilldrop --watched ~/skills --data /tmp/catalog scan --json
    """
    settings = _settings(context)
    units = []
    for path in paths:
        unit = unit_at(settings, path)
        if unit is None:
            raise click.UsageError(f"{path} lies in no root; skilldrop status names the roots.")
        units.append(unit)
    store = open_store(settings)
    try:
        with report.progress("skills") as progress:
            result = scan_once(settings, store, units, engine=engine, deep=deep,
                               progress=lambda so_far: progress(so_far.seen))
    finally:
        store.close()
    for trouble in result.report.troubles.values():
        click.echo(f"skilldrop: {trouble}", err=True)
    click.echo(_json(result.as_json()) if as_json else report.scan(result))
    return FINDINGS if result.report.troubles else DONE


@cli.command()
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(1, 65535), help="Port.  [default: 8001]")
@click.pass_context
def serve(context: click.Context, host: str | None, port: int | None) -> int:
    """Serve the catalog as it is, read-only, without watching anything.

    \b
    Example:
      skilldrop --data /var/lib/skilldrop serve --port 8080
    """
    settings = _settings(context, host=host, port=port)
    search.open_catalog(settings.catalog_path).conn.close()
    site = SiteProcess(settings.catalog_path, settings.host, settings.port)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: site.stop())
    site.start()
    click.echo(f"Serving {settings.catalog_path} at {site.url}", err=True)
    site.wait()
    return DONE


@cli.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--acceptance", type=click.Choice(get_args(Acceptance)), default="lenient",
              show_default=True, help="How findings become a verdict.")
@click.option("--profile", "profiles", type=click.Choice(list(PROFILES)), multiple=True,
              help="Rules to ask beside spec; may be repeated.  [default: all]")
@click.option("--format", "form", type=click.Choice(list(lint_formats.FORMATS)),
              default="text", show_default=True, help="What to print.")
@click.option("--quiet", "-q", is_flag=True, help="Print errors only.")
@click.option("--fail-on", type=click.Choice(["error", "warning"]), default="error",
              show_default=True, help="What makes the exit code 1.")
@_as_json
def validate(paths: tuple[Path, ...], acceptance: Acceptance, profiles: tuple[str, ...], form: str,
             quiet: bool, fail_on: str, as_json: bool) -> int:
    """Judge skill folders, all skills in a tree, or a SKILL.md; exit 1 where there is an error.

    \b
    Examples:
      skilldrop validate my-skill
      skilldrop validate skills --profile safety --quiet
      skilldrop validate skills --format sarif > skills.sarif
    """
    form = "json" if as_json else form
    tally = lint_formats.Tally()
    judged = judge_paths(paths, acceptance=acceptance, profiles=profiles or tuple(PROFILES))
    with report.progress("skills") as progress:
        counted = tally.counting(judged, progress)
        shown = map(lint_formats.errors_only, counted) if quiet else counted
        for lines in lint_formats.FORMATS[form](shown):
            progress.clear()
            lint_formats.echo(lines)
    if form in lint_formats.FOR_READERS:
        lint_formats.echo(tally.summary())
    return FINDINGS if tally.reaches(fail_on) else DONE


@cli.command()
@click.argument("name", default="default")
@click.option("--format", "form", type=click.Choice(sorted(FORMATS)), help="As if configured so.")
@click.option("--budget-chars", type=click.IntRange(min=0), help="As if configured so.")
@_as_json
@click.pass_context
def index(context: click.Context, name: str, form: str | None, budget_chars: int | None,
          as_json: bool) -> int:
    """Print the prompt index NAME; with options, what it would be.

    \b
    Examples:
      skilldrop index
      skilldrop index --budget-chars 4000 --json
    """
    settings = _settings(context)
    db = search.open_catalog(settings.catalog_path)
    spec = search.index_spec(db, name)
    spec = replace(spec, format=form or spec.format,
                   budget_chars=spec.budget_chars if budget_chars is None else budget_chars)
    built = search.build_index(db, spec)
    if as_json:
        click.echo(_json({"text": built.text, "report": search.index_report(db, spec, built)}))
    else:
        click.echo(built.text, nl=False)
    return DONE


@cli.command(name="search")
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True)
@_as_json
@click.pass_context
def search_(context: click.Context, words: tuple[str, ...], limit: int, as_json: bool) -> int:
    """Find active skills by all WORDS, best first; English or Chinese.

    \b
    Example:
      skilldrop search csv columns
    """
    db = search.open_catalog(_settings(context).catalog_path)
    hits = search.find(db, " ".join(words), limit)
    click.echo(_json([asdict(hit) for hit in hits]) if as_json else report.hits(hits))
    return DONE


@cli.command()
@_as_json
@click.pass_context
def status(context: click.Context, as_json: bool) -> int:
    """Say how the catalog is: its health, counts, and what waits or is rejected, and why.

    \b
    Example:
      skilldrop status --json
    """
    found = search.status(search.open_catalog(_settings(context).catalog_path))
    click.echo(_json(found) if as_json else report.status(found))
    return DONE


def _settings(context: click.Context, **given: Any) -> Settings:
    """Load the settings, with what was given on the command line in their place."""
    settings: Settings = context.obj()
    return settings.model_copy(update={k: v for k, v in given.items() if v is not None})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
