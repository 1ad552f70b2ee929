"""Skills whose folders cannot be read for a while."""

import json
from pathlib import Path

import pytest

from tests.support.skills import write_skill
from tests.support.without_rights import run

SCRIPT = """
import json, shutil, sys
from pathlib import Path
from pipeline.config.loader import load
from pipeline.service import reconcile
from pipeline.service.scanning.engines import serial
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once

top, name = Path(sys.argv[1]), sys.argv[2]
root = top / "root"
settings = load(None, root, top / "data").model_copy(
    update={"settle_quiet": 0.0, "settle_longest": 0.01})
said = []

def scan():
    store = open_store(settings)
    scan_once(settings, store, engine=serial)
    said.append({
        "skills": dict(store.db.execute("SELECT path, status FROM skills").fetchall()),
        "why": store.db.execute("SELECT pending_reason FROM skills WHERE path = 'b/same'"
                                ).fetchone()[0],
        "differences": [each.message for each in reconcile.compare_once(
            settings, engine=serial).differences]})
    store.close()

scan()
(root / name).chmod(0)
shutil.rmtree(root / "a")
scan()
scan()
(root / name).chmod(0o755)
scan()
print(json.dumps(said))
"""


@pytest.mark.parametrize("name", ["b", "b/same"])
def test_a_successor_that_cannot_be_read_is_pending(tmp_path: Path, name: str) -> None:
    """The skill that shadowed it is gone; the reason is true, and the catalog agrees."""
    write_skill(tmp_path / "root/a", name="name")
    write_skill(tmp_path / "root/b/same", name="name")
    before, gone, again, readable = json.loads(run(SCRIPT, str(tmp_path), name))
    assert before["skills"] == {"a": "active", "b/same": "shadowed"}
    for said in (gone, again):
        assert said == {
            "skills": {"a": "removed", "b/same": "pending"},
            "differences": [],
            "why": "its files changed or became unreadable after they were checked",
        }
    assert readable == {
        "skills": {"a": "removed", "b/same": "active"},
        "differences": [],
        "why": None,
    }
