"""Instructions of a skill as a model gets them: between tags, with folder and files.

The format follows the Agent Skills client guide ("Adding skills support", structured wrapping).
"""

import re
from collections.abc import Sequence

from catalog.text.visible import in_attribute, in_xml

LISTED = 200
"""Files of a skill that are listed, at most."""

# A tag in the body could end the skill's part, so that the rest would pass for other text.
_OUR_TAG = re.compile(r"<(?=\s*/?\s*skill_(?:content|resources))", re.IGNORECASE)


def wrap(name: str, body: str, directory: str, files: Sequence[str], note: str = "") -> str:
    """Return a body between `<skill_content>` tags that nothing in it can close.

    directory is the absolute path or URI of the skill's files, to which files are relative. note
    is a line to add, such as where the next part starts.
    """
    listed = [f"  <file>{in_xml(path)}</file>" for path in files[:LISTED]]
    if len(files) > LISTED:
        listed.append(f"  <!-- and {len(files) - LISTED} more -->")
    return "\n".join(
        [
            f'<skill_content name="{in_attribute(name)}">',
            _OUR_TAG.sub("&lt;", body).strip("\n"),
            "",
            *([note] if note else []),
            f"Skill directory: {in_xml(directory)}",
            "Paths in this skill are relative to the skill directory.",
            *(["", "<skill_resources>", *listed, "</skill_resources>"] if listed else []),
            "</skill_content>",
            "",
        ]
    )
