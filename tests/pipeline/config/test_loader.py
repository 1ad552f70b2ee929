"""Settings of skilldrop.toml, the environment and the command line, and their order."""

import shutil
import sys
from dataclasses import FrozenInstanceError, asdict
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from catalog.model.errors import NotPossible
from catalog.model.setting import LinkedDirectory
from catalog.model.skill import RootSpec
from catalog.prompt_index.spec import Budget, IndexSpec
from pipeline.config.loader import load
from pipeline.config.settings import Settings
from pipeline.dialects.registry import DEFAULT_PROFILES
from tests.support.paths import REPOSITORY

MIB = 2**20


def write(text: str, path: str = "skilldrop.toml") -> Path:
    """Write a configuration file below the working directory."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, "utf-8")
    return Path(path)


def test_without_any_configuration_the_defaults_hold(tmp_path: Path) -> None:
    """One lenient project root `watched/`, data in `var/`, one index, the site on loopback."""
    settings = load()
    assert settings.root_specs == (
        RootSpec(str(tmp_path / "watched"), "project", "lenient", DEFAULT_PROFILES),
    )
    assert settings.catalog_path == tmp_path / "var" / "catalog.db"
    assert settings.index_folder == tmp_path / "var" / "index"
    assert settings.packages_folder == tmp_path / "var" / "packages"
    assert settings.skills_folder == tmp_path / "var" / "skills"
    assert settings.links == ()
    assert settings.indexes == (IndexSpec("default", "lines"),)
    assert settings.indexes[0].budget == Budget(16_000)
    assert (settings.settle_quiet, settings.settle_longest, settings.rescan_every) == (1, 300, 300)
    assert settings.site.model_dump() == {
        "enabled": True,
        "host": "127.0.0.1",
        "port": 8001,
        "names": (),
        "sql": None,
        "url": None,
        "behind_proxy": False,
        "reports": False,
    }
    assert asdict(settings.limits) == {
        "files": 2000,
        "bytes": 100 * MIB,
        "depth": 32,
        "skill_md_bytes": MIB,
        "text_bytes": 65_536,
        "archive_members": 20_000,
        "archive_bytes": 512 * MIB,
    }


def test_settings_cannot_be_changed() -> None:
    """They are read once, and all parts of the program have the same values."""
    settings = load()
    with pytest.raises(ValidationError, match="frozen"):
        settings.publish = "in-place"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        settings.limits.files = 1  # type: ignore[misc]


def test_settings_made_by_hand_do_not_read_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only `load` reads files and variables; other callers get exactly their own values."""
    monkeypatch.setenv("SKILLDROP_SITE__PORT", "1234")
    write("[site]\nhost = 'example.org'")
    assert (Settings().site.port, Settings().site.host) == (8001, "127.0.0.1")


@pytest.mark.parametrize(
    ("file", "environment", "command_line", "watched"),
    [
        pytest.param("", {}, None, ["watched"], id="default"),
        pytest.param("watched = 'f'", {}, None, ["f"], id="file"),
        pytest.param(
            "watched = 'f'", {"SKILLDROP_WATCHED": "e"}, None, ["e"], id="environment over file"
        ),
        pytest.param(
            "watched = 'f'", {"SKILLDROP_WATCHED": "e"}, "c", ["c"], id="command line over both"
        ),
        pytest.param(
            "[[roots]]\npath = 'r'\n[[roots]]\npath = 's'",
            {},
            None,
            ["r", "s"],
            id="roots of the file",
        ),
        pytest.param(
            "[[roots]]\npath = 'r'",
            {"SKILLDROP_WATCHED": "e"},
            None,
            ["e"],
            id="watched of the environment over roots of the file",
        ),
        pytest.param(
            "[[roots]]\npath = 'r'",
            {},
            "c",
            ["c"],
            id="watched of the command line over roots of the file",
        ),
        pytest.param(
            "",
            {"SKILLDROP_ROOTS": '[{"path": "e"}]'},
            "c",
            ["c"],
            id="watched of the command line over roots of the environment",
        ),
        pytest.param(
            "watched = 'f'",
            {"SKILLDROP_ROOTS": '[{"path": "e"}]'},
            None,
            ["e"],
            id="roots of the environment over watched of the file",
        ),
        pytest.param(
            "watched = 'f'",
            {"SKILLDROP_WATCHED": ""},
            None,
            ["f"],
            id="an empty variable says nothing",
        ),
    ],
)
def test_the_first_source_that_names_a_folder_wins(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    environment: dict[str, str],
    command_line: str | None,
    watched: list[str],
) -> None:
    """Command line, environment, file, default, whether as `watched` or as `roots`."""
    write(file)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings = load(watched=Path(command_line) if command_line else None)
    assert [root.path for root in settings.root_specs] == [str(tmp_path / w) for w in watched]


