"""Judgements of skills as SARIF 2.1.0, the format of code scanning."""

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote

from catalog.model.finding import Finding, FindingType
from catalog.model.paths import os_path
from catalog.model.values import VERSION, Json, Severity
from catalog.reading.findings import explanations
from catalog.text.visible import with_plain_line_ends
from pipeline.authoring.lint import Judgement
from pipeline.cli.output.finding_types import REGISTRY

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_BASE = "%SRCROOT%"
_LEVELS: Mapping[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
_RULE_INDEX = {code: number for number, code in enumerate(REGISTRY)}


def sarif(judged: Iterable[Judgement]) -> Iterator[str]:
    """Yield one log with one run: first all rules, then one result at a time.

    Source: SARIF 2.1.0 (OASIS). Paths are URIs, relative to the working directory if the author's
    were relative; columns count characters.
    """
    page = explanations.path().as_uri()
    run: dict[str, Json] = {
        "tool": {
            "driver": {
                "name": "skilldrop",
                "version": VERSION,
                "rules": [_rule(kind, page) for kind in REGISTRY.values()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            _BASE: {"description": {"text": "Working directory of skilldrop."}},
        },
    }
    opening = json.dumps(run).removesuffix("}")
    yield f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [{opening}, "results": ['
    comma = ""
    for result in _results(judged):
        yield comma + json.dumps(result)
        comma = ","
    yield "]}]}"


def _rule(kind: FindingType, page: str) -> Json:
    return {
        "id": kind.code,
        "shortDescription": {"text": kind.summary},
        "fullDescription": {"text": f"{kind.summary} Source: {kind.source}."},
        "help": {"text": kind.fix, "markdown": f"{kind.fix}\n\nSource: {kind.source}."},
        "helpUri": f"{page}#{kind.code}",
        "defaultConfiguration": {"level": _LEVELS[kind.severity]},
        "properties": {"tags": [kind.profile]},
    }


def _results(judged: Iterable[Judgement]) -> Iterator[dict[str, Json]]:
    for judgement in judged:
        lines = dict(enumerate(with_plain_line_ends(judgement.text).split("\n"), 1))
        occurrences: Counter[str] = Counter()
        for finding in judgement.findings:
            is_of_document = finding.path == judgement.document
            line = lines.get(finding.line or 0, "").strip() if is_of_document else ""
            parts = (finding.code, judgement.place(finding), finding.field or "", line)
            digest = hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
            occurrences[digest] += 1  # a fingerprint stays the same where its line moves
            yield _result(judgement, finding, f"{digest}:{occurrences[digest]}")


def _result(judgement: Judgement, finding: Finding, fingerprint: str) -> dict[str, Json]:
    place: dict[str, Json] = {"artifactLocation": _artifact(judgement.file(finding))}
    if finding.line:
        place["region"] = {
            "startLine": finding.line,
            **({"startColumn": finding.column} if finding.column else {}),
        }
    return {
        "ruleId": finding.code,
        "ruleIndex": _RULE_INDEX[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.message} {finding.fix}"},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
    }


def _artifact(path: str) -> Json:
    uri = quote(os.fsencode(os_path(path)))
    return {"uri": f"file://{uri}"} if path.startswith("/") else {"uri": uri, "uriBaseId": _BASE}
