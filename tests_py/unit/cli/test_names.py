"""Names of the user's are shown letter by letter: no markup, no control of the terminal."""

import os
import subprocess
import sys
import warnings

import pandas as pd
import pytest

import cosched as cs
from cosched.cli import main
from cosched.errors import printable

NAMES = [
    "v1[/a]", "ls[k=3]", "[bold]x", "[link=file:///etc]y[/link]", "a:smile:b", "\x1b[31mred",
    "bell\x07", "line\nbreak", "right\u202eleft", "sur\udc80rogate", "$x_{$", "_hidden", "a|b",
    "{braces}", "%s %d", "007",
]  # fmt: skip


def registered(name):
    def algorithm(instance):
        return cs.packs.solve(instance, "sequential")

    cs.register("packs", name, algorithm)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "times.csv"
    path.write_text("task,1,2\nfft,8,4.5\nlu,6,3.4\n")
    return path


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_an_algorithm_of_any_name_is_solved_compared_and_drawn(name, table, tmp_path, capsys):
    registered(name)
    out = tmp_path / "table.md"
    solve = ["solve", "packs", str(table), "--algorithm", name]
    compare = ["compare", "packs", str(table), "--algorithms", name, "sequential", "-o", str(out)]
    assert main([*solve, "--plot", str(tmp_path / "one.svg")]) == 0
    output = capsys.readouterr().out
    assert f"packs: {printable(name)}" in output
    if not set(name) & set("\udc80"):  # no file holds that
        assert main([*compare, "--plot", str(tmp_path / "best.svg")]) == 0
        assert printable(name) in capsys.readouterr().out
        rows = out.read_text().splitlines()
        assert len(rows) == 4
        assert {row.replace("\\|", "").count("|") for row in rows} == {rows[0].count("|")}
    assert "\x1b" not in output
    assert "\x07" not in output


def test_what_fails_names_it_plainly(table, tmp_path, capsys):
    def fails(instance):
        raise RuntimeError("\x1b[2Jno [/b] \x9b")

    cs.register("packs", "fails[/a]", fails)
    assert main(["compare", "packs", str(table), "--algorithms", "fails[/a]"]) in (0, 1)
    assert r"fails[/a]: error: RuntimeError: \x1b[2Jno [/b] \x9b" in capsys.readouterr().out
    for call in (
        ["solve", "packs", "\x1b[31m.csv", "--algorithm", "pairs"],
        ["solve", "packs", str(table), "--algorithm", "\x1b[31m"],
        ["solve", "packs", str(table), "--\x1b[31m"],
    ):
        assert main(call) == 2
        error = capsys.readouterr().err
        assert "\x1b" not in error
        assert r"\x1b[31m" in error


def test_names_in_notes(tmp_path, capsys):
    path = tmp_path / "graph.dot"
    path.write_text('digraph { node [time=1] "a[/b]" ["\x1b[31m"=1] }')
    assert main(["solve", "dags", str(path), "--units", "2", "--algorithm", "heft"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert r"\x1b[31m" in out


def test_names_of_tasks_machines_and_kernels_are_drawn(tmp_path):
    n = len(NAMES)
    graph = cs.dags.Instance([[1.0, 2.0]] * n, [], (1, 1), names=NAMES, kernels=NAMES)
    power = [[1] * n] * 2
    bag = cs.bags.Instance([2 * n, n], [1] * n, power, power, 1e6, machine_names=NAMES)
    jobs = cs.moldable.Instance([[2.0, 1.0]] * n, [1.0] * n, names=NAMES)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # not every font has every letter
        for k, result in enumerate(
            (
                cs.dags.solve(graph, "heft"),
                cs.bags.solve(bag, "tms"),
                cs.moldable.solve(jobs, "gang"),
            )
        ):
            for suffix in ("png", "svg"):
                cs.plot.save(cs.plot.gantt(result.schedule), tmp_path / f"{k}.{suffix}")


def test_texts_in_tables_stay_as_they_are(tmp_path):
    frame = pd.DataFrame({"name": ["007", "1e5", "a|b", "x\ny"], "value": [1.5, 2.0, 3.0, 4.0]})
    cs.io.write_frame(frame, tmp_path / "table.md")
    lines = (tmp_path / "table.md").read_text().splitlines()
    assert [line.split(" | ")[0].strip("| ") for line in lines[2:]] == [
        "007", "1e5", r"a\|b", "x y",
    ]  # fmt: skip


def test_a_terminal_of_few_letters(table, tmp_path):
    scheduler_file = tmp_path / "mine.py"
    scheduler_file.write_text(
        "import cosched as cs\n"
        "cs.register('packs', 'caf\u00e9 \u4e2d', lambda i: cs.packs.solve(i, 'sequential'))\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "cosched",
            "--import",
            str(scheduler_file),
            "compare",
            "packs",
            str(table),
            "--algorithms",
            "caf\u00e9 \u4e2d",
        ],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert rb"caf\xe9 \u4e2d" in done.stdout


def test_names_without_an_end_are_refused():
    with pytest.raises(cs.InvalidInstance, match=r"names\[0\] = 0: expected a text"):
        cs.packs.Instance([[1.0, 0.5], [2.0, 1.0]], names=range(2**62))
    with pytest.raises(cs.InvalidInstance, match="more than 2 entries for 2"):
        cs.packs.Instance([[1.0, 0.5], [2.0, 1.0]], names=range(2**39))
