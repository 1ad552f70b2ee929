import pytest

from pipeline.dialects.apexbridge.code_block import code_block


@pytest.mark.requirement("apexbridge/code-block")
@pytest.mark.parametrize(
    ("text", "ending", "code"),
    [
        pytest.param("## 代码\n\n```typescript\na\nb\n```\n", "ts", "a\nb\n", id="Chinese"),
        pytest.param("# Code\n```py\na\n```", "py", "a\n", id="English, no blank line"),
        pytest.param("## 3. Code:\n~~~bash\na\n~~~", "sh", "a\n", id="numbered, tildes"),
        pytest.param("## 💻 Code 💻\n```\na\n```", "ts", "a\n", id="no language"),
        pytest.param(
            "## Code\n````js\n```\na\n```\n````", "js", "```\na\n```\n", id="a fence in it"
        ),
        pytest.param("## Code\n### Part\n```ts\na\n```", "ts", "a\n", id="below a lower heading"),
        pytest.param(
            "## Use\n```sh\nx\n```\n## Code\n```ts\na\n```\n```ts\nb\n```",
            "ts",
            "a\n",
            id="the first of its section alone",
        ),
        pytest.param(
            "```\n## Code\n```\n## Code\n```js\na\n```",
            "js",
            "a\n",
            id="a heading in a code block is none",
        ),
        pytest.param("## Code\n```ts\n```", "ts", "", id="empty"),
    ],
)
def test_the_code_below_its_heading_is_found(text: str, ending: str, code: str) -> None:
    """A code block is found with any language, numbering and fence."""
    found = code_block(text)
    assert found
    assert (found.ending, found.code) == (ending, code)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("## Examples\n```ts\na\n```", id="another heading"),
        pytest.param("## Code\n\nSee scripts/.\n\n## Examples\n```ts\na\n```", id="no block in it"),
        pytest.param("## Code\n```ts\na\n", id="never closed"),
        pytest.param("## Code review\n```ts\na\n```", id="a longer heading"),
        pytest.param("Code\n```ts\na\n```", id="no heading"),
    ],
)
def test_other_code_is_left_alone(text: str) -> None:
    """Only a closed block in a code section counts."""
    assert code_block(text) is None
