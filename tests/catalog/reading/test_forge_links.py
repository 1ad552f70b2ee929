"""Web pages of repositories on well-known forges."""

import pytest

from catalog.reading import forge_links


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("https://github.com/a/b.git", "https://github.com/a/b/tree/c0ffee/skills/x%20y"),
        ("https://gitlab.com/g/s/b", "https://gitlab.com/g/s/b/-/tree/c0ffee/skills/x%20y"),
        ("https://bitbucket.org/a/b", "https://bitbucket.org/a/b/src/c0ffee/skills/x%20y"),
        ("https://codeberg.org/a/b", "https://codeberg.org/a/b/src/commit/c0ffee/skills/x%20y"),
        ("https://git.sr.ht/~a/b", "https://git.sr.ht/~a/b/tree/c0ffee/item/skills/x%20y"),
        ("https://user:secret@github.com/a/b", "https://github.com/a/b/tree/c0ffee/skills/x%20y"),
        ("git@github.com:a/b.git", None),
        ("ssh://git@github.com/a/b.git", None),
        ("file:///srv/b.git", None),
        ("https://git.example.org/a/b", None),
        ("https://github.com:8443/a/b", None),
        ("https://github.com", None),
    ],
)
def test_a_folder_at_a_commit_has_a_page(url: str, page: str | None) -> None:
    """Only of http or https and of known hosts; without credentials."""
    assert forge_links.page(url, "c0ffee", "skills", "x y") == page
    assert "secret" not in forge_links.label(url)


def test_the_whole_repository_has_a_page() -> None:
    """Without a commit it is that of the default branch."""
    assert forge_links.page("https://github.com/a/b", None, "x") == "https://github.com/a/b"
    assert forge_links.page("https://git.sr.ht/~a/b", "c0") == "https://git.sr.ht/~a/b/tree/c0"
    assert forge_links.label("https://github.com/a/b.git") == "github.com/a/b"
