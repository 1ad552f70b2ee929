"""Judgements of skills as SARIF 2.1.0, the form in which code scanning takes findings."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from urllib.parse import quote

from catalog.model.finding import Finding, FindingType
from catalog.model.paths import os_path
from catalog.model.values import Json, Severity
from catalog.text.line_ends import with_plain_line_ends
from pipeline.authoring.lint import Judgement
from pipeline.cli.output.finding_types import REGISTRY

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_BASE = "%SRCROOT%"
_LEVELS: Mapping[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
_RULE_INDEX = {code: number for number, code in enumerate(REGISTRY)}


def sarif(judged: Iterable[Judgement]) -> Iterator[str]:
    """Yield one log with one run: first every rule there is, then a result at a time.

    Source: SARIF 2.1.0 (OASIS). Paths are URIs, relative to the directory of the run where the
    author's were; columns count characters.
    """
    run: dict[str, Json] = {
        "tool": {
            "driver": {
                "name": "skilldrop",
                "version": version("skilldrop"),
                "rules": [_rule(kind) for kind in REGISTRY.values()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            _BASE: {"description": {"text": "The directory in which skilldrop was run."}},
        },
    }
    opening = json.dumps(run).removesuffix("}")
    yield f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [{opening}, "results": ['
    comma = ""
    for result in _results(judged):
        yield comma + json.dumps(result)
        comma = ","
    yield "]}]}"


def _rule(kind: FindingType) -> Json:
    return {
        "id": kind.code,
        "shortDescription": {"text": kind.summary},
        "fullDescription": {"text": f"{kind.summary} Source: {kind.source}."},
        "help": {"text": kind.fix, "markdown": f"{kind.fix}\n\nSource: {kind.source}."},
        "defaultConfiguration": {"level": _LEVELS[kind.severity]},
        "properties": {"tags": [kind.profile]},
    }


def _results(judged: Iterable[Judgement]) -> Iterator[Json]:
    for judgement in judged:
        lines = with_plain_line_ends(judgement.text).split("\n")
        alike: Counter[str] = Counter()
        for found in judgement.findings:
            print_ = _fingerprint(judgement, found, lines)
            alike[print_] += 1
            yield _result(judgement, found, f"{print_}:{alike[print_]}")


def _result(judgement: Judgement, found: Finding, fingerprint: str) -> Json:
    place: dict[str, Json] = {"artifactLocation": _artifact(judgement.file(found))}
    if found.line:
        place["region"] = {
            "startLine": found.line,
            **({"startColumn": found.column} if found.column else {}),
        }
    return {
        "ruleId": found.code,
        "ruleIndex": _RULE_INDEX[found.code],
        "level": _LEVELS[found.severity],
        "message": {"text": f"{found.message} {found.fix}"},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
    }


def _artifact(path: str) -> Json:
    uri = quote(os.fsencode(os_path(path)))
    return {"uri": f"file://{uri}"} if path.startswith("/") else {"uri": uri, "uriBaseId": _BASE}


def _fingerprint(judgement: Judgement, found: Finding, lines: list[str]) -> str:
    """Return a hash that stays when lines above are put in or taken out."""
    in_document = found.line and found.path == judgement.document and found.line <= len(lines)
    said = lines[found.line - 1] if in_document and found.line else found.message
    parts = (found.code, judgement.place(found), found.field or "", said)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
