"""Write the type stubs of cosched._core below a folder: `python .ci/stubs.py python/cosched`."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def generate(folder: Path) -> None:
    """Replace folder/_core by stubs of the installed extension."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(
            [
                sys.executable,
                "-m",
                "pybind11_stubgen",
                "cosched._core",
                "--output-dir",
                scratch,
                "--numpy-array-use-type-var",
                "--exit-code",
            ],
            check=True,
            capture_output=True,
        )
        stub_folder = Path(scratch, "cosched", "_core")
        for stub in stub_folder.iterdir():  # members of an enum, as type checkers expect them
            text = stub.read_text(encoding="utf-8")
            members = re.compile(r"^    (\w+): typing\.ClassVar\[\w+\]$", re.MULTILINE)
            text = members.sub(r"    \1 = ...", text)
            # Python sets __hash__ to None where a class has an __eq__: checkers know that.
            text = text.replace("    __hash__: typing.ClassVar[None] = None\n", "")
            # Keys of a dict are invariant for checkers: a dict by int must do.
            text = text.replace("dict[typing.SupportsInt | typing.SupportsIndex, ", "dict[int, ")
            stub.write_text(text, encoding="utf-8")
        shutil.rmtree(folder / "_core", ignore_errors=True)
        shutil.copytree(stub_folder, folder / "_core")


if __name__ == "__main__":
    generate(Path(sys.argv[1]))
