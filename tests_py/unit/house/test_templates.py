"""Pages are written by templates: no program holds a tag of HTML, and every text is escaped."""

import ast
import re
from pathlib import Path

import pytest

import cosched
from cosched.notes import Note
from cosched.reports.document import Column, Paragraph, Report, Section, Table
from cosched.templates import render

PACKAGE = Path(cosched.__file__).parent
TAG = re.compile(
    r"(?<!\?P)</?(?:a|aside|b|body|code|div|dl|dt|dd|em|figure|h[1-6]|head|html|i|li|main|ol|p|pre|script"
    r"|section|span|strong|style|svg|table|tbody|td|th|thead|title|tr|u|ul)(?:\s[^<>]*)?/?>"
)


def texts_with_tags(source: str) -> list[str]:
    """Texts of a program that hold a tag, without those of docstrings."""
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
        and TAG.search(node.value)
    ]


def test_no_program_holds_a_tag():
    programs_with_tags = {
        str(path.relative_to(PACKAGE)): texts
        for path in sorted(PACKAGE.rglob("*.py"))
        if (texts := texts_with_tags(path.read_text()))
    }
    assert not programs_with_tags


@pytest.mark.parametrize(
    "text", ["'<td>' + name", "f'<p class=small>{text}</p>'", "page += '</table>'"]
)
def test_tags_are_seen(text):
    assert texts_with_tags(text)


@pytest.mark.parametrize("text", ["'<packs.Instance: 2 tasks>'", "'a < b > c'", "'(?P<iow>x)'"])
def test_other_angle_brackets_are_no_tags(text):
    assert not texts_with_tags(text)


def test_every_text_of_a_report_is_escaped():
    name = "<script>alert(1)</script>"
    table = Table((Column(name), Column("n", "count")), ((name, 1),), title=name, note=name)
    report = Report(
        kind="audit",
        title=name,
        subtitle=name,
        lead=name,
        sections=(Section(name, (table, Paragraph(name))),),
        notes=(Note.of(name),),
        notes_heading=name,
        warning=name,
    )
    assert name not in report.to_html()
    assert report.to_html().count("&lt;script&gt;") == 13


def test_a_value_that_a_template_lacks_is_an_error():
    with pytest.raises(Exception, match="label"):
        render("result.html.j2")


def test_the_templates_are_in_the_wheel():
    files = [path.name for path in PACKAGE.rglob("*.j2")]
    assert {"page.html.j2", "report.html.j2", "result.html.j2", "study.html.j2"} <= {*files}
