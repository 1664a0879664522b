"""Count the parameters that are annotated with Any: `python .ci/any_parameters.py FOLDER`.

The share of all parameters may only shrink: the command fails above MAX_SHARE. A value of any type
that a function checks or only passes on has the annotation `object`.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

#: The largest share of parameters whose annotation has Any in it; it is only ever made smaller.
MAX_SHARE = 0.04


def has_any(annotation: ast.expr) -> bool:
    """Whether Any is in an annotation, also in one that is written as a text."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return has_any(ast.parse(annotation.value, mode="eval").body)
    return any(
        (isinstance(node, ast.Name) and node.id == "Any")
        or (isinstance(node, ast.Attribute) and node.attr == "Any")
        for node in ast.walk(annotation)
    )


def parameters_of(source: str) -> Iterator[ast.arg]:
    """Yield the parameters of all functions, without `self` and `cls`."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        arguments = node.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        parameters += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
        for parameter in parameters:
            if parameter.arg not in ("self", "cls"):
                yield parameter


def main(folder: Path) -> int:
    """Print the share, and the packages with the most such parameters; 1 above the limit."""
    total = 0
    count_by_package: Counter[str] = Counter()
    for path in sorted(folder.rglob("*.py")):
        for parameter in parameters_of(path.read_text(encoding="utf-8")):
            total += 1
            if parameter.annotation is not None and has_any(parameter.annotation):
                package = path.relative_to(folder).parts[:-1]
                count_by_package["/".join(package[:2]) or "."] += 1
    any_count = count_by_package.total()
    share = any_count / total
    packages = ", ".join(f"{name} {count}" for name, count in count_by_package.most_common(8))
    print(f"{any_count} of {total} parameters ({share:.1%}) are annotated with Any: {packages}")
    if share <= MAX_SHARE:
        return 0
    print(f"expected at most {MAX_SHARE:.1%}: name the type, or object for a value of any type")
    return 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
