"""Marks of the tests that show a requirement, read without importing the tests."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"


@cache
def marked_tests(tests: Path = TESTS) -> Mapping[str, list[str]]:
    """Return the tests of each requirement, as pytest names them from the folder of the tests.

    A test has the mark itself, or one of its cases has it: `pytest.param(..., marks=...)`.
    """
    shown: dict[str, list[str]] = {}
    for file in sorted(tests.rglob("test_*.py")):
        path, text = file.relative_to(tests), file.read_text("utf-8")
        if "mark.requirement(" not in text or path.parts[0] == "clients":
            continue  # parsing takes time; the suite does not run the tests with real clients
        for test in ast.walk(ast.parse(text)):
            if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
                for decorator in test.decorator_list:
                    for requirement, case in _marks(decorator):
                        shown.setdefault(requirement, []).append(
                            f"{path}::{test.name}{f'[{case}]' if case else ''}"
                        )
    return shown


def _marks(node: ast.AST, case: str = "") -> Iterator[tuple[str, str]]:
    """Yield the requirements that are marked at or below a node, each with the marked case."""
    if isinstance(node, ast.Call):
        called = getattr(node.func, "attr", None)
        if called == "param":
            case = next(ast.literal_eval(key.value) for key in node.keywords if key.arg == "id")
        if called == "requirement":
            yield from ((ast.literal_eval(argument), case) for argument in node.args)
    for child in ast.iter_child_nodes(node):
        yield from _marks(child, case)
