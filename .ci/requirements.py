"""Print what pip is to install before the package.

    python .ci/requirements.py [--build | EXTRA ...]

The requirements of the build and of the package, and those of the extras that are named; with
`--build` those of the build alone.
"""

import pathlib
import re
import sys
from collections.abc import Iterator

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

PROJECT = tomllib.loads(pathlib.Path("pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]


def requirements(extra: str) -> Iterator[str]:
    """Those of one extra; another extra of this package stands for what is in it."""
    for requirement in EXTRAS[extra]:
        own = re.fullmatch(r"cosched-hpc\[(.+)\]", requirement)
        if own is None:
            yield requirement
            continue
        for name in own[1].split(","):
            yield from requirements(name.strip())


if __name__ == "__main__":
    wanted = list(PROJECT["build-system"]["requires"])
    if sys.argv[1:] != ["--build"]:
        wanted += PROJECT["project"]["dependencies"]
        wanted += [line for extra in sys.argv[1:] for line in requirements(extra)]
    print("\n".join(dict.fromkeys(wanted)))
