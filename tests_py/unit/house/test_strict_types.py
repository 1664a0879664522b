"""mypy is strict; the list of packages that are not may only become shorter."""

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

PYPROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"
#: Take a package off both lists when mypy passes without it.
NOT_STRICT = {
    "cosched._core.*",
    "cosched.cli.*",
    "cosched.cluster.*",
    "cosched.execution.*",
    "cosched.experiments.*",
    "cosched.reports.*",
    "cosched.workflows.*",
    "snakemake_executor_plugin_cosched.*",
    "snakemake_scheduler_plugin_cosched.*",
}


def mypy_settings():
    return tomllib.loads(PYPROJECT.read_text())["tool"]["mypy"]


def relaxed_modules(settings):
    """The modules for which an override switches off a check of ``strict``."""
    return {
        module
        for override in settings["overrides"]
        if override.get("disallow_untyped_defs") is False
        for module in override["module"]
    }


def test_the_list_of_packages_that_are_not_strict_only_shrinks():
    settings = mypy_settings()
    assert settings["strict"] is True
    assert relaxed_modules(settings) == NOT_STRICT


def test_no_other_override_relaxes_a_check():
    for override in mypy_settings()["overrides"]:
        if override.get("disallow_untyped_defs") is None:
            assert set(override) == {"module", "ignore_missing_imports"}
            assert not any(module.startswith("cosched") for module in override["module"])
