"""Forty skill folders with the cases that clients fail at, and their files."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.skills import DESCRIPTION, write_skill

File = tuple[str, bool]
"""SHA-256 of a file's bytes, and whether the file is executable."""

Files = dict[str, File]
"""Files of one skill by their path below its folder."""


@dataclass(frozen=True)
class Package:
    """Skill folder of the fixture: where it lies, and whether agents may have it."""

    folder: str
    name: str | None = None
    description: str = DESCRIPTION
    files: dict[str, str | bytes] = field(default_factory=dict)
    executable: tuple[str, ...] = ()
    valid: bool = True

    @property
    def key(self) -> str:
        """Identifier of the skill in the catalog."""
        parts = self.folder.split("/")
        return f"{parts[1]}--{parts[3]}" if parts[0] == "plugins" else parts[-1]

    def write(self, roots: Path) -> None:
        """Write the folder below the folder of all roots."""
        target = roots / self.folder
        write_skill(target, name=self.name, description=self.description, files=self.files)
        for path in self.executable:
            (target / path).chmod(0o755)


NAMELESS = f"---\ndescription: {DESCRIPTION}\n---\n\n# Nameless\n"
BROKEN = "---\nname: rejected\n---\n\n# No description\n"
BYTES = bytes(range(256)) * 400

HARD = [
    Package("project/long-description", description="Converts files. " * 90 + "Use for files."),
    Package("project/emoji-description", description="📦" * 600 + " Use for parcels."),
    Package("project/nameless", files={"SKILL.md": NAMELESS}),
    Package("project/数据清洗", description="清洗表格数据。处理重复行、空值时使用。"),
    Package("project/groups/office/letters", files={"references/forms.md": "# Forms\n"}),
    Package("project/groups/office/tables"),
    Package("project/groups/data/etl/loader", files={"scripts/load.py": "print(1)\n"}),
    Package(
        "project/executable",
        files={
            "scripts/run.sh": "#!/bin/sh\necho run\n",
            "scripts/deep/tool.py": "#!/usr/bin/env python3\n",
            "scripts/library.py": "VALUE = 1\n",
        },
        executable=("scripts/run.sh", "scripts/deep/tool.py"),
    ),
    Package("project/binary", files={"assets/logo.png": BYTES, "assets/font.ttf": BYTES[::-1]}),
    Package("project/file-names", files={"assets/two words.txt": "1\n", "assets/说明.md": "2\n"}),
    Package("project/many-files", files={f"data/{n:03}.txt": f"{n}\n" for n in range(120)}),
    Package("project/crlf", files={"notes.md": "# Notes\r\n\r\nText\r\n"}),
    Package("project/empty-file", files={"assets/empty.txt": ""}),
    Package(
        "project/block-text",
        description=">-\n  Folds lines.\n  Use for folded text: it has a colon.",
    ),
    Package("project/quoted", description='"Quotes: all of them. Use for quotes."'),
    Package("company/twice", description="Wins over the project's. Use twice."),
    Package("project/twice", description="Is shadowed. Use never.", valid=False),
    Package("project/rejected", files={"SKILL.md": BROKEN}, valid=False),
    Package("plugins/office/skills/pdf", name="pdf", description="Reads PDF. Use for PDF files."),
]
_OTHERS = 40 - len(HARD)
PLAIN = [  # each leads to the next one, in a circle
    Package(
        f"project/plain-{number:02}",
        description=f"Answers question {number}. Use for question {number}.",
        files={
            "references/answer.md": f"[{number}](../../plain-{number % _OTHERS + 1:02}/SKILL.md)\n"
        },
    )
    for number in range(1, _OTHERS + 1)
]
PACKAGES = HARD + PLAIN


def files_of(folder: Path) -> Files:
    """Return the files below a folder; links are followed."""
    return {
        path.relative_to(folder).as_posix(): _file(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def without_bits(files: Files) -> Files:
    """Return the files as if none were executable."""
    return {path: (digest, False) for path, (digest, _) in files.items()}


def _file(path: Path) -> File:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return digest, bool(path.stat().st_mode & 0o111)
