"""The version of the installed package."""

from functools import cache


@cache
def installed_version() -> str:
    """What the package's metadata says; reading it costs as much as a tenth of the whole import."""
    from importlib.metadata import version

    return version("cosched-hpc")
