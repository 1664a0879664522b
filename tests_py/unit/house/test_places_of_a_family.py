"""What a family, an algorithm or a bound needs outside of its own folder is there.

Each test names the file to change. The guides for contributors (docs/howto/own-family.md for a
family, cpp/README.md for an algorithm) list the same files.
"""

import re
from typing import NamedTuple

import pytest

import cosched as cs
from cosched.registry import FAMILIES, family
from support import REPO

OWN_FAMILY = (REPO / "docs" / "howto" / "own-family.md").read_text()
OWN_ALGORITHM = (REPO / "cpp" / "README.md").read_text().partition("## How to add a room")[0]


class Place(NamedTuple):
    """A file that names every family, and what it says of one."""

    path: str  # {family} stands for its name
    pattern: str  # a regular expression
    addition: str  # what to add where the pattern is not found


PLACES = (
    Place("python/cosched/__init__.py", r'"{family}"', "the name in _MODULES"),
    Place("pyproject.toml", r'^  "[\w |]*\b{family}\b[\w |]*",$', "the name in the layers"),
    Place("pyproject.toml", r'^containers = \[.*"cosched.{family}"', "its rooms' contract"),
    Place("docs/reference/stable.md", r"^\| {family} \| ", "a row of algorithms and bounds"),
    Place("docs/reference/stable.md", r"^\| `cosched.{family}` \| ", "a row of names"),
    Place("docs/reference/index.md", r"^{family}$", "the page in the toctree"),
    Place("docs/reference/{family}.rst", r"family-reference:: {family}", "the page"),
    Place("docs/explanation/{family}.md", r"^# ", "the page"),
    Place("python/cosched/cli/families.py", r'^    "{family}": FamilyTexts', "its options"),
    Place("CITATION.cff", r'notes: "Family {family}', "the reference of its paper"),
    Place("tests_py/properties/test_all_families.py", r'^    "{family}": lambda', "a sample"),
    Place("tests_py/properties/fuzz_public.py", r'^    "{family}": cs', "a line in INSTANCES"),
    Place("tests_py/unit/core/test_wrong_shapes.py", r'^    "{family}": lambda', "a line in MAKE"),
    Place("tests_py/bench/bench_extremes.py", r"^MAKERS = .*\b{family}\b", "one in MAKERS"),
)
#: Of a family with a core in C++, or with studies.
PLACES_OF_A_FOLDER = {
    "cpp/cosched/{family}": (
        Place("CMakeLists.txt", r"^set\(cosched_layers .*\b{family}\b", "the layer"),
        Place("cpp/CMakeLists.txt", r"^cosched_room\({family}/model", "its rooms"),
        Place("cpp/bindings/module.cpp", r"\bbind_{family}\(", "the call of bind_{family}"),
        Place("cpp/README.md", r"^{family} +model ", "its rooms in the picture"),
    ),
    "python/cosched/experiments/{family}": (
        Place(
            "python/cosched/experiments/catalogue.py", r"^    for family in \(.*\b{family}\b",
            "the package in STUDIES",
        ),
        Place(
            "python/cosched/experiments/catalogue.py", r'^    "{family}": \(',
            "a line in _MODULES: what the formulas of claims.toml may call",
        ),
        Place(
            "python/cosched/experiments/{family}/claims.toml", "",
            "the claims of its paper (`claims = []` where there are none)",
        ),
    ),
}  # fmt: skip


def missing(place: Place, name: str) -> str | None:
    """What to add where, if a place does not know the family."""
    path, pattern, addition = (part.replace("{family}", name) for part in place)
    file = REPO / path
    if file.is_file() and re.search(pattern, file.read_text(), re.MULTILINE):
        return None
    return f"{path}: add {addition}"


def places_of(name: str) -> list[Place]:
    all_places = list(PLACES)
    for folder, places in PLACES_OF_A_FOLDER.items():
        if (REPO / folder.replace("{family}", name)).is_dir():
            all_places += places
    return all_places


@pytest.mark.parametrize("name", FAMILIES)
def test_every_place_knows_the_family(name):
    lines = [line for place in places_of(name) if (line := missing(place, name))]
    assert not lines, "\n".join([f"the family {name} is missing in", *lines])


def test_a_family_that_no_place_knows_is_missing_in_all():
    assert len([place for place in PLACES if missing(place, "knapsacks")]) == len(PLACES)
    assert missing(PLACES[0], "knapsacks") == "python/cosched/__init__.py: add the name in _MODULES"


def test_the_guide_for_a_family_lists_every_place():
    places = [*PLACES, *(place for each in PLACES_OF_A_FOLDER.values() for place in each)]
    paths = {place.path.replace("{family}", "<family>") for place in places}
    unlisted = sorted(path for path in paths if f"`{path}`" not in OWN_FAMILY)
    assert not unlisted, f"docs/howto/own-family.md: name {', '.join(unlisted)}"


def listed(name: str, text: str) -> bool:
    """Whether a page has this name, or the name without a number at its end, as code."""
    return any(f"`{each}" in text for each in (name, re.sub(r"-\d+$", "", name)))


@pytest.mark.parametrize("name", FAMILIES)
def test_the_explanation_knows_every_algorithm_and_bound(name):
    path = REPO / "docs" / "explanation" / f"{name}.md"
    text, of = path.read_text(), family(name)
    names = {*of.algorithms, *of.bounds} - of.registered
    if name == "cluster":  # the 116 of the paper follow a grammar
        names -= {policy for policy in of.algorithms if "*" in policy or "/" in policy}
    unknown = sorted(each for each in names if not listed(each, text))
    assert not unknown, f"{path.relative_to(REPO)}: say when to take {', '.join(unknown)}"


@pytest.mark.parametrize("name", FAMILIES)
def test_every_algorithm_is_a_function_that_the_family_shows(name):
    """`cosched.packs.pack_by_pack` for the name `pack-by-pack-9`; a policy of cluster has none."""
    module = getattr(cs, name)
    prefix = f"cosched.{name}."
    functions = [
        getattr(algorithm, "func", algorithm) for algorithm in family(name).algorithms.values()
    ]
    written = {
        function.__name__
        for function in functions
        if getattr(function, "__module__", "").startswith(prefix)
        and "<locals>" not in function.__qualname__
    }
    hidden = sorted(written - set(module.__all__))
    assert not hidden, f"python/cosched/{name}/__init__.py: re-export {', '.join(hidden)}"


def test_the_guide_for_an_algorithm_lists_every_place():
    for path in (
        "python/cosched/<family>/family.py",
        "python/cosched/<family>/__init__.py",
        "docs/reference/stable.md",
        "docs/explanation/<family>.md",
        "tests_py/bench/bench_anytime.py",
        "tests_py/unit/core/test_budgets.py",
        "cpp/cosched/packs/solve",
    ):
        assert f"`{path}`" in OWN_ALGORITHM, f"cpp/README.md, How to add an algorithm: name {path}"