def test_a_file_with_watched_and_roots_is_refused() -> None:
    """One of them would be left out in silence."""
    Path("skilldrop.toml").write_text("watched = 'a'\n[[roots]]\npath = 'b'\n")
    with pytest.raises(NotPossible, match=r"skilldrop\.toml: watched and \[\[roots\]\] are both"):
        load()


def test_tables_are_merged_key_by_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit in the environment leaves the other limits of the file unchanged."""
    write("[limits]\nfiles = 5\ndepth = 6\nbytes = '2 MiB'")
    monkeypatch.setenv("SKILLDROP_LIMITS__FILES", "7")
    limits = load().limits
    assert (limits.files, limits.depth, limits.bytes) == (7, 6, 2 * MIB)


def test_every_plain_setting_can_be_a_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The text is converted to the type of the setting, and overrides the file."""
    write("data = 'f'\n[site]\nenabled = true\nport = 1\nhost = '::1'")
    for name, value in {
        "SITE__ENABLED": "no",
        "SITE__PORT": "9",
        "DATA": "e",
        "SITE__NAMES": '["a.example"]',
        "SETTLE_QUIET": "0.5",
    }.items():
        monkeypatch.setenv(f"SKILLDROP_{name}", value)
    settings = load()
    assert settings.site.model_dump() == {
        "enabled": False,
        "host": "::1",
        "port": 9,
        "names": ("a.example",),
        "sql": None,
        "url": None,
        "behind_proxy": False,
        "reports": False,
    }
    assert settings.settle_quiet == 0.5
    assert settings.data == tmp_path / "e"


def test_a_relative_path_in_a_file_starts_from_its_folder(tmp_path: Path) -> None:
    """A configuration file has the same meaning in every working directory."""
    config = write("data = 'd'\n[[roots]]\npath = 'r'\n[[roots]]\npath = '../s'", "conf/my.toml")
    settings = load(config)
    assert [root.path for root in settings.root_specs] == [
        str(tmp_path / "conf" / "r"),
        str(tmp_path / "s"),
    ]
    assert settings.data == tmp_path / "conf" / "d"


def test_a_relative_path_of_the_command_line_starts_from_the_working_directory(
    tmp_path: Path,
) -> None:
    """As in a shell, whatever file is read."""
    settings = load(write("", "conf/my.toml"), watched=Path("w"), data=Path("d"))
    assert settings.root_specs[0].path == str(tmp_path / "w")
    assert settings.data == tmp_path / "d"


