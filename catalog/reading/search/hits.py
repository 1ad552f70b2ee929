"""Hits of a search, each with a snippet of its text around a match."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from catalog.database.expressions import FOLDER_NAME
from catalog.database.queries import Database, Row, to_json
from catalog.prompt_index.locations import Bases, Locations
from catalog.prompt_index.query import bases_of
from catalog.reading.search.stemmer import stem
from catalog.text import search_terms, truncate

BEFORE, LENGTH = 60, 200
"""Characters of a snippet before the match, and in all, at most."""
WIDTH = LENGTH - BEFORE
LOOKED_AT = 6_000
"""Characters of a body in which a better snippet than one of the description is looked for."""
MOST_MATCHES, ENOUGH = 20, 2
"""Matches of a text, the first ones, among which the snippet is chosen; different words in it for
which no other text is read."""

_BLOCK_END = re.compile(r"\n\s*\n|\n\s*(?=[-*+>#|] |[#`~]{2}|\||\d+[.)]\s)")
_LINK = re.compile(r"!?\[\[?([^\]\n]*)\](?:\]|\([^)\s]*\)?)")
_MARKUP = re.compile(
    r"^\s*(?:[-+*>#|]+|\d+[.)])\s+|[`~]{3}\w*|`|\*{2,}|(?<!\w)\*(?=\w)|(?<=[\w.,:;!?)])\*(?!\w)"
    r"|\\$|\s\|(?=\s|$)",
    re.MULTILINE,
)


def excerpt(
    texts: Iterable[str], words: "Words", marks: tuple[str, str], enough: int = 1
) -> str | None:
    """Return a snippet, in one line, of the text that has most different words close together.

    It is from one paragraph, item or row of the text, without its Markdown. The first text with
    `enough` words will do, and after two texts one with any word. None without a match.
    """
    best, of_text, at = 0, "", None
    for number, text in enumerate(texts):
        if best >= max(1, enough - number // 2):
            break
        matches = list(islice(words.in_text(text), MOST_MATCHES))
        for n, match in enumerate(matches):
            end = min(match.start() + WIDTH, _block_end(text, match.end()))
            near = len({each[0].lower() for each in matches[n:] if each.end() <= end})
            if near > best:
                best, of_text, at = near, text, match
    return _excerpt(of_text, at, words, marks) if at else None


def _block_end(text: str, at: int) -> int:
    end = _BLOCK_END.search(text, at)
    return end.start() if end else len(text)


def _excerpt(text: str, match: "re.Match[str]", words: "Words", marks: tuple[str, str]) -> str:
    least = max(match.start() - BEFORE, 0)
    begins = [each.end() for each in _BLOCK_END.finditer(text, least, match.start())]
    start, block_end = begins[-1] if begins else least, _block_end(text, match.end())
    shown = text[start : min(start + LENGTH, block_end)]
    cut_before, cut_after = start > 0 and not begins, start + LENGTH < block_end
    if cut_before:  # at a space, if there is one: Chinese has none
        shown = shown[shown.find(" ", 0, match.start() - start) + 1 :]
    if cut_after and " " in shown[match.end() - start :]:
        shown = shown.rpartition(" ")[0]
    plain = _MARKUP.sub("", _LINK.sub(r"\1", shown))
    marked = words.marked(" ".join(plain.split()), marks)
    return f"{'…' if cut_before else ''}{marked}{'…' if cut_after else ''}"


class Words:
    """Words of a query as they stand in texts: by their stems as in the index, or by a beginning.

    A word with an asterisk is the beginning of others.
    """

    def __init__(self, words: str) -> None:
        self._beginnings: tuple[str, ...] = ()
        self._stems, pieces, heads = set(), [], []
        for word, star in re.findall(r"([^\W_]+)(\*?)", words.lower()):
            for run in search_terms.CJK_RUN.findall(word):
                pieces += [run, *search_terms.pieces(run)]
            for rest in filter(None, search_terms.CJK_RUN.split(word)):
                head = rest if star else stem(rest)
                self._stems.add(stem(rest))
                self._beginnings += (rest,) * bool(star)
                while not rest.startswith(head):  # `seri` is the stem of series, `happi` of happy
                    head = head[:-1] or rest[0]
                heads.append(head)
        either, starts = ("|".join(map(re.escape, each)) or "(?!)" for each in (pieces, heads))
        first = "".join(each[0] + each[0].upper() for each in (*pieces, *heads)) or "_"
        self._pattern = re.compile(  # most characters of a text begin none
            rf"(?=[{first}])(?i:(?P<piece>{either})|(?<![^\W_])(?:{starts})[^\W_]*)"
        )

    def in_text(self, text: str) -> "Iterator[re.Match[str]]":
        """Yield the matches in a text."""
        return (each for each in self._pattern.finditer(text) if self._is_meant(each))

    def marked(self, text: str, marks: tuple[str, str]) -> str:
        """Return a text with its matches between marks, which it has nowhere else."""
        return self._pattern.sub(
            lambda each: f"{marks[0]}{each[0]}{marks[1]}" if self._is_meant(each) else each[0],
            _without(text, marks),
        )

    def _is_meant(self, match: "re.Match[str]") -> bool:
        word = match[0].lower()
        return bool(
            match["piece"] or word.startswith(self._beginnings) or stem(word) in self._stems
        )


def _without(text: str, marks: tuple[str, str]) -> str:
    """Remove marks that are in the text already, if they are invisible characters."""
    for mark in marks:
        text = text if mark.isprintable() else text.replace(mark, "")
    return text


SHOWN_OTHERS = 3
"""Paths of other skills of a name that come with a hit."""


@dataclass(frozen=True, slots=True)
class Others:
    """Other active and shadowed skills of one name."""

    count: int
    first: tuple[str, ...]  # paths of some of their folders
    rows: tuple[int, ...]  # and their rows


@dataclass(frozen=True, slots=True)
class Hit:
    """Skill found by a search."""

    id: int
    skill_id: str
    name: str
    description: str
    status: str
    level: str
    version: str | None
    score: float  # higher is better; comparable within one search only
    matched: tuple[str, ...]  # terms of the query
    snippet: str  # text around the match, which is between marks, or the reason of the status
    location: str
    others: Others


def hits(
    db: Database,
    skills: Sequence[int],
    scores: Mapping[int, float],
    expressions: Mapping[str, str],
    words: str,
    marks: tuple[str, str],
) -> tuple[Hit, ...]:
    """Return the hits for these skills, in their order; the words are marked in the snippets."""
    matched = _matched(db, expressions, skills)
    rows = db.rows(_HITS, {"ids": to_json(list(skills))})
    # Only published hits have a path below a base, for which the query looks at all skills.
    is_published = any(row["package_path"] or row["folder"] for row in rows)
    locations = Locations(bases_of(db) if is_published else Bases())
    in_texts = Words(words)
    return tuple(
        Hit(
            row["id"],
            row["skill_id"],
            row["name"],
            row["description"],
            row["status"],
            row["level"],
            row["version"],
            round(scores.get(row["id"], 0.0), 3),
            tuple(matched[row["id"]]),
            _snippet(row, in_texts, marks, len(matched[row["id"]])),
            locations.of_skill_md(row),
            _others(row),
        )
        for row in rows
    )


def _matched(
    db: Database, expressions: Mapping[str, str], skills: Iterable[int]
) -> dict[int, list[str]]:
    """Return the terms of the query that each skill has."""
    matched: dict[int, list[str]] = {skill: [] for skill in skills}
    wanted = to_json(list(matched))
    for text, expression in expressions.items():
        for (skill,) in db.execute(_HAVING, {"match": expression, "skills": wanted}):
            matched[skill].append(text)
    return matched


def said_and_found(hit: Hit, words: Words, marks: tuple[str, str]) -> tuple[str, str]:
    """Return the first sentence of a description with its matches, and the snippet if it adds one.

    The snippet is "" if its matches are those of the sentence.
    """
    said = next(iter(truncate.sentences(hit.description)), "")
    known, found = ({m[0].lower() for m in words.in_text(text)} for text in (said, hit.snippet))
    return words.marked(said, marks), hit.snippet if found - known else ""


def _snippet(row: Row, words: Words, marks: tuple[str, str], number: int) -> str:
    body = row["body"] or ""
    texts = (row["description"], body[:LOOKED_AT], body)
    instead = " ".join((row["description"] or row["status_reason"] or "").split())
    found = excerpt(texts, words, marks, min(number, ENOUGH))
    return found or truncate.shorten(instead, LENGTH)


def _others(row: Row) -> Others:
    others = json.loads(row["others"])
    paths, rows = zip(*others, strict=True) if others else ((), ())
    return Others(row["other_count"], paths, rows)


_OTHERS = (
    "FROM skills WHERE skill_id = s.skill_id AND id != s.id AND status IN ('active', 'shadowed')"
)
_HITS = f"""
    SELECT s.id, s.name, s.description, s.status, s.status_reason, s.level, v.version,
           s.skill_id, s.root, s.path, s.skill_md_name, s.package_path,
           {FOLDER_NAME} AS folder,
           (SELECT body FROM searched_texts WHERE id = s.id) AS body,
           (SELECT count(*) {_OTHERS}) AS other_count,
           (SELECT json_group_array(json_array(place, id)) FROM
               (SELECT root || '/' || path AS place, id {_OTHERS}
                ORDER BY status, id LIMIT {SHOWN_OTHERS})) AS others
    FROM json_each(:ids) AS wanted CROSS JOIN skills AS s ON s.id = wanted.value
    LEFT JOIN versions AS v ON v.id = s.current_version_id
    ORDER BY wanted.key
"""
_HAVING = """
    SELECT f.rowid FROM json_each(:skills) AS wanted
    CROSS JOIN skill_text_fts AS f ON f.rowid = wanted.value WHERE skill_text_fts MATCH :match
"""
