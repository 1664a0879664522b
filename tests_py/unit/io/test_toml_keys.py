"""The line of each key of a TOML file, against files whose lines are known."""

import random

import pytest

from cosched import io
from cosched.errors import InvalidInstance

TEXT = '''# [no.table]
procs = 4  # capacity = 3
"quoted key".'and another' = 1
dotted . key = [ # [no.table]
  "a]", 'b',
  { inner = 1, "x.y" = [2, 3] },
]

[ task . "a b" ]
command = """
timeout = 5
[task.c]
\\""" still "" text"""
literal = \'\'\'
gpus = 1 \'\'
\'\'\'
memory = { 1 = 2.5, 4 = { deep = "}" } }
"caf\\u00e9" = 2026-11-29T20:00:00Z
[[many]]
x = 1
[[many]]
x = 2
[task]
late = true
'''
LINES = {
    ("procs",): 2,
    ("quoted key",): 3,
    ("quoted key", "and another"): 3,
    ("dotted",): 4,
    ("dotted", "key"): 4,
    ("dotted", "key", "inner"): 6,
    ("dotted", "key", "x.y"): 6,
    ("task",): 9,
    ("task", "a b"): 9,
    ("task", "a b", "command"): 10,
    ("task", "a b", "literal"): 14,
    ("task", "a b", "memory"): 17,
    ("task", "a b", "memory", "1"): 17,
    ("task", "a b", "memory", "4"): 17,
    ("task", "a b", "memory", "4", "deep"): 17,
    ("task", "a b", "caf\u00e9"): 18,
    ("many",): 19,
    ("many", "x"): 20,
    ("task", "late"): 24,
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_keys(end):
    text = TEXT.replace("\n", end)
    io.parse_toml(text, "")  # it is TOML
    assert io.lines_of_keys(text) == LINES


def paths_of(table, path=()):
    """The path of each key of what a file says."""
    key_paths = set()
    for key, value in table.items() if isinstance(table, dict) else ():
        key_paths |= {(*path, key)} | paths_of(value, (*path, key))
    for value in table if isinstance(table, list) else ():
        key_paths |= paths_of(value, path)
    return key_paths


def test_every_key_that_a_parser_finds_has_a_line():
    draw = random.Random(0)
    values = ["1", '"a # b"', "'[x]'", "[1, 2]", "{ k = 1, l = [{ m = 2 }] }", '"""\nz = 1\n"""',
              "true", "1e9", "1979-05-27"]  # fmt: skip
    for _ in range(300):
        lines, names = [], [f"k{k}" for k in range(6)]
        for section in ["", *draw.sample(["[s]", "[ s . t ]", '["s.t"]', "[[v]]"], 3)]:
            lines += [section, *draw.choice([[], ["# [c]"], [""]])]
            for name in draw.sample(names, draw.randint(0, 4)):
                key = draw.choice([name, f'"{name}"', f"'{name} x'", f"{name}.y"])
                lines.append(f"{draw.choice(['', '  '])}{key} = {draw.choice(values)}")
        text = "\n".join(lines) + draw.choice(["", "\n"])
        assert set(io.lines_of_keys(text)) == paths_of(io.parse_toml(text, ""))


@pytest.mark.parametrize(
    "text",
    [
        "\ud800",
        "a",
        "a =",
        "a = [",
        "a = {",
        "[",
        "[a",
        "a = 1\n\ud800",
        'a = "',
        "= 1",
        "a.",
        '"\\q" = 1',
    ],
)
def test_a_text_that_is_no_toml_is_refused_by_its_name(text):
    with pytest.raises(InvalidInstance, match=r"^text: not TOML in line \d+$"):
        io.lines_of_keys(text)
