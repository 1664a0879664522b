"""Packed files: damaged, cut, too large; each reader refuses them in one line."""

import gzip
import io
import lzma
import os
import random
import subprocess
import sys
import tarfile
import zlib

import pytest

import cosched as cs
from border import FORMATS
from cosched.cli import main
from cosched.io import read_bytes
from cosched.io.limit import ALWAYS_FINE, MOST_BYTES, parse_size


@pytest.fixture(params=FORMATS, ids=lambda name: name.replace(" ", "-"))
def format(request):
    return FORMATS[request.param]


def one_line(error):
    assert isinstance(error, cs.CoschedError)
    assert "\n" not in str(error)
    return str(error)


def test_every_format_is_read_packed_as_it_is_plain(format, tmp_path):
    plain, packed = tmp_path / format.name, tmp_path / f"{format.name}.gz"
    plain.write_text(format.text)
    packed.write_bytes(gzip.compress(format.text.encode()))
    unpacked_result, other = format.read(plain), format.read(packed)
    if format.read.__name__ == "_swf":
        assert unpacked_result[0].equals(other[0])
    else:
        assert unpacked_result == other


def test_a_damaged_gzip_file_is_one_line(format, tmp_path):
    packed_bytes = gzip.compress(format.text.encode())
    path = tmp_path / f"{format.name}.gz"
    dice = random.Random(7)
    damaged = [
        packed_bytes[:end] for end in (*range(0, len(packed_bytes), 9), len(packed_bytes) - 1)
    ]
    for _ in range(60):
        place = dice.randrange(len(packed_bytes))
        damaged.append(
            packed_bytes[:place] + bytes([dice.randrange(256)]) + packed_bytes[place + 1 :]
        )
    refused = 0
    for data in damaged:
        path.write_bytes(data)
        try:
            format.read(path)  # a changed time stamp in the header harms nobody
        except cs.CoschedError as error:
            refused += path.name in one_line(error)
    assert refused > 40


