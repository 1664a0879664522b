"""Print what pip is to install before the package.

    python .ci/requirements.py [--build | [--beside FOLDER] EXTRA ...]

The requirements of the build and of the package, and those of the extras that are named; with
`--build` those of the build alone. With `--beside`, also those of the extras that have a stamp
(EXTRA.stamp) in that folder: pip then finds versions that suit all of them.
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
        own_extra = re.fullmatch(r"cosched-hpc\[(.+)\]", requirement)
        if own_extra is None:
            yield requirement
            continue
        for name in own_extra[1].split(","):
            yield from requirements(name.strip())


def extras_of(words: list[str]) -> list[str]:
    """The extras that the words of the command line name, and those with a stamp beside them."""
    if words[:1] != ["--beside"]:
        return words
    stamps = {path.stem for path in pathlib.Path(words[1]).glob("*.stamp")}
    return [*words[2:], *sorted(stamps & EXTRAS.keys() - set(words[2:]))]


if __name__ == "__main__":
    wanted = list(PROJECT["build-system"]["requires"])
    if sys.argv[1:] != ["--build"]:
        wanted += PROJECT["project"]["dependencies"]
        wanted += [line for extra in extras_of(sys.argv[1:]) for line in requirements(extra)]
    print("\n".join(dict.fromkeys(wanted)))
