"""Findings of trees of skills as sorted JSON lines, and their difference from an earlier dump.

    python benchmarks/findings.py FOLDER... > before
    python benchmarks/findings.py FOLDER... --against before

Without a FOLDER, the real skills beside the repository are validated, as in the tests. A line is
one finding, with the name of its FOLDER and the path of the skill in it. All codes are selected. A
skill without findings has a line, too, so that none gets lost.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.paths import CORPUS, SEARCH

BESIDE = (CORPUS / "packages", SEARCH / "skills", SEARCH / "whole")
COMMAND = (
    str(Path(sys.executable).with_name("skilldrop")),
    *("validate", ".", "--format", "json", "--select", "all"),
    *("--acceptance", "permissive", "--no-comments"),
)
"""Everything is reported, whatever the authors of the skills leave out."""
SHOWN = ("code", "severity", "profile", "path", "line", "field", "message", "fix")


def main() -> int:
    """Print the findings, or their difference; return 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, default=BESIDE, metavar="FOLDER")
    parser.add_argument("--against", type=Path, help="dump to compare with")
    options = parser.parse_args()
    lines = [line for folder in options.folders for line in dumped(folder)]
    if options.against:
        return print_difference(options.against.read_text("utf-8").splitlines(), lines)
    print("\n".join(sorted(lines)))
    return 0


def dumped(folder: Path) -> Iterator[str]:
    """Yield a line for each finding of a tree. Raises SystemExit if it cannot be validated."""
    done = subprocess.run(COMMAND, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        raise SystemExit(f"{folder} was not validated:\n{done.stderr}")
    for skill in json.loads(done.stdout):
        place = {"tree": folder.name, "skill": skill["path"], "loadable": skill["loadable"]}
        for finding in skill["findings"] or [{}]:
            shown = {key: finding[key] for key in SHOWN if key in finding}
            yield json.dumps(place | shown, ensure_ascii=False)


def print_difference(before: Sequence[str], now: Sequence[str]) -> int:
    """Print the lines of only one dump, and how many of each code; return 1 if there are any."""
    gone, new = Counter(before) - Counter(now), Counter(now) - Counter(before)
    for line in sorted([*gone.elements(), *new.elements()]):
        print("-" if line in gone else "+", line)
    codes = {
        sign: Counter(json.loads(line).get("code", "none") for line in lines.elements())
        for sign, lines in (("-", gone), ("+", new))
    }
    for code in sorted({*codes["-"], *codes["+"]}):
        print(f"{code}: {codes['-'][code]} gone, {codes['+'][code]} new", file=sys.stderr)
    print(f"{len(before):,} lines before, {len(now):,} now", file=sys.stderr)
    return 1 if gone or new else 0


if __name__ == "__main__":
    raise SystemExit(main())
