"""The helpers of the tests themselves."""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import support


@pytest.mark.parametrize(
    "ask", [lambda: support.program("no-such-program"), lambda: support.library("no_such_library")]
)
def test_what_is_missing_is_skipped_here_and_fails_on_ci(ask, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="is not installed"):
        ask()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="is not installed"):
        ask()


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.thorough)])
def test_archives_that_are_not_here_are_one_line_at_the_end(workers):
    here = {name: value for name, value in os.environ.items() if name != "COSCHED_DATA"}
    files = [f"tests_py/unit/cluster/test_{name}.py" for name in ("lublin", "swf")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "data", *workers, *files],
        cwd=support.REPO, env=here, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    *_, line, counts = done.stdout.splitlines()
    assert line.startswith("7 tests want archives below COSCHED_DATA: `cosched fetch --all`, docs/")
    assert (support.REPO / line.rpartition(" ")[2]).is_file()
    assert "7 without archives" in counts
    assert "SKIPPED" not in done.stdout


LEAVES = """
import subprocess, tempfile
def test_folder():
    tempfile.mkdtemp(prefix="mine-")
def test_process():
    subprocess.run(["sh", "-c", "sleep 61 >/dev/null 2>&1 &"])
def test_tidy(tmp_path):
    (tmp_path / "a").write_text("x")
"""
REGISTERS = """
import leavers
def pytest_configure(config):
    leavers._ENDING = 0.5
    config.pluginmanager.register(leavers.Leavers(config))
"""


@pytest.mark.parametrize("workers", [pytest.param((), marks=pytest.mark.thorough), ("-n", "2")])
def test_what_tests_leave_behind_is_named_and_fails_the_run(tmp_path, workers):
    (tmp_path / "conftest.py").write_text(REGISTERS)
    (tmp_path / "test_leaves.py").write_text(LEAVES)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    environment = {**os.environ, "PYTHONPATH": str(support.REPO / "tests_py")}
    before = set(os.listdir(os.environ["TMPDIR"]))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *workers, str(tmp_path)],
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert "3 passed" in done.stdout
    leaving_lines = [line for line in done.stdout.splitlines() if line.startswith("left behind: ")]
    (process,) = re.findall(r"process ([0-9]+): sleep 61", done.stdout)
    os.kill(int(process), signal.SIGKILL)
    assert len(leaving_lines) == 2
    assert re.search(r"mine-\w+ in the temporary folder, since .*::test_folder", leaving_lines[0])
    assert done.returncode == 1
    assert set(os.listdir(os.environ["TMPDIR"])) == before


DRAWS = """
import numpy as np
import cosched as cs
def test_draws():
    for seed in range(9):
        inst = cs.moldable.Instance(np.random.default_rng(seed).uniform(1, 9, (2, 3)))
        check(inst, seed < 4)
def check(inst, right):
    assert right
"""


def test_a_random_test_that_fails_prints_its_seed_and_instance(tmp_path):
    folder = tmp_path / "tests_py"
    folder.mkdir()
    for name in ("drawn.py", "support.py"):
        (folder / name).write_text((support.REPO / "tests_py" / name).read_text())
    (folder / "test_draws.py").write_text(DRAWS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "drawn", str(folder)],
        env={**os.environ, "PYTHONPATH": str(folder)}, capture_output=True, text=True,
    )  # fmt: skip
    _, _, report = ended.stdout.partition("what the test had drawn")
    times = np.random.default_rng(4).uniform(1, 9, (2, 3))
    assert "\nseed = 4\n" in report
    assert "made from (array([[" in report
    assert str(times[0, 0])[:8] in report
