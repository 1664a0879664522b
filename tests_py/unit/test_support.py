"""The helpers of the tests themselves."""

import os
import subprocess
import sys

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


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_archives_that_are_not_here_are_one_line_at_the_end(workers):
    here = {name: value for name, value in os.environ.items() if name != "COSCHED_DATA"}
    files = [f"tests_py/unit/test_{name}.py" for name in ("lublin", "swf")]
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
