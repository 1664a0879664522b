"""Print the requirements of the package, its build and its tests, a line each, for pip."""

import pathlib
import sys

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib

project = tomllib.loads(pathlib.Path("pyproject.toml").read_text())
extras = project["project"]["optional-dependencies"]
wanted = [
    *project["build-system"]["requires"],
    *project["project"]["dependencies"],
    *(requirement for extra in (sys.argv[1:] or ["test"]) for requirement in extras[extra]),
]
print("\n".join(dict.fromkeys(wanted)))
