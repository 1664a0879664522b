"""The helpers of the tests themselves."""

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
