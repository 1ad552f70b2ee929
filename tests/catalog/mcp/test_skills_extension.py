"""The MCP skills extension: what a client lists is what it reads afterwards."""

import base64
import hashlib
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from mcp.shared.exceptions import MCPError
from mcp.types import BlobResourceContents, ReadResourceRequestParams

from catalog.mcp.access import CatalogAccess
from catalog.mcp.resources import SkillResources
from catalog.mcp.skills_extension import SkillsExtension
from pipeline.config.root_settings import RootSettings
from tests.support.shelf import Shelf
from tests.support.skills import write_skill

FILES: dict[str, str | bytes] = {
    "references/guide.md": "# Guide\r\n",
    "references/mark.md": b"\xef\xbb\xbfwith a byte order mark\n",
    "assets/logo.png": b"\x89PNG\r\n\x1a\n\0",
    "assets/空 格#?%20.txt": "a name that needs escapes\n",
    "assets/deep/er/x.bin": b"\xff\xfe\0",
    "empty": "",
}
WRONG: dict[str, dict[str, Any]] = {
    "long-description": {"description": "word " * 250},
    "number-in-metadata": {"more": "metadata:\n  version: 1.0"},
    "no-name": {"files": {"SKILL.md": "---\ndescription: It counts words.\n---\n# X\n"}},
    "other-name": {"name": "Another_Name"},
    "会议纪要": {},
    "manifest": {"files": {"_manifest": "{}"}},
    "backslash": {"files": {"a\\b": ""}},
    "many-files": {"files": {f"f/{number}": "" for number in range(512)}},
    "with-a-mark": {"files": {"SKILL.md": "\ufeff---\nname: with-a-mark\ndescription: X.\n---\n"}},
    "lower-case": {"files": {"skill.md": "---\nname: lower-case\ndescription: X.\n---\n"}},
}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """Return a shelf with skills that the extension wants, and others."""
    made = Shelf(tmp_path_factory.mktemp("extension"))
    write_skill(
        made.root / "whole",
        more="license: MIT\nx-number: 1.50\nx-date: 2026-01-02\nx-list: [yes, 010, null, ~, true]\n"
        "metadata:\n  version: '1.0'",
        files=FILES,
    )
    write_skill(made.root / "for-people", more="disable-model-invocation: true")
    for name, parts in WRONG.items():
        write_skill(made.root / name, **parts)
    (made.root / "lower-case" / "SKILL.md").unlink()
    made.scan()
    yield made
    made.close()


@pytest.fixture
def access(shelf: Shelf) -> CatalogAccess:
    """Return access to the shelf."""
    return CatalogAccess(shelf.settings.catalog_path, shelf.packages)


@pytest.fixture
def extension(access: CatalogAccess) -> SkillsExtension:
    """Return the extension on the shelf."""
    return SkillsExtension(access)


def content(access: CatalogAccess, uri: str) -> bytes:
    """Return the bytes of a resource as a client takes them."""
    (found,) = SkillResources(access).read(ReadResourceRequestParams(uri=uri)).contents
    if isinstance(found, BlobResourceContents):
        return base64.b64decode(found.blob)
    return found.text.encode()


def message(error: pytest.ExceptionInfo[MCPError]) -> str:
    """Return the sentence of an error for wrong parameters."""
    assert error.value.error.code == -32602
    text = error.value.error.message
    assert text.endswith(".")
    assert text.isprintable()
    return text


@pytest.mark.requirement("sep-2640/listed")
def test_only_skills_as_the_extension_wants_them_are_listed(extension: SkillsExtension) -> None:
    """One other entry would make clients refuse the whole list."""
    page = extension.page(None)
    assert [skill["uri"] for skill in page["skills"]] == ["skill://whole/SKILL.md"]
    assert (page["resultType"], page["ttlMs"], page["cacheScope"]) == ("complete", 0, "private")


@pytest.mark.requirement("sep-2640/read")
def test_every_file_is_listed_with_its_digest_and_read_by_its_uri(
    access: CatalogAccess, extension: SkillsExtension
) -> None:
    """Text, binaries, byte order marks and line ends arrive with exactly their bytes."""
    (skill,) = extension.page(None)["skills"]
    assert len(skill["resources"]) == len(FILES) + 1
    for file in skill["resources"]:
        data = content(access, file["uri"])
        assert file["uri"].isascii()
        assert file["size"] == len(data)
        assert file["digest"] == f"sha256:{hashlib.sha256(data).hexdigest()}"


def test_a_file_is_read_by_its_plain_name_too(access: CatalogAccess) -> None:
    """Some clients put paths from the manifest into URIs without escapes."""
    for path, data in FILES.items():
        expected = data if isinstance(data, bytes) else data.encode()
        assert content(access, f"skill://whole/{path}") == expected


