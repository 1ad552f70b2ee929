import subprocess
import sys

import pytest

SITE = """
import sys
from catalog.site.server import lazy_units
lazy_units.postpone()
from catalog.site.server import app
from datasette.views.base import ureg
print("datasette.vendored.pint.registry" in sys.modules)
{define}
print(f"{{(7200 * ureg('{unit}')).to_compact():~P}}")
"""


@pytest.mark.parametrize(
    ("define", "unit", "shown"),
    [("", "s", "7.2 ks"), ("ureg.define('skill = [skill]')", "skill", "7.2 kskill")],
)
def test_units_are_known_once_a_page_shows_one(define: str, unit: str, shown: str) -> None:
    """A site starts without their library."""
    program = SITE.format(define=define, unit=unit)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"False\n{shown}\n"
