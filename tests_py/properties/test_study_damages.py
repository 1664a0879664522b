"""Random damage to a campaign's files: `verify` names it, and `--resume` ends with the same table.

COSCHED_DAMAGES says how many (60 otherwise).
"""

import os
import random
import shutil
from pathlib import Path

import pytest

from cosched import experiments
from cosched.errors import StudyError
from support import same_results

NAME = "toy_studies:PLAIN"
COUNT = int(os.environ.get("COSCHED_DAMAGES", "60"))


def run(out, name=NAME, **options):
    return experiments.run(name, quick=True, workers=0, out=out, **options)


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """Folders of this study, finished and not, and of another one."""
    made = tmp_path_factory.mktemp("studies")
    with pytest.MonkeyPatch.context() as patch:
        run(made / "finished")
        run(made / "other", "toy_studies:RAISES")
        patch.setattr("cosched.experiments.runner.write_outputs", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(made / "stopped")
    return made


def interrupted(*_):
    raise KeyboardInterrupt


# --- damage: each changes a file, given its path, the other files, a folder of another study ---


def flip_a_bit(draw, path, *_):
    data = bytearray(path.read_bytes())
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)


def change_a_digit(draw, path, *_):
    data = bytearray(path.read_bytes())
    place = draw.choice([k for k, byte in enumerate(data) if 48 <= byte < 58])
    data[place] = draw.choice([digit for digit in range(48, 58) if digit != data[place]])
    path.write_bytes(data)


def truncate(draw, path, *_):
    path.write_bytes(path.read_bytes()[: draw.randrange(path.stat().st_size)])


def delete(draw, path, *_):
    path.unlink()


def swap(draw, path, files, _):
    other = draw.choice([file for file in files if file != path])
    kept = path.read_bytes()
    path.write_bytes(other.read_bytes())
    other.write_bytes(kept)


def duplicate_a_line(draw, path, *_):
    lines = path.read_bytes().splitlines(keepends=True)
    place = draw.randrange(len(lines))
    path.write_bytes(b"".join([*lines[: place + 1], *lines[place:]]))


def break_utf8(draw, path, *_):
    data = path.read_bytes()
    place = draw.randrange(len(data))
    path.write_bytes(data[:place] + b"\xff\xc3\x28" + data[place:])


def take_of_another_study(draw, path, files, other):
    name = f"state/{path.name}" if path.parent.name == "state" else path.name
    path.write_bytes((other / name).read_bytes())


def zero_a_block(draw, path, *_):
    data = bytearray(path.read_bytes())
    begin = draw.randrange(len(data))
    data[begin : begin + 512] = bytes(len(data[begin : begin + 512]))
    path.write_bytes(data)


DAMAGES = (
    *(flip_a_bit, change_a_digit, truncate, delete, swap, duplicate_a_line, break_utf8),
    *(take_of_another_study, zero_a_block),
)


def content(out: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}


@pytest.mark.parametrize("seed", range(COUNT))
def test_no_damage_is_silent_and_none_breaks(seed, studies, tmp_path, capsys):
    draw = random.Random(seed)
    out = tmp_path / "out"
    shutil.copytree(studies / ("stopped" if seed % 2 else "finished"), out)
    before = content(out)
    files = sorted(
        file for pattern in ("state/*.*", "*.parquet", "tables/*.*", "report.html")
        for file in out.glob(pattern)
    )  # fmt: skip
    assert not any(file.damage for file in experiments.verify(out))
    damage = DAMAGES[seed // 2 % len(DAMAGES)]
    damage(draw, draw.choice(files), files, studies / "other")
    if content(out) == before:
        pytest.skip("a block of zeros became zeros")
    found = [file for file in experiments.verify(out) if file.damage]
    assert found
    capsys.readouterr()
    refused = ""
    try:
        run(out, resume=True)
    except StudyError as error:
        refused = str(error)
    said = capsys.readouterr().err
    if refused:  # the rows are another study's: one line, and what to do
        assert "was begun with another study" in refused
        assert f"remove {out / 'state'}" in refused
        shutil.rmtree(out / "state")
        run(out)
    else:
        assert said.count("\n") == len(found)
        for file in found:
            assert f"{out / file.name}: damaged ({file.damage})" in said
    assert same_results(out, (studies / "finished" / "results.parquet").read_bytes())
    assert not any(file.damage for file in experiments.verify(out))
