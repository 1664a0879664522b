"""Where results are written: onto links, devices and pipes, with the rights that files have."""

from __future__ import annotations

import os
import re
import stat
import threading

import pytest

import cosched as cs
from cosched import io
from cosched.cli import main
from cosched.errors import InvalidArgument, InvalidInstance


def rights(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def times(tmp_path):
    path = tmp_path / "times.csv"
    path.write_text("task,1,2\na,4,2\nb,3,2\n")
    return path


def solve(times, out):
    return main(["solve", "packs", str(times), "--algorithm", "pairs", "-o", str(out)])


def test_a_link_stays_one(times, tmp_path):
    (tmp_path / "there").mkdir()
    link, real = tmp_path / "plan.json", tmp_path / "there" / "real.json"
    link.symlink_to(real)
    for _ in range(2):  # what it names is not there at first
        assert solve(times, link) == 0
        assert link.is_symlink()
        assert real.stat().st_size > 100
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["real.json"]
    circle = tmp_path / "circle.json"
    circle.symlink_to(circle)
    with pytest.raises((InvalidInstance, OSError)):
        io.write_text("a", circle)


def test_a_pipe_and_a_device_are_written_to(times, tmp_path):
    pipe = tmp_path / "plan.json"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    assert solve(times, pipe) == 0
    reader.join(10)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert got[0].startswith("{")
    io.write_text("nothing", "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_rights_are_kept(times, tmp_path, mode):
    out = tmp_path / "plan.json"
    out.write_text("old")
    out.chmod(mode)
    assert solve(times, out) == 0
    assert out.read_text() != "old"
    assert rights(out) == mode


def test_a_new_file_has_the_usual_rights_whatever_other_threads_do(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", None)  # nobody asks for it by setting it
    io.write_text("a", tmp_path / "a.txt")
    (tmp_path / "b.txt").write_text("b")
    assert rights(tmp_path / "a.txt") == rights(tmp_path / "b.txt")


def test_a_name_as_long_as_names_can_be(tmp_path):
    for name in ("x" * 250 + ".json", "." + "y" * 254, "z" * 255):
        io.write_text("a", tmp_path / name)
        assert (tmp_path / name).read_text() == "a"


def test_errors_name_the_file_that_was_asked_for(times, capsys):
    assert solve(times, "/proc/plan.json") == 2  # where nobody may make a file
    assert capsys.readouterr().err.startswith("cosched: error: /proc/plan.json: ")


def test_nothing_is_left_of_what_fails(tmp_path):
    (tmp_path / "a.txt").write_text("old")

    def fails():
        with io.replacing(tmp_path / "a.txt") as name:
            name.write_text("new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_a_result_shows_its_bound_and_its_table():
    inst = cs.packs.Instance([[4.0, 2.0], [3.0, 2.0]])
    result = cs.packs.solve(inst, "sequential")
    assert re.fullmatch(
        r"<Result of packs sequential: value 4, bound [0-9.]+ \(columns\), gap <0.01%>",
        repr(result),
    )
    assert result.to_frame().equals(result.schedule.to_frame())
    table_html = result._repr_html_()
    assert "&lt;Result of packs" in table_html
    assert "<table" in table_html


def test_a_gantt_chart_of_a_result_with_even_ticks():
    from matplotlib.figure import Figure

    inst = cs.packs.Instance([[4.0] * 16, [3.0] * 16])
    ax = cs.plot.gantt(cs.packs.solve(inst, "sequential"), ax=Figure().subplots())
    ticks = ax.get_yticks().tolist()
    assert ticks == [0, 2, 4, 6, 8, 10, 12, 14]


@pytest.mark.parametrize("name", ["\ud800", "a\x00b"])
def test_a_name_that_no_file_can_have_is_refused_before_anything_is_written(
    name, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    context = io.replacing(name)
    with pytest.raises(InvalidArgument, match=r"^path = .*: expected a name that a file can have$"):
        context.__enter__()
    assert list(tmp_path.iterdir()) == []
