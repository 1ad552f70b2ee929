"""Prompts: skills that a user may start, with their arguments."""

from collections.abc import Iterator
from typing import Any

import pytest
from mcp import Client, MCPError

from catalog.mcp.prompts import filled
from tests.support.mcp_servers import in_process, session
from tests.support.shelf import Shelf
from tests.support.skills import write_skill


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """Return a shelf with skills for users, for models and for both."""
    made = Shelf(tmp_path_factory.mktemp("prompts"))
    write_skill(made.root / "for-all")
    write_skill(made.root / "for-models", more="user-invocable: false")
    write_skill(
        made.root / "for-people",
        more="disable-model-invocation: true\narguments: [file, mode]\nargument-hint: '[file] [m]'",
        body="Open $file with care.\n",
    )
    write_skill(made.root / "hinted", more="argument-hint: a file", body="Do $ARGUMENTS now.\n")
    made.scan()
    yield made
    made.close()


@pytest.mark.requirement("client-guide/user")
def test_prompts_are_the_skills_that_a_user_may_start(shelf: Shelf) -> None:
    """Also those that no model may start; each says which arguments it takes."""

    async def work(client: Client) -> Any:
        return (await client.list_prompts()).prompts

    prompts = {prompt.name: prompt for prompt in session(in_process(shelf), work)}
    assert list(prompts) == ["for-all", "for-people", "hinted"]
    assert prompts["for-all"].arguments is None
    declared = {
        name: [(a.name, a.description, a.required) for a in prompts[name].arguments]
        for name in ("for-people", "hinted")
    }
    assert declared == {
        "for-people": [("file", "[file] [m]", False), ("mode", "[file] [m]", False)],
        "hinted": [("arguments", "a file", False)],
    }


def test_a_prompt_is_the_wrapped_skill_with_its_arguments(shelf: Shelf) -> None:
    """A value without a place in the text stands below it."""

    async def work(client: Client) -> list[str]:
        return [
            (await client.get_prompt(name, values)).messages[0].content.text  # type: ignore[union-attr]
            for name, values in (
                ("for-people", {"file": "a.md", "mode": "fast"}),
                ("for-people", {}),
                ("hinted", {"arguments": "this and that"}),
            )
        ]

    people, without, hinted = session(in_process(shelf), work)
    assert people.startswith('<skill_content name="for-people">\nOpen a.md with care.\n')
    assert people.endswith("</skill_content>\n\nmode: fast")
    assert "Open $file with care." in without
    assert "Do this and that now." in hinted


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("for-models", {}, "There is no skill 'for-models' that a user may start."),
        ("nowhere", {}, "There is no skill 'nowhere' that a user may start."),
        ("for-all", {"x": "1"}, "The prompt 'for-all' has no argument 'x'."),
    ],
)
def test_a_wrong_prompt_is_an_error(
    shelf: Shelf, name: str, values: dict[str, str], expected: str
) -> None:
    """One sentence for a name or an argument that is not there."""

    async def work(client: Client) -> MCPError:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt(name, values)
        return caught.value

    error = session(in_process(shelf), work)
    assert (error.error.code, error.error.message) == (-32602, expected)


def test_values_are_filled_in_once() -> None:
    """A value that looks like a place is left as the user wrote it."""
    values = {"a": "$b", "b": "2", "arguments": "all"}
    assert filled("$a $b $c $ARGUMENTS $a", values) == "$b 2 $c all $b"
