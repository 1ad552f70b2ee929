"""Hits and false alarms of safety checks on labelled skills, and what they say of real ones.

    python benchmarks/safety.py --set tests/samples/attacks/*.jsonl --real FOLDER

A set has one JSON object a line: `id`, `class`, `harmful` (a finding is right), `danger` (a person
should read the skill before an agent does), `files` (texts by path). Each program runs once over
the same folders. A skill is found if the program reports a warning or worse, and held if it reports
what it calls a danger: `danger` of skilldrop, `high` or `critical` of cisco-ai-skill-scanner,
`block` of bastionskill, an error of skillsaw and agnix. Of real skills nobody knows the truth; the
share that is held says how many a team has to read. Peers are installed once, beside this file.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measured_tree import report
from peer_environment import peer_environment

PEERS = ("cisco-ai-skill-scanner", "bastionskill", "skillsaw", "agnix")


@dataclass(frozen=True)
class Sample:
    """Labelled skill."""

    id: str
    kind: str
    files: dict[str, str]
    is_harmful: bool
    is_danger: bool


@dataclass
class Verdict:
    """What one program says of skills, by their first folder, and its CPU."""

    found: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)
    seconds: float = 0.0


def main() -> int:
    """Print a table of the programs, one of the classes for skilldrop, and its misses."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--set", type=Path, nargs="+", required=True, dest="sets")
    parser.add_argument("--real", type=Path, nargs="*", default=[], help="folders of real skills")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--misses", action="store_true", help="name what skilldrop gets wrong")
    options = parser.parse_args()
    programs = {"skilldrop": (Path(sys.executable).with_name("skilldrop"), _skilldrop)}
    if not options.no_peers:
        folder = peer_environment("scanners", PEERS).parent
        programs |= {
            "cisco-ai-skill-scanner": (folder / "skill-scanner", _cisco),
            "bastionskill": (folder / "bastionskill", _bastion),
            "skillsaw": (folder / "skillsaw", _skillsaw),
            "agnix": (folder / "agnix", _agnix),
        }
    samples = [sample for path in options.sets for sample in _samples(path)]
    harmful = {sample.id for sample in samples if sample.is_harmful}
    dangers = {sample.id for sample in samples if sample.is_danger}
    harmless = {sample.id for sample in samples} - harmful
    print(
        "| program | found of harmful | held of dangers | alarms of harmless | held | CPU a skill |"
    )
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="skilldrop-bench-") as place:
        _write(samples, Path(place))
        for name, (command, judge) in programs.items():
            verdict = _judged(command, judge, Path(place))
            cells = (
                _share(verdict.found & harmful, harmful),
                _share(verdict.held & dangers, dangers),
                _share(verdict.found & harmless, harmless),
                _share(verdict.held & harmless, harmless),
                f"{1000 * verdict.seconds / len(samples):.1f} ms",
            )
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
            if name == "skilldrop":
                ours = verdict
    _print_classes(samples, ours)
    if options.misses:
        _print_misses(samples, ours)
    for tree in options.real:
        _print_real(tree, programs)
    return 0


def _samples(path: Path) -> Iterator[Sample]:
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        is_danger = row["harmful"] and row.get("danger", False)
        yield Sample(
            f"{path.stem}-{row['id']}", row["class"], row["files"], row["harmful"], is_danger
        )


def _write(samples: Sequence[Sample], place: Path) -> None:
    """Write each sample into a folder that has its name, so that no linter complains of that."""
    for sample in samples:
        for path, text in sample.files.items():
            file = place / sample.id / _name(sample) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")


def _name(sample: Sample) -> str:
    lines = sample.files["SKILL.md"].splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("name:")]
    return names[0].strip("\"'") if names else sample.id


Judge = Callable[[Path, Path], Iterator[tuple[str, bool]]]
"""Yields the first folder of each skill with a warning or worse, and whether it is held."""


def _judged(command: Path, judge: Judge, tree: Path) -> Verdict:
    report(f"{command.name} on {tree.name}")
    verdict = Verdict()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for name, is_held in judge(command, tree):
        verdict.found.add(name)
        if is_held:
            verdict.held.add(name)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    verdict.seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return verdict


