"""Tests that want archives which are not here: one line at the end, in place of one each."""

import pytest

from support import WANTS

_KIND = "without archives"


def _wants(report):
    reason = report.longrepr[2] if isinstance(report.longrepr, (tuple, list)) else ""
    return report.skipped and WANTS in reason


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if _wants(report) and not item.get_closest_marker("data"):  # .ci/run selects them by it
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} wants archives: expected @pytest.mark.data"
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report):
    return (_KIND, "a", "WITHOUT ARCHIVE") if _wants(report) else None


def pytest_terminal_summary(terminalreporter):
    left_out = terminalreporter.stats.get(_KIND, ())
    if left_out:
        tests = "1 test wants" if len(left_out) == 1 else f"{len(left_out)} tests want"
        terminalreporter.write_line(
            f"{tests} archives below COSCHED_DATA: `cosched fetch --all`, docs/howto/archives.md"
        )