def test_paths_are_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` is the home folder; a root that is a link stays one, because its target may change."""
    for name in ("link", "other"):
        (tmp_path / name).symlink_to(f"real-{name}")
    write("watched = 'link'\ndata = 'other/data'\noutcomes = '~/outcomes'")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    settings = load()
    assert settings.root_specs[0].path == str(tmp_path / "link")
    assert settings.data == tmp_path / "real-other" / "data"
    assert settings.outcomes_folder == tmp_path / "home" / "outcomes"


def test_the_environment_may_name_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """SKILLDROP_CONFIG replaces --config, and --config overrides it."""
    write("rescan_every = 1")
    monkeypatch.setenv("SKILLDROP_CONFIG", str(write("rescan_every = 2", "two.toml")))
    assert load().rescan_every == 2
    assert load(write("rescan_every = 3", "three.toml")).rescan_every == 3


def test_a_byte_order_mark_is_ignored() -> None:
    """Some editors write one, and TOML does not allow it."""
    write("\ufeffrescan_every = 7")
    assert load().rescan_every == 7


def test_a_root_configures_how_its_skills_are_judged(tmp_path: Path) -> None:
    """Level, acceptance and profiles reach the catalog unchanged."""
    write("[[roots]]\npath = 'r'\nlevel = 'enterprise'\nacceptance = 'strict'\nprofiles = []")
    assert load().root_specs == (RootSpec(str(tmp_path / "r"), "enterprise", "strict", ()),)


@pytest.mark.parametrize(
    ("toml", "spec"),
    [
        pytest.param("", {}, id="nothing said"),
        pytest.param("budget_chars = 500", {"budget_chars": 500}, id="characters"),
        pytest.param(
            "context_window_tokens = 200_000",
            {"context_window_tokens": 200_000},
            id="2 % of the window",
        ),
        pytest.param("budget_tokens = 7", {"budget_tokens": 7}, id="tokens"),
        pytest.param("name = 'a_B-9'", {"name": "a_B-9"}, id="name"),
        pytest.param("overflow = 'fit'", {"overflow": "fit"}, id="overflow"),
        pytest.param(
            "levels = ['plugin']\ntags = ['t']\nnames = ['n', 'm']",
            {"levels": ("plugin",), "tags": ("t",), "names": ("n", "m")},
            id="filter",
        ),
        pytest.param(
            "featured = ['x']\nlanguage = 'zh'\nlocation_base = 'https://e.org/'",
            {"featured": ("x",), "language": "zh", "location_base": "https://e.org/"},
            id="the rest",
        ),
    ],
)
def test_every_setting_of_an_index_reaches_the_catalog(toml: str, spec: dict[str, Any]) -> None:
    """Every key of `[[indexes]]` is in IndexSpec."""
    write(f"[[indexes]]\n{toml}")
    assert load().indexes == (IndexSpec(**spec),)


@pytest.mark.parametrize(
    ("toml", "complaint"),
    [
        ("folow = 1", "there is no setting folow; did you mean follow?"),
        ("[site]\nprot = 1", "there is no setting prot in [site]; did you mean port?"),
        ("port = 1", "there is no setting port; did you mean port in a [site] table?"),
        ("budgte = 5", "no setting budgte; did you mean budget_chars in a list of "),
        ("zzz = 1", "there is no setting zzz; the settings are watched, data, roots, "),
        ("[site]\nport = 'x'", "port in [site] is 'x'; it must be a port from 1 to 65535."),
        ("[site]\nport = 70_000", "port in [site] is 70000; it must be a port from 1 to 65535."),
        ("[site]\nhost = ''", "host in [site] is ''; it must be an address or a host name."),
        ("[site]\nsql = 3", "sql in [site] is 3; it must be true or false."),
        ("[site]\nnames = ['']", "it must be a list of additional host names"),
        ("site = 3", "site is 3; it must be a [site] table."),
        ("[roots]\npath = '.'", "roots is a table; it must be a list of [[roots]] tables."),
        ("[[roots]]\npaht = '.'", "no setting paht in [[roots]] number 1; did you mean path?"),
        (
            "[[roots]]\npath = 'r'\nreview = 'some'",
            "review in [[roots]] number 1 is 'some'; it must be one of none, dangers, ",
        ),
        (
            "[[roots]]\npath = 'r'\nreview = 'findings'\nprofiles = ['spec']",
            'review = "findings" needs safety in profiles; add it',
        ),
        (
            "publish = 'in-place'\n[[roots]]\npath = 'r'\nreview = 'always'",
            "with publish = in-place agents read its folders at once; set publish to copy",
        ),
        ("settle_quiet = -1", "settle_quiet is -1; it must be a number of seconds, 0 or more."),
        ("settle_quiet = nan", "settle_quiet is nan; it must be a number of seconds"),
        ("rescan_every = 0", "rescan_every is 0; it must be a number of seconds above 0."),
        (
            "settle_quiet = 301",
            "settle_longest (300 s) is shorter than settle_quiet (301 s); ",
        ),
        ("watched = ''", "watched is ''; it must be the path of a directory."),
        ("watched = 3", "watched is 3; it must be the path of a directory."),
        ("data = '~nobody-has-this-name'", "it must be the path of a directory."),
        ("data = ''", "data is ''; it must be the path of a directory."),
        ("watched = '.'", "the data directory "),
        ("watched = 'var/outcomes'", "and the root "),
        ("usage = 2", "usage is 2; it must be true or false."),
        ("roots = 1", "roots is 1; it must be a list of [[roots]] tables."),
        ("roots = [1]", "[[roots]] number 1 must be a table."),
        ("[[roots]]", "[[roots]] number 1 has no path; it must be the path of a directory."),
        (
            "[[roots]]\npath = 'a'\n[[roots]]\npath = 'b'\nlevel = 'x'",
            "level in [[roots]] number 2 is 'x'; it must be one of enterprise, personal, project, ",
        ),
        (
            "[[roots]]\npath = 'a'\nlevle = 'x'",
            "there is no setting levle in [[roots]] number 1; did you mean level?",
        ),
        ("[[roots]]\npath = 'a'\nacceptance = 'x'", "it must be one of strict, lenient, "),
        (
            "[[roots]]\npath = 'a'\nprofiles = ['reading']",
            "it must be a list of profiles; `",
        ),
        ("[limits]\nfiles = 0", "files in [limits] is 0; it must be a whole number of files"),
        ("[limits]\nbytes = 'many'", "bytes in [limits] is 'many'; it must be a number of bytes"),
        ("[limits]\nfils = 1", "there is no setting fils in [limits]; did you mean files?"),
        ("limits = 1", "limits is 1; it must be a [limits] table."),
        (
            "[[indexes]]\nname = 'a b'",
            "name in [[indexes]] number 1 is 'a b'; it must be a name of ",
        ),
        (
            "[[indexes]]\nname = '../a'",
            "name in [[indexes]] number 1 is '../a'; it must be a name of ",
        ),
        (
            '[[indexes]]\nname = "a\\n"',
            r"name in [[indexes]] number 1 is 'a\n'; it must be a name of ",
        ),
        ("[[indexes]]\nname = ''", "name in [[indexes]] number 1 is ''; it must be a name"),
        ("[[indexes]]\n[[indexes]]", "2 indexes are named default; give each a different name."),
        ("[[indexes]]\nformat = 'html'", "format in [[indexes]] number 1 is 'html'; it must be "),
        ("[[indexes]]\noverflow = 'spill'", "it must be one of fit, exclude."),
        ("[[indexes]]\nlevels = ['x']", "it must be a list of levels: enterprise, "),
        ("[[indexes]]\nbudget_chars = 0", "it must be a whole number of characters above 0."),
        ("[[indexes]]\ncontext_window_tokens = -1", "must be a whole number of tokens above 0."),
        (
            "[[indexes]]\nbudget_chars = 1\ncontext_window_tokens = 1",
            "[[indexes]] number 1 has budget_chars and context_window_tokens; keep only one",
        ),
        ("data = ", "the file is not valid TOML: "),
    ],
)
def test_an_invalid_setting_is_named(toml: str, complaint: str) -> None:
    """One sentence gives the file, the key and the allowed values."""
    write(toml)
    with pytest.raises(NotPossible) as caught:
        load()
    assert complaint in str(caught.value)
    assert str(caught.value).startswith("skilldrop.toml: ")
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="pathlib resolves a loop of links there")
@pytest.mark.parametrize(
    ("toml", "source"),
    [("", "The defaults"), ("watched = 'watched'", "skilldrop.toml"), ("data = 'watched'", "")],
)
def test_a_loop_of_links_is_no_directory(toml: str, source: str) -> None:
    """The message names its source, even if that is the default."""
    Path("watched").symlink_to("watched")
    write(toml)
    with pytest.raises(NotPossible, match="it must be the path of a directory") as caught:
        load()
    assert str(caught.value).startswith(source)


