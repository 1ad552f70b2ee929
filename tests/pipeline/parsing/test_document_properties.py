from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.parsing.document import Parsed, parse

QUICK = settings(max_examples=150, derandomize=True, deadline=None, database=None)
REPAIRS = {
    "unquoted-colon",
    "unquoted-value",
    "closing-fence-missing",
    "fence-not-alone",
}

pieces = st.sampled_from(
    [
        "---",
        "---\n",
        "\n",
        "\n\n",
        "name: a\n",
        "description: b\n",
        "x: y: z\n",
        "x: @y\n",
        "x: [a] [b]\n",
        "x: *y\n",
        "x: &y z\n",
        "x:\n\ty: z\n",
        "x:\n  y: z\n",
        "...\n",
        " ---\n",
        "# T\n",
        "\n# T\n\n",
        "text\n",
        "- a\n",
        "|\n",
        "'",
        '"',
        "\t",
        "\r\n",
        "\r",
        "\0",
        "\ufeff",
        "\u2028",
        "!a ",
        "{",
        "]",
        "#",
        ":",
        " ",
        "é",
        "<<<<<<< a\n",
        "=======\n",
        ">>>>>>> b\n",
    ]
)
texts = st.lists(pieces, max_size=14).map("".join)
skills = texts.map(lambda text: f"---\nname: a\n{text}\n---\nbody\n")
values = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufeff\u2028\u2029"),
    max_size=30,
)


def codes(parsed: Parsed) -> set[str]:
    """Return the codes of what was found."""
    return {each.code for each in parsed.findings}


@QUICK
@given(
    st.one_of(
        st.binary(max_size=300),
        st.one_of(texts, skills).map(str.encode),
        texts.map(lambda text: text.encode("utf-16")),
    )
)
def test_any_bytes_are_read_and_read_alike(data: bytes) -> None:
    """Parsing never raises, and the same bytes give the same value."""
    parsed = parse(data)
    assert parsed == parse(data)
    if parsed.frontmatter is None:
        assert parsed.findings
    last = parsed.text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    assert all(each.line is not None and 1 <= each.line <= last for each in parsed.findings)


@QUICK
@given(st.one_of(texts, skills))
def test_a_file_rewritten_as_it_was_read_needs_no_repair(text: str) -> None:
    """Each repair reports its exact change; made in the file, it is not needed again."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    parsed = parse(text.encode())
    rewritten = text
    # From the bottom up, so that a line that is put in does not move the next change.
    for repair in sorted(parsed.findings, key=lambda each: -(each.line or 0)):
        if repair.before is not None and repair.after is not None and repair.line is not None:
            lines = rewritten.split("\n")
            first, count = repair.line - 1, repair.before.count("\n") + 1
            lines[first : first + count] = repair.after.split("\n")
            rewritten = "\n".join(lines)
    again = parse(rewritten.encode())
    assert again.frontmatter == parsed.frontmatter
    if parsed.frontmatter is not None:
        assert not codes(again) & REPAIRS


@QUICK
@given(skills)
def test_line_ends_and_byte_order_mark_change_no_field(text: str) -> None:
    """LF, CRLF or a byte order mark do not change the content."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    parsed = parse(text.encode())
    crlf = parse(text.replace("\n", "\r\n").encode())
    marked = parse(b"\xef\xbb\xbf" + text.encode())
    assert parsed.frontmatter == crlf.frontmatter == marked.frontmatter
    assert parsed.positions == crlf.positions == marked.positions
    assert (parsed.body, parsed.body_line) == (crlf.body, crlf.body_line)
    assert codes(marked) - {"byte-order-mark"} == codes(parsed) == codes(crlf)


@QUICK
@given(values)
def test_any_quoted_text_comes_back(value: str) -> None:
    """Any text in single quotes on one line is the value: dashes, colons, brackets."""
    quoted = value.replace("'", "''")
    parsed = parse(f"---\nname: a\ndescription: '{quoted}'\n---\n{value}".encode())
    assert parsed.frontmatter == {"name": "a", "description": value}


@QUICK
@given(st.text("abc :@-`*", max_size=20))
def test_an_unquoted_line_is_read_as_yaml_or_as_it_stands(value: str) -> None:
    """A repair never loses a character of the value."""
    parsed = parse(f"---\nname: a\ndescription: {value}\n---\nbody".encode())
    if codes(parsed) & {"unquoted-colon", "unquoted-value"}:
        assert parsed.frontmatter is not None
        assert parsed.frontmatter["description"] == value.strip()
