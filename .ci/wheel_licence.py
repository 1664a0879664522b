"""The licence of wheels that carry GLPK: `wheel_licence.py WHEEL...`, after auditwheel.

The source is under Apache-2.0. A wheel that carries GLPK is distributed under both licences: its
metadata says so, and the texts of both lie in it. A wheel without GLPK stays as it is.
"""

import base64
import csv
import hashlib
import io
import os
import re
import sys
import zipfile
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
EXPRESSION = "Apache-2.0 AND GPL-3.0-or-later"
#: Name in the wheel -> text in the repository.
TEXTS = {"LICENSE": "LICENSE", "GPL-3.0-or-later.txt": "LICENSES/GPL-3.0-or-later.txt"}
#: Fields that the expression and its files replace; the expression is of version 2.4.
REPLACED = re.compile(
    r"(Metadata-Version|License|License-Expression|License-File):|Classifier: License ::"
)


def carries_glpk(names: list[str]) -> bool:
    """Whether one of the files is the library."""
    return any(re.match(r"libglpk\b", name.rpartition("/")[2]) for name in names)


def with_both_licences(metadata: str) -> str:
    """The metadata of a wheel, with the expression and the names of the texts.

    The head ends at the first empty line; what follows is the description.
    """
    head, separator, description = metadata.partition("\n\n")
    other_lines = [line for line in _unfolded(head) if not REPLACED.match(line)]
    files = [f"License-File: {name}" for name in TEXTS]
    lines = ["Metadata-Version: 2.4", *other_lines, f"License-Expression: {EXPRESSION}", *files]
    return "\n".join(lines) + separator + description


def _unfolded(head: str) -> list[str]:
    """The fields of a head: lines that begin with a blank belong to the one before them."""
    fields: list[str] = []
    for line in head.splitlines():
        if line[:1] in (" ", "\t") and fields:
            fields[-1] += f"\n{line}"
        else:
            fields.append(line)
    return fields


def add_licences(wheel: Path) -> bool:
    """Write the licences into a wheel; False where it does not carry GLPK."""
    with zipfile.ZipFile(wheel) as archive:
        entries = [(info, archive.read(info)) for info in archive.infolist()]
    names = [info.filename for info, _ in entries]
    if not carries_glpk(names):
        return False
    (folder,) = {name.split("/")[0] for name in names if ".dist-info/" in name}
    texts = {
        f"{folder}/licenses/{name}": (REPO / path).read_bytes() for name, path in TEXTS.items()
    }
    replaced = {*texts, f"{folder}/RECORD", f"{folder}/LICENSE"}
    part_path = wheel.with_suffix(".part")
    record = []
    with zipfile.ZipFile(part_path, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, content in entries:
            if info.filename in replaced:
                continue
            is_metadata = info.filename == f"{folder}/METADATA"
            written = with_both_licences(content.decode()).encode() if is_metadata else content
            archive.writestr(info, written, zipfile.ZIP_DEFLATED)
            if not info.is_dir():
                record.append(_row(info.filename, written))
        for name, content in texts.items():
            archive.writestr(_entry(name), content, zipfile.ZIP_DEFLATED)
            record.append(_row(name, content))
        record.append((f"{folder}/RECORD", "", ""))
        rows = io.StringIO()
        csv.writer(rows, lineterminator="\n").writerows(record)
        archive.writestr(_entry(f"{folder}/RECORD"), rows.getvalue(), zipfile.ZIP_DEFLATED)
    os.replace(part_path, wheel)
    return True


def _entry(name: str) -> zipfile.ZipInfo:
    """Of a date that does not change, readable by all."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.external_attr = 0o100644 << 16
    return info


def _row(name: str, content: bytes) -> tuple[str, str, str]:
    """As RECORD has a file: name, digest, size."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return name, f"sha256={digest}", str(len(content))


def main() -> None:
    for path in map(Path, sys.argv[1:]):
        print(f"{path.name}: {EXPRESSION if add_licences(path) else 'without GLPK: unchanged'}")


if __name__ == "__main__":
    main()
