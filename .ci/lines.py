"""Lines of product code by folder: .py, .cpp and .hpp below python/ and cpp/, as ``wc -l`` has them.

``python .ci/lines.py [COMMIT] [--most N]``: of HEAD, or of another commit beside it; with --most
it fails where there are more than N.
"""

import argparse
import subprocess
from collections import Counter
from pathlib import PurePosixPath


def git(*words: str) -> bytes:
    return subprocess.run(["git", *words], check=True, stdout=subprocess.PIPE).stdout


def rooms(commit: str) -> Counter[tuple[str, str]]:
    """Lines by folder (two levels below cosched) and kind of file."""
    line_counts: Counter[tuple[str, str]] = Counter()
    names = git("ls-tree", "-r", "--name-only", commit, "--", "python", "cpp").decode().split("\n")
    for path in map(PurePosixPath, names):
        if path.suffix in (".py", ".cpp", ".hpp"):
            folder = path.parent
            while len(folder.parts) > 3:
                folder = folder.parent
            line_counts[str(folder), path.suffix] += git("show", f"{commit}:{path}").count(b"\n")
    return line_counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("commit", nargs="?", help="what HEAD is compared with")
    parser.add_argument("--most", type=int, help="fail where HEAD has more lines")
    arguments = parser.parse_args()
    now = rooms("HEAD")
    before = rooms(arguments.commit) if arguments.commit else now
    for room in sorted({*now, *before}):
        change = f"{now[room] - before[room]:+7}" if arguments.commit else ""
        print(f"{now[room]:7}{change}  {room[0]} *{room[1]}")
    total = now.total()
    print(f"{total:7}{f'{total - before.total():+7}' if arguments.commit else ''}  in all")
    return int(arguments.most is not None and total > arguments.most)


if __name__ == "__main__":
    raise SystemExit(main())
