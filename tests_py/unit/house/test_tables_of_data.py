"""The formatter decides, but for tables of data: constants of a module with rows of their own."""

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[3]
FILES = [
    path
    for folder in ("python", ".ci", "docs")
    for path in sorted((HERE / folder).rglob("*.py"))
    if "# fmt: skip" in path.read_text()
]


def lines_of_other_statements(source: str) -> Iterator[int]:
    """Lines where the formatter is switched off for something else than a constant's literal."""
    tree = ast.parse(source)
    table_lines = {
        line
        for statement in tree.body
        if _is_constant(statement)
        for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    }
    for number, line in enumerate(source.splitlines(), 1):
        if "# fmt: skip" in line and number not in table_lines:
            yield number


def _is_constant(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        return False
    return all(re.fullmatch(r"\(?[A-Z_0-9, ]+\)?", ast.unparse(target)) for target in targets)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HERE)))
def test_the_formatter_is_switched_off_for_tables_only(path):
    assert list(lines_of_other_statements(path.read_text())) == []


def test_another_statement_is_noticed():
    source = textwrap.dedent("""
        _WORDS = ("a", "b",
                  "c")  # fmt: skip
        def call():
            words = ("a",
                     "b")  # fmt: skip
    """)
    assert list(lines_of_other_statements(source)) == [6]
