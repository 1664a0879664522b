"""A random C++ test prints its case where it fails: `SHOW_ON_FAILURE` of its seed and instance."""

import re

import pytest

from support import REPO

TEST = re.compile(r"^TEST(?:_F|_P)?\((\w+), (\w+)\) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
#: A generator whose draws differ from one iteration of a loop to the next.
IS_RANDOM = re.compile(r"\bRng rng\(|\bseed\b")
#: The test prints its case itself, or its helper of this name does.
PRINTS = re.compile(r"SHOW_ON_FAILURE|SCOPED_TRACE|expect_values_follow")
#: Tests whose one case is written in the source: the seed is a number there.
ONE_CASE = {
    "Rng.BelowIsUniform",
    "CoverLp.PurgingLosesNothing",
    "CardinalityKnapsack.BoundsLargeProblems",
}


def random_tests():
    for path in sorted((REPO / "tests_cpp").rglob("*_test.cpp")):
        for suite, name, body in TEST.findall(path.read_text()):
            if IS_RANDOM.search(body) and "for (" in body and path.parent.name != "threads":
                yield pytest.param(f"{suite}.{name}", body, id=f"{path.parent.name}.{suite}.{name}")


def test_there_are_many():
    assert len(list(random_tests())) > 150


@pytest.mark.parametrize(("name", "body"), list(random_tests()))
def test_a_random_test_prints_its_case(name, body):
    assert PRINTS.search(body) or name in ONE_CASE, "add SHOW_ON_FAILURE(seed), (instance)"