@pytest.mark.parametrize(
    ("variable", "value", "complaint"),
    [
        ("SKILLDROP_SITE__PORT", "x", "The environment: port in [site] is 'x'; it must be a port"),
        ("SKILLDROP_ROOTS", "[", "The environment: SKILLDROP_ROOTS is not valid JSON"),
        ("SKILLDROP_WATCH", "a", "WATCH is not a setting; did you mean SKILLDROP_WATCHED?"),
        ("SKILLDROP_PORT", "1", "PORT is not a setting; did you mean SKILLDROP_SITE__PORT?"),
        ("SKILLDROP_LIMITS__FILES", "-1", "The environment: files in [limits] is '-1'"),
        ("SKILLDROP_LIMITS__FILS", "1", "The environment: there is no setting fils in [limits]"),
    ],
)
def test_an_invalid_variable_is_named_instead_of_the_file(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, complaint: str
) -> None:
    """The valid value in the file is not blamed for the variable that overrides it."""
    write("site = {port = 1}\nlimits = {files = 1}")
    monkeypatch.setenv(variable, value)
    with pytest.raises(NotPossible) as caught:
        load()
    assert complaint in str(caught.value)
    assert "skilldrop.toml" not in str(caught.value)


def test_a_variable_that_is_no_setting_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would have no effect; the variables of other programs have other prefixes."""
    monkeypatch.setenv("SKILLDROP_TOKEN", "of skilldrop pull")
    assert load() == Settings()
    monkeypatch.setenv("SKILLDROP_BACKUP_BUCKET", "x")
    with pytest.raises(NotPossible, match="SKILLDROP_BACKUP_BUCKET is not a setting; the settings"):
        load()


def test_a_variable_of_a_table_needs_two_underscores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest name is that of the key in its table."""
    monkeypatch.setenv("SKILLDROP_SITE_PORT", "3")
    with pytest.raises(NotPossible, match="did you mean SKILLDROP_SITE__PORT"):
        load()


