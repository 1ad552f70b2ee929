"""Words of the frontmatter, beside name, description and tags, that a search finds."""

from collections.abc import Iterator, Mapping

from catalog.model.values import Json
from pipeline.validation.declaration import Declaration
from pipeline.validation.dialect import Dialects

METADATA = (
    "keywords",
    "category",
    "domain",
    "capabilities",
    "triggers",
    "phrases",
    "intents",
    "languages",
    "frameworks",
)
"""Keys of the free `metadata` map whose texts are searched, with those in lists and maps."""
MOST_CHARACTERS = 4000
"""Characters of all these words of a skill, at most."""


def of(
    frontmatter: Mapping[str, Json], declaration: Declaration, dialects: Dialects
) -> tuple[str, ...]:
    """Return the distinct words and phrases that the fields of all systems declare."""
    common = declaration.common
    metadata = frontmatter.get("metadata")
    free = metadata if isinstance(metadata, Mapping) else {}
    triggers = frontmatter.get("triggers")
    words = [
        *common.keywords,
        common.category,
        common.when_to_use,
        *(_texts(triggers) if isinstance(triggers, list | tuple) else ()),
        *(text for key in METADATA for text in _texts(free.get(key))),
        *(
            word
            for dialect in dialects
            if dialect.model in declaration.own
            for word in dialect.search_words(declaration.own[dialect.model])
        ),
    ]
    return tuple(_within(dict.fromkeys(word for word in words if word)))


def _texts(value: Json) -> Iterator[str]:
    """Yield the texts of a value and of the lists and maps in it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _within(words: Mapping[str, None]) -> Iterator[str]:
    """Yield words up to the limit."""
    left = MOST_CHARACTERS
    for word in words:
        if len(word) > left:
            return
        left -= len(word)
        yield word