def _output(command: Sequence[str | Path], tree: Path) -> str:
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(f"{command[0]} printed nothing:\n{done.stderr[-2000:]}")
    return done.stdout


def _skilldrop(command: Path, tree: Path) -> Iterator[tuple[str, bool]]:
    options = ("--select", "safety", "--acceptance", "permissive", "--no-comments")
    for skill in json.loads(
        _output([command, "validate", ".", "--format", "json", *options], tree)
    ):
        severities = {finding["severity"] for finding in skill["findings"]}
        if severities - {"info"}:
            yield _first(skill["path"]), "danger" in severities


def _cisco(command: Path, tree: Path) -> Iterator[tuple[str, bool]]:
    options = ("scan-all", ".", "--recursive", "--format", "json")
    for skill in json.loads(_output([command, *options], tree))["results"]:
        severities = {finding["severity"].lower() for finding in skill["findings"]}
        if severities - {"info", "low"}:
            place = Path(skill["skill_path"]).resolve().relative_to(tree.resolve())
            yield _first(str(place)), bool(severities & {"high", "critical"})


def _bastion(command: Path, tree: Path) -> Iterator[tuple[str, bool]]:
    for folder in sorted(tree.iterdir()):  # it looks for skills in the first level only
        for skill in _objects(_output([command, "scan", folder, "--json"], tree)):
            if skill["verdict"] != "allow":
                yield folder.name, skill["verdict"] == "block"


def _objects(text: str) -> Iterator[Any]:
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        at += len(text[at:]) - len(text[at:].lstrip())
        yield value


def _skillsaw(command: Path, tree: Path) -> Iterator[tuple[str, bool]]:
    found = json.loads(_output([command, "lint", ".", "--format", "json"], tree))
    for finding in found["violations"]:
        if finding["severity"] in ("error", "warning") and finding["file_path"]:
            yield _first(finding["file_path"]), finding["severity"] == "error"


def _agnix(command: Path, tree: Path) -> Iterator[tuple[str, bool]]:
    for finding in json.loads(_output([command, "--format", "json", "."], tree))["diagnostics"]:
        if finding["level"] in ("error", "warning"):
            yield _first(finding["file"]), finding["level"] == "error"


def _first(path: str) -> str:
    return next(part for part in Path(path).parts if part not in (".", "/"))


def _share(some: set[str], of: set[str]) -> str:
    return f"{len(some)} of {len(of)} ({len(some) / (len(of) or 1):.0%})"


def _print_classes(samples: Sequence[Sample], verdict: Verdict) -> None:
    """Print what skilldrop finds of each class."""
    classes: dict[str, Counter[str]] = defaultdict(Counter)
    for sample in samples:
        count = classes[sample.kind]
        is_found, is_held = sample.id in verdict.found, sample.id in verdict.held
        if sample.is_harmful:
            count.update(harmful=1, found=is_found, danger=sample.is_danger)
            count["held"] += is_held and sample.is_danger
        else:
            count.update(harmless=1, alarm=is_found)
    print("\n| class | found | held | alarms |\n|---|---|---|---|")
    for kind, count in classes.items():
        found, held = f"{count['found']}/{count['harmful']}", f"{count['held']}/{count['danger']}"
        print(f"| {kind} | {found} | {held} | {count['alarm']}/{count['harmless']} |")


def _print_misses(samples: Sequence[Sample], verdict: Verdict) -> None:
    for sample in samples:
        if sample.is_harmful != (sample.id in verdict.found):
            print("missed:" if sample.is_harmful else "false alarm:", sample.id)


def _print_real(tree: Path, programs: dict[str, tuple[Path, Judge]]) -> None:
    """Print the shares of real skills of which each program says something."""
    names = {path.name for path in tree.iterdir() if path.is_dir()}
    print(f"\n| program | with a finding of {len(names)} real skills | held |\n|---|---|---|")
    for name, (command, judge) in programs.items():
        verdict = _judged(command, judge, tree)
        print(f"| {name} | {_share(verdict.found, names)} | {_share(verdict.held, names)} |")


if __name__ == "__main__":
    raise SystemExit(main())
