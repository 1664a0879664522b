"""Do what the README's quick start says: `python .ci/quick_start.py README.md`.

With the installed package, in an empty folder: the section *From existing measurements*, with its
`runs.csv`, its command and its program.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import cosched

HERE = Path(__file__).resolve().parents[1]


def main(page: Path) -> None:
    assert not Path(cosched.__file__).is_relative_to(HERE / "python"), "not the installed package"
    (part,) = re.findall(
        r"^### From existing measurements$(.*?)^###? ", page.read_text(), re.M | re.S
    )
    for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", part, re.M | re.S):
        if language == "csv":
            Path("runs.csv").write_text(text)
        elif language == "bash":
            for line in filter(None, text.splitlines()):
                subprocess.run(shlex.split(line, comments=True), check=True)
        elif language == "python":
            subprocess.run([sys.executable, "-c", text], check=True)
    assert Path("plan.json").stat().st_size > 100
    print(f"cosched {cosched.__version__} in {Path(cosched.__file__).parent}: the quick start runs")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
