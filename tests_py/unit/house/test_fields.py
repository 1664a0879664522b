"""Every field of a public dataclass says what it is: unit, shape, meaning.

Either the class docstring has an entry for it (numpydoc), or a comment stands with it: ``#:``
above, or behind it on its line. The help text of an option of Snakemake is such a sentence, too.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[3]
FILES = sorted((HERE / "python").rglob("*.py"))
SECTIONS = ("Attributes", "Parameters")


def undocumented_fields(source: str) -> Iterator[str]:
    """``Class.field`` of each field of a public dataclass that nothing describes."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
            continue
        if not any(_is_dataclass_decorator(decorator) for decorator in node.decorator_list):
            continue
        described_names = _names_of_docstring(ast.get_docstring(node) or "")
        for field in filter(_is_public_field, node.body):
            is_described = field.target.id in described_names or _has_comment(field, lines)
            if not is_described and not _has_help(field):
                yield f"{node.name}.{field.target.id}"


def _is_dataclass_decorator(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(function) in ("dataclass", "dataclasses.dataclass")


def _is_public_field(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and not statement.target.id.startswith("_")
        and "ClassVar" not in ast.unparse(statement.annotation)
    )


def _names_of_docstring(docstring: str) -> set[str]:
    """Names that the sections describe; ``a, b : int`` describes two."""
    names: set[str] = set()
    lines = docstring.splitlines()
    section = ""
    for line, next_line in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch("-{3,}", next_line.strip()):
            section = line.strip()
        entry = re.fullmatch(r"(\w+(?:, *\w+)*)(?: : .*)?", line)
        if entry is not None and section in SECTIONS:
            names |= {name.strip() for name in entry[1].split(",")}
    return names


def _has_comment(field: ast.stmt, lines: list[str]) -> bool:
    assert field.end_lineno is not None
    if "#" in lines[field.end_lineno - 1]:
        return True
    line = field.lineno - 2
    while lines[line].strip().startswith("#"):
        if lines[line].strip().startswith("#:"):
            return True
        line -= 1
    return False


def _has_help(field: ast.AnnAssign) -> bool:
    return field.value is not None and re.search(r"'help': ", ast.unparse(field.value)) is not None


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HERE / "python")))
def test_every_field_of_a_public_dataclass_is_documented(path):
    assert list(undocumented_fields(path.read_text())) == []


def test_a_field_without_a_sentence_is_noticed():
    source = textwrap.dedent('''
        @dataclass(frozen=True)
        class Job:
            """A job.

            Attributes
            ----------
            start, end : float
                Seconds.
            """

            start: float
            end: float
            cores: int
            #: GB of each node.
            memory: float
            gpus: int
            name: str = ""  # as the user typed it
            _row: int = 0
            kind: ClassVar[str] = "job"

        @dataclass
        class _Private:
            row: int
    ''')
    assert list(undocumented_fields(source)) == ["Job.cores", "Job.gpus"]
