"""The OpenAPI document of the endpoints, beside the endpoints themselves."""

import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from catalog.model.values import LEVELS
from catalog.reading.search import filters, skill_lists
from catalog.site import plugin
from catalog.site.api import files, service
from tests.support.sites import Site

ANSWERS = [
    ("/search.json", "/search.json?q=words", 200),
    ("/search.json", "/search.json?status=all", 200),
    ("/search.json", "/search.json?sort=colour", 400),
    ("/skills/{skill_id}/preview", "/skills/word-count/preview", 200),
    ("/skills/{skill_id}/preview", "/skills/broken/preview", 200),
    ("/skills/{skill_id}/preview", "/skills/nope/preview", 404),
    ("/index/{name}.meta.json", "/index/default.meta.json", 200),
    ("/index/{name}.meta.json", "/index/nope.meta.json", 404),
    ("/.well-known/agent-skills/index.json", "/.well-known/agent-skills/index.json", 200),
    ("/.well-known/skills/index.json", "/.well-known/skills/index.json", 200),
    (
        "/skills/{skill_id}/.well-known/skills/index.json",
        "/skills/word-count/.well-known/skills/index.json",
        200,
    ),
    ("/-/state.json", "/-/state.json", 200),
    ("/-/state.json", "/-/state.json?about=skill:word-count", 200),
    ("/-/state.json", "/-/state.json?about=x", 400),
    ("/-/healthz", "/-/healthz", 200),
    ("/-/openapi.json", "/-/openapi.json", 200),
]
NOT_FOR_PROGRAMS = {files.of_neighbour, service.asset, service.favicon, service.robots}
"""Routes for browsers, and for links inside the files of skills."""


def _document(site: Site) -> dict[str, Any]:
    document: dict[str, Any] = site.get("/-/openapi.json").json()
    return document


def test_the_document_is_valid(site: Site) -> None:
    """By the OpenAPI specification, with this site's address."""
    document = _document(site)
    validate(document)
    assert document["servers"] == [{"url": "http://localhost"}]


@pytest.mark.parametrize(("path", "asked", "status"), ANSWERS)
def test_an_answer_is_as_documented(site: Site, path: str, asked: str, status: int) -> None:
    """Its JSON fits the schema of its status; a client that has it gets 304."""
    document = _document(site)
    answer = site.get(asked)
    assert answer.status_code == status
    documented = document["paths"][path]["get"]["responses"][str(status)]
    if "$ref" in documented:
        documented = document["components"]["responses"][documented["$ref"].rpartition("/")[2]]
    schema = documented["content"]["application/json"]["schema"]
    checked = Draft202012Validator({**schema, "components": document["components"]})
    assert [error.message for error in checked.iter_errors(answer.json())] == []
    if status == 200 and answer.headers["cache-control"] != "no-store":
        again = site.ask("get", asked, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def test_every_endpoint_is_documented(site: Site) -> None:
    """Each route for programs has its path in the document, and each path there has a route."""
    paths = [re.sub(r"\{[^}]+\}", "x", path) for path in _document(site)["paths"]]
    routes = {
        route.pattern
        for route in plugin.ROUTES
        if (route.post or route.view).__module__.startswith("catalog.site.api")
        and route.view not in NOT_FOR_PROGRAMS
    }
    assert [r for r in routes if not any(re.fullmatch(r, path) for path in paths)] == []
    assert [path for path in paths if not any(re.fullmatch(r, path) for r in routes)] == []


def test_the_parameters_of_the_search_are_those_of_the_code(site: Site) -> None:
    """All filters, and all values of those with few."""
    documented = {
        parameter["name"]: parameter["schema"]
        for parameter in _document(site)["paths"]["/search.json"]["get"]["parameters"]
    }
    assert set(documented) == {*filters.BY_NAME, "q", "sort", "typing", "limit", "offset"}
    assert documented["status"]["items"]["enum"] == list(filters.BY_NAME["status"].values)
    assert documented["safety"]["items"]["enum"] == list(filters.BY_NAME["safety"].values)
    assert documented["sort"]["enum"] == list(skill_lists.SORTS)
    assert _document(site)["components"]["schemas"]["Level"]["enum"] == list(LEVELS)
