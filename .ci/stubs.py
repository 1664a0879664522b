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
        made = Path(scratch, "cosched", "_core")
        for stub in made.iterdir():  # members of an enum, as type checkers expect them
            text = stub.read_text(encoding="utf-8")
            members = re.compile(r"^    (\w+): typing\.ClassVar\[\w+\]$", re.MULTILINE)
            stub.write_text(members.sub(r"    \1 = ...", text), encoding="utf-8")
        shutil.rmtree(folder / "_core", ignore_errors=True)
        shutil.copytree(made, folder / "_core")


if __name__ == "__main__":
    generate(Path(sys.argv[1]))
