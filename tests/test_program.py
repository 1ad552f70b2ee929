"""The program itself, started where nobody should trust what lies around."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SkillWriter

MODULES = ("_pickle", "catalog", "distributed", "json", "logging", "multiprocessing", "pipeline",
           "pydantic", "sqlite3", "threading", "yaml")
"""What the processes import that the program starts."""


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_nothing_is_imported_from_where_it_is_started(
    tmp_path: Path, skill: SkillWriter, engine: str
) -> None:
    """Not even by the processes that share the work, and if that is a skill's folder."""
    for number in range(600):
        skill(tmp_path / f"root/s{number}")
    here = skill(tmp_path / "root/hostile", files={
        f"{module}.py": "open('imported', 'a').write(__name__)\n" for module in MODULES})
    done = subprocess.run(
        [Path(sys.executable).with_name("skilldrop"), "--watched", tmp_path / "root",
         "--data", tmp_path / "data", "scan", "--engine", engine],
        cwd=here, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (here / "imported").exists(), (here / "imported").read_text()