@pytest.mark.parametrize("kind", ["", "gz", "bz2", "xz"])
def test_a_damaged_archive_is_one_line(kind, tmp_path):
    path = tmp_path / (f"graphs.tar.{kind}" if kind else "graphs.tar")
    with tarfile.open(path, f"w:{kind}") as archive:
        for name in ("amaris_het", "stg"):
            text = FORMATS[name].text.encode()
            member = tarfile.TarInfo(f"folder/{FORMATS[name].name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    archive_bytes = path.read_bytes()

    def read():
        return cs.dags.Instance.read(f"{path}:graph.stg", units=(2, 1), acceleration=2.0)

    assert read().tasks == 3
    dice = random.Random(7)
    refused = 0
    for _ in range(150):
        place = dice.randrange(len(archive_bytes))
        cut = archive_bytes[:place]
        path.write_bytes(
            cut if dice.random() < 0.3 else cut + dice.randbytes(2) + archive_bytes[place + 2 :]
        )
        try:
            read()
        except cs.CoschedError as error:
            refused += path.name in one_line(error)
    assert refused > 20


def test_a_cut_file_is_damaged_whatever_stands_at_its_end(tmp_path):
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(gzip.compress(FORMATS["packs csv"].text.encode())[:-8] + b"\xff" * 4)
    with pytest.raises(
        cs.InvalidInstance, match=r"damaged or cut: expected a complete \.gz or \.xz file"
    ):
        cs.packs.Instance.read(path)


# --- bombs ------------------------------------------------------------------------------------


class Zeros(io.RawIOBase):
    """So many zero bytes, without the memory for them."""

    def __init__(self, size):
        self.left = size

    def read(self, size=-1):
        size = min(size, self.left)
        self.left -= size
        return bytes(size)


def zeros(path, size):
    in_blocks(path, bytes(2**20), size // 2**20)


def repeated(path, size):
    """Shrinks to a 90th: bytes that are no text, and at the end a part of its own."""
    in_blocks(path, random.Random(1).randbytes(2**13) * 2**11, size // 2**24)
    with open(path, "ab") as file:
        file.write(gzip.compress(b"the end"))


def in_blocks(path, block, count):
    """A whole gzip file of so many equal blocks, of which one is compressed."""
    deflate = zlib.compressobj(1, wbits=-15)
    middle = deflate.compress(block) + deflate.flush(zlib.Z_FULL_FLUSH)
    check = 0
    for _ in range(count):
        check = zlib.crc32(block, check)
    size = len(block) * count % 2**32
    with open(path, "wb") as file:
        file.write(gzip.compress(b"")[:10])
        for _ in range(count):
            file.write(middle)
        file.write(deflate.flush() + check.to_bytes(4, "little") + size.to_bytes(4, "little"))


def lying(path):
    """The same file with a trailer that says it unpacks to 100 bytes."""
    data = path.read_bytes()
    path.write_bytes(data[:-4] + (100).to_bytes(4, "little"))


def test_what_unpacks_to_far_more_is_refused_by_its_ratio(format, tmp_path):
    path = tmp_path / f"{format.name}.gz"
    zeros(path, 64 * 2**20)
    with pytest.raises(cs.InvalidInstance, match=r"200 times its size.*--max-bytes") as error:
        format.read(path)
    assert path.name in one_line(error.value)


def test_the_limit_is_what_is_asked_for(tmp_path):
    plain, packed = tmp_path / "a.csv", tmp_path / "a.csv.gz"
    text = "task,1\n" + "".join(f"t{k},{k + 1}\n" for k in range(9999))
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    for path in (plain, packed):
        with cs.io.max_bytes(len(text)):
            assert cs.packs.Instance.read(path).tasks == 9999
        for size in (len(text) - 1, "1KB"):
            with cs.io.max_bytes(size), pytest.raises(cs.InvalidInstance, match="more than"):
                cs.packs.Instance.read(path)
    zeros(packed, ALWAYS_FINE + 2**22)
    packed_bytes = packed.read_bytes()
    lying(packed)
    with cs.io.max_bytes("4MB"), pytest.raises(cs.InvalidInstance, match="more than 4,000,000"):
        read_bytes(packed)
    packed.write_bytes(packed_bytes)
    with pytest.raises(cs.InvalidInstance, match="200 times"):
        read_bytes(packed)
    with cs.io.max_bytes("1GB"):  # asked for: no question about the ratio
        assert len(read_bytes(packed)) > ALWAYS_FINE


def test_pipes_and_devices_end_at_the_limit(tmp_path):
    with cs.io.max_bytes("1MB"), pytest.raises(cs.InvalidInstance, match="1,000,000 bytes"):
        read_bytes("/dev/zero")
    end, begin = os.pipe()
    with os.fdopen(begin, "wb") as file:
        file.write(gzip.compress(FORMATS["packs csv"].text.encode()))
    assert read_bytes(f"/dev/fd/{end}") == FORMATS["packs csv"].text.encode()
    os.close(end)


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
def test_an_archive_is_read_up_to_the_limit(kind, tmp_path):
    path = tmp_path / f"graphs.tar.{kind}"
    size = 40 * 2**20
    with tarfile.open(path, f"w:{kind}") as archive:
        member = tarfile.TarInfo("bomb.txt")
        member.size = size
        archive.addfile(member, Zeros(size))
        archive.addfile(tarfile.TarInfo("empty.txt"))
    for member in ("bomb.txt", "empty.txt"):  # that lies behind
        with pytest.raises(cs.InvalidInstance, match="200 times") as error:
            cs.dags.Instance.read(f"{path}:{member}", units=(1, 1))
        assert path.name in one_line(error.value)
    with cs.io.max_bytes("1MB"), pytest.raises(cs.InvalidInstance, match="1,000,000 bytes"):
        cs.io.archive_members(path)
    with cs.io.max_bytes("1GB"):
        assert cs.io.archive_members(path) == ["bomb.txt", "empty.txt"]


def test_holes_of_a_sparse_member_count(tmp_path):
    header = tarfile.TarInfo("holes.txt")
    header.pax_headers = {"GNU.sparse.major": "0", "GNU.sparse.minor": "1",
                          "GNU.sparse.map": "0,1", "GNU.sparse.size": str(10**12),
                          "GNU.sparse.name": "holes.txt"}  # fmt: skip
    header.size = 1
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(header, io.BytesIO(b"x"))
    with pytest.raises(cs.InvalidInstance, match=f"more than {MOST_BYTES:,} bytes"):
        cs.dags.Instance.read(f"{path}:holes.txt", units=(1, 1))


def test_sizes():
    assert [parse_size(text) for text in (7, "7", "7B", "2 kB", "2KiB", "1.5m", "1T")] == [
        7, 7, 7, 2000, 2048, 1_500_000, 10**12,
    ]  # fmt: skip
    for bad in ("", "x", "0", 0, -1, "-1", "1e3", "2GBB", None, 1.5, True, "9" * 18 + "T", "nan"):
        with pytest.raises(cs.InvalidInstance, match="max_bytes = "):
            parse_size(bad)


PEAK = """
import re, sys
from pathlib import Path
import cosched as cs
from border import FORMATS
for name, path in zip(*[iter(sys.argv[1:])] * 2):
    try:
        FORMATS[name].read(Path(path))
    except cs.InvalidInstance as error:
        assert path in str(error)
        # Not ru_maxrss, which a process inherits from the one that started it.
        peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]
        print(name, int(peak) // 1024, sep=",")
"""


def test_a_bomb_fills_no_memory(tmp_path):
    """A gigabyte of zeros for each reader: packed, with an honest or a lying trailer, and plain.

    And one that shrinks as a log does, whose last part says it is small.
    """
    zeros(tmp_path / "bomb", 2**30)
    (tmp_path / "lies").write_bytes((tmp_path / "bomb").read_bytes())
    lying(tmp_path / "lies")
    with open(tmp_path / "plain", "wb") as file:
        file.truncate(2**30)
    calls = []
    for kind, suffix in (("bomb", ".gz"), ("lies", ".gz"), ("plain", "")):
        for name, format in FORMATS.items():
            path = tmp_path / f"{kind}-{name.replace(' ', '-')}-{format.name}{suffix}"
            os.link(tmp_path / kind, path)
            calls += [name, str(path)]
    repeated(tmp_path / "parts.csv.gz", 1100 * 2**20)
    cut = tmp_path / "no-text.csv.gz"
    repeated(cut, 100 * 2**20)
    calls += ["packs csv", str(tmp_path / "parts.csv.gz"), "packs csv", str(cut)]
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *calls],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    peaks = [line.split(",") for line in done.stdout.splitlines()]
    assert len(peaks) == 3 * len(FORMATS) + 2  # each was refused
    assert max(int(peak) for _, peak in peaks) < 300, done.stdout


# --- the command line -------------------------------------------------------------------------


def test_the_command_line_takes_a_limit(tmp_path, capsys):
    path = tmp_path / "times.csv.gz"
    path.write_bytes(gzip.compress(FORMATS["packs csv"].text.encode()))
    call = ["bound", "packs", str(path)]
    assert main([*call, "--max-bytes", "1MB"]) == 0
    capsys.readouterr()
    for size, part in (("10", "more than 10 bytes"), ("many", "--max-bytes: 'many'")):
        assert main([*call, "--max-bytes", size]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert part in error


def test_too_little_memory_is_one_line(tmp_path, capsys, monkeypatch):
    path = tmp_path / "times.csv"
    path.write_text(FORMATS["packs csv"].text)

    def starved(instance):
        raise MemoryError("Unable to allocate 745. GiB")

    cs.register("packs", "starved", starved)
    assert main(["solve", "packs", str(path), "--algorithm", "starved"]) == 2
    assert capsys.readouterr().err == (
        "cosched: error: not enough memory (Unable to allocate 745. GiB): expected a smaller "
        "instance, or a machine with more\n"
    )


def test_lzma_of_a_foreign_kind(tmp_path):
    path = tmp_path / "a.tar.xz"
    path.write_bytes(lzma.compress(b"no archive at all"))
    with pytest.raises(cs.InvalidInstance, match="not a complete tar archive"):
        cs.io.archive_members(path)
