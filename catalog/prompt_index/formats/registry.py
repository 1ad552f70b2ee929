"""All formats of a prompt index, by name."""

from catalog.prompt_index.formats import json_text, plain, tagged
from catalog.prompt_index.formats.form import Format
from catalog.prompt_index.measures import Bounds

FORMATS: dict[str, Format] = {
    "lines": Format(".txt", plain.lines),
    "xml": Format(".xml", tagged.xml),
    "xml-compact": Format(".xml", tagged.xml_compact),
    "semibot": Format(".txt", tagged.semibot, Bounds(50, 100), names_packages=True),
    "markdown": Format(".md", plain.markdown),
    "json": Format(".json", json_text.json_),
    "discovery": Format(".json", json_text.discovery),
}
