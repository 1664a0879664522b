"""No two public classes have one name; what every problem class has is called alike."""

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[3] / "python"
#: Each problem class has one of its own, see the shape that all of them share.
OF_EVERY_FAMILY = {"Instance", "Result", "Schedule"}
#: Names that still have two classes; no name is added.
DUPLICATES = {"Plan", "Requests"}


def modules_of_classes():
    """The modules that define a public class of each name."""
    modules = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(str(path.relative_to(PACKAGE)))
    return modules


def test_each_class_has_a_name_of_its_own():
    modules = modules_of_classes()
    duplicates = {name for name, places in modules.items() if len(places) > 1}
    new_duplicates = {name: modules[name] for name in duplicates - OF_EVERY_FAMILY - DUPLICATES}
    assert new_duplicates == {}
    assert duplicates >= DUPLICATES, "take what has one class only off the list"