@pytest.mark.parametrize(
    ("roots", "data", "complaint"),
    [
        pytest.param(["a", "b"], "d", None, id="apart"),
        pytest.param(["a", "ab"], "abc", None, id="a name that begins like another"),
        pytest.param(["a", "./x/../a"], "d", "is configured twice", id="the same twice"),
        pytest.param(["a", "link"], "d", "is configured twice", id="the same through a link"),
        pytest.param(["a", "a/b"], "d", "a/b is inside another root", id="root in root"),
        pytest.param(["a/b", "a"], "d", "a/b is inside another root", id="root around root"),
        pytest.param(["a"], "a/d", "data directory", id="data in a root"),
        pytest.param(["d/a"], "d", "data directory", id="root in the data"),
        pytest.param(["a"], "a", "data directory", id="data is a root"),
        pytest.param(["a"], "link/d", "data directory", id="data in a root through a link"),
    ],
)
def test_nested_directories_are_refused(
    tmp_path: Path, roots: list[str], data: str, complaint: str | None
) -> None:
    """No folder is watched twice, and no published folder is taken for a skill."""
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to("a")
    write("".join([f"data = '{data}'\n", *(f"[[roots]]\npath = '{path}'\n" for path in roots)]))
    if complaint is None:
        assert len(load().root_specs) == len(roots)
        return
    with pytest.raises(NotPossible, match=complaint):
        load()


def test_data_of_the_command_line_is_checked_against_the_roots_of_the_file(
    tmp_path: Path,
) -> None:
    """If they only conflict together, the message names both sources."""
    write("watched = 'w'")
    with pytest.raises(NotPossible) as caught:
        load(data=Path("w/data"))
    assert str(caught.value) == (
        f"skilldrop.toml and the command line: the data directory {tmp_path}/w/data and the root "
        f"{tmp_path}/w are inside one another; move the data directory elsewhere."
    )


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        pytest.param(None, "missing.toml cannot be read: No such file", id="missing"),
        pytest.param(
            b"port = 1\n# \xff",
            r"missing.toml: the file is not valid UTF-8 \(byte 11\)",
            id="not UTF-8",
        ),
    ],
)
def test_an_unreadable_configuration_file_is_named(content: bytes | None, complaint: str) -> None:
    """A file given by name must exist and be text."""
    if content is not None:
        Path("missing.toml").write_bytes(content)
    with pytest.raises(NotPossible, match=complaint):
        load(Path("missing.toml"))