@pytest.mark.requirement("sep-2640/frontmatter")
def test_frontmatter_has_the_types_of_yaml_1_2(
    access: CatalogAccess, extension: SkillsExtension
) -> None:
    """It equals what a client reads from the same file; other fields pass unchanged."""
    (skill,) = extension.page(None)["skills"]
    fields = skill["frontmatter"]
    assert fields["x-number"] == 1.5
    assert fields["x-date"] == "2026-01-02"
    assert fields["x-list"] == ["yes", 10, None, None, True]
    assert fields["metadata"] == {"version": "1.0"}
    text = content(access, skill["uri"]).decode()
    assert fields.keys() == yaml.safe_load(text.split("---")[1]).keys()


@pytest.mark.parametrize("name", sorted(WRONG))
def test_another_skill_is_refused_with_the_reason(extension: SkillsExtension, name: str) -> None:
    """The sentence says how to read it anyway."""
    with pytest.raises(MCPError) as caught:
        extension.skill(f"skill://{'another-name' if name == 'other-name' else name}/SKILL.md")
    assert "is not in the skills extension: " in message(caught)


def test_an_entry_is_that_of_the_list(extension: SkillsExtension) -> None:
    """A skill for people is no entry for models, even if its URI is known."""
    (listed,) = extension.page(None)["skills"]
    assert extension.skill(listed["uri"])["skill"] == listed
    with pytest.raises(MCPError, match="no skill 'for-people' that a model may start"):
        extension.skill("skill://for-people/SKILL.md")


@pytest.mark.parametrize(
    "uri",
    [
        "skill://nowhere/SKILL.md",
        "skill://whole",
        "skill://whole/references/guide.md",
        "skill://whole/SKILL.md?version=20200101-000000",
        "file:///etc/passwd",
        "",
    ],
)
def test_what_is_no_skill_is_an_error(extension: SkillsExtension, uri: str) -> None:
    """Its code is that of wrong parameters, as the extension demands."""
    with pytest.raises(MCPError) as caught:
        extension.skill(uri)
    message(caught)


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CatalogAccess]:
    """Return access to a catalog with skills of plugins, two of which have the same name."""
    made = Shelf(tmp_path_factory.mktemp("plugins"))
    roots = (RootSettings(path=made.root, level="plugin"),)
    made.settings = made.settings.model_copy(update={"roots": roots})
    write_skill(made.root / "office/skills/pdf", files={"references/a b.md": "office\n"})
    write_skill(made.root / "sales/skills/pdf", files={"pdf/notes.md": "in a folder\n"})
    made.scan()
    yield CatalogAccess(made.settings.catalog_path, made.packages)
    made.close()


def test_the_uri_of_a_plugins_skill_ends_with_its_name(plugins: CatalogAccess) -> None:
    """As the extension demands; files have their place below that URI, too."""
    extension = SkillsExtension(plugins)
    (skill,) = extension.page(None)["skills"]
    assert skill["uri"] == "skill://office--pdf/pdf/SKILL.md"
    assert skill["frontmatter"]["name"] == "pdf"
    for file in skill["resources"]:
        digest = hashlib.sha256(content(plugins, file["uri"])).hexdigest()
        assert file["digest"] == f"sha256:{digest}"
    assert content(plugins, "skill://office--pdf/pdf/references/a%20b.md") == b"office\n"
    assert content(plugins, "skill://office--pdf/pdf/_manifest").startswith(b"{")
    assert extension.skill(skill["uri"])["skill"] == skill
    with pytest.raises(MCPError) as caught:
        extension.skill("skill://office--pdf/SKILL.md")
    assert skill["uri"] in message(caught)


def test_a_folder_with_the_name_of_its_plugins_skill_stays_readable(
    plugins: CatalogAccess,
) -> None:
    """Its URI leads to it, so the skill itself has no entry."""
    assert content(plugins, "skill://sales--pdf/pdf/notes.md") == b"in a folder\n"
    assert b"name: pdf" in content(plugins, "skill://sales--pdf/SKILL.md")
    with pytest.raises(MCPError) as caught:
        SkillsExtension(plugins).skill("skill://sales--pdf/pdf/SKILL.md")
    assert "'pdf' cannot be the end of its URI" in message(caught)


def test_an_entry_and_its_files_are_of_one_version(shelf: Shelf, access: CatalogAccess) -> None:
    """Superseded versions are never listed, and a reader can stay in the one that it began."""
    write_skill(shelf.root / "edited", files={"a.md": "one\n"})
    shelf.scan()
    extension = SkillsExtension(access)
    old = extension.skill("skill://edited/SKILL.md")["skill"]
    asked = ReadResourceRequestParams(uri="skill://edited/a.md")
    version = (SkillResources(access).read(asked).meta or {})["skilldrop/version"]
    write_skill(shelf.root / "edited", files={"a.md": "two\n", "b.md": "new\n"})
    shelf.scan()
    listed = [s for s in extension.page(None)["skills"] if s["uri"] == old["uri"]]
    assert len(listed) == 1
    assert len(listed[0]["resources"]) == 3
    assert content(access, "skill://edited/a.md") == b"two\n"
    assert content(access, f"skill://edited/a.md?version={version}") == b"one\n"