@pytest.mark.requirement("client-guide/places", "textbook/levels-places")
def test_the_sample_configuration_maps_the_places_that_agents_use(tmp_path: Path) -> None:
    """It can be copied into a project unchanged."""
    (tmp_path / "project").mkdir()
    sample = Path(shutil.copy(REPOSITORY / "docs/skilldrop.toml", tmp_path / "project"))
    assert [(spec.path, spec.level) for spec in load(sample).root_specs] == [
        ("/srv/skills/company", "enterprise"),
        (f"{tmp_path}/.config/opencode/skills", "personal"),
        (f"{tmp_path}/.claude/skills", "personal"),
        (f"{tmp_path}/project/.opencode/skills", "project"),
        (f"{tmp_path}/project/.claude/skills", "project"),
        (f"{tmp_path}/project/.agents/skills", "project"),
        (f"{tmp_path}/project/plugins", "plugin"),
    ]


def test_directories_of_links_start_from_the_file_or_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has a filter of its own, or that of an index, and perhaps an agent that reads it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    settings = load(
        write(
            '[[links]]\npath = "~/.claude/skills"\nindex = "default"\n'
            '[[links]]\npath = "agent"\nlevels = ["enterprise"]\ntags = ["office"]\n',
            "conf/skilldrop.toml",
        )
    )
    claude: Any = {"for": "claude-code"}
    assert settings.links == (
        LinkedDirectory(f"{tmp_path}/home/.claude/skills", index="default", **claude),
        LinkedDirectory(f"{tmp_path}/conf/agent", levels=("enterprise",), tags=("office",)),
    )


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ('path = "watched/x"', "and the root .* are inside one another"),
        ('path = "."', "are inside one another"),
        ('path = "var/skills"', "agents can be pointed at .*var/skills without"),
        ('path = "a"\n[[links]]\npath = "b/../a"', "2 .* have the path .*/a; keep one"),
        ('path = "a"\nindex = "none"', "of the index none, but the indexes are: default"),
        ('path = "a"\nindex = "default"\ntags = ["x"]', "number 1 has index and a filter"),
        ("index = 'a'", r"\[\[links\]\] number 1 has no path"),
        ('path = "a"\nfit = true', "number 1 has fit, but no agent is known for it"),
        ('path = ".claude/skills"\nfinder = "A b"', "finder in .* is 'A b'; it must be a name of"),
        ('path = "a"\nfor = 1', "for in .* is 1; it must be the name of an agent"),
        ('path = "a"\nfor = "nobody"', "are for nobody, but the known agents are: claude-code, "),
    ],
)
def test_impossible_directories_of_links_are_refused(links: str, message: str) -> None:
    """One sentence names the directory and the reason."""
    with pytest.raises(NotPossible, match=message):
        load(write(f"[[links]]\n{links}\n"))


def test_the_users_file_counts_where_the_working_directory_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So an installed program works from any directory; a file there, or a named one, wins."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    write("rescan_every = 1\ndata = 'd'", "home/.config/skilldrop/skilldrop.toml")
    settings = load()
    assert (settings.rescan_every, settings.data) == (1, tmp_path / "home/.config/skilldrop/d")
    assert load(write("rescan_every = 3", "three.toml")).rescan_every == 3
    write("rescan_every = 2")
    assert load().rescan_every == 2


def test_the_default_folders_lie_beside_the_settings_file(tmp_path: Path) -> None:
    """The working directory of a command does not decide on them; without a file it does."""
    settings = load(write("", "conf/my.toml"))
    assert settings.root_specs[0].path == str(tmp_path / "conf/watched")
    assert settings.data == tmp_path / "conf/var"


@pytest.mark.parametrize(
    ("toml", "hint"),
    [
        ("[[roots]]\npath = 'r'\nlevel = 'enterprize'", "Did you mean enterprise?"),
        ("[[indexes]]\nformat = 'markdwon'", "Did you mean markdown?"),
        ("[[hooks]]\nname = 'a'\non = ['publshed']\nurl = 'http://x/'", "Did you mean published?"),
        ("[validate]\nignore = ['descripton-short']", "the nearest is description-short"),
        ("[validate]\nignroe = []", "did you mean ignore?"),
    ],
)
def test_a_mistyped_value_gets_the_nearest_one(toml: str, hint: str) -> None:
    """As an unknown key does."""
    write(toml)
    with pytest.raises(NotPossible) as caught:
        load()
    assert hint in str(caught.value)
