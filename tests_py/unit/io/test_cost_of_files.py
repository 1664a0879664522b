"""What a small file may cost: half a gigabyte of memory, ten seconds, and no wait without end.

Each file is read in a process of its own, whose memory the system limits.
"""

import gzip
import io
import itertools
import os
import random
import subprocess
import sys
import tarfile
import threading
import time
import types

import pytest

import cosched as cs
from cosched.io import parse_toml, pipes, read_text
from cosched.io.limit import MEMORY_ALWAYS_FINE, memory_of_content

#: Bytes of address space: what imports need, and half a gigabyte.
MAX_ADDRESS_SPACE = 1_500_000_000
READ = """
import resource, sys, time
import cosched as cs
imports = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
begin = time.process_time()
try:
    eval(sys.argv[1])
    said = ""
except cs.CoschedError as error:
    said = str(error)
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - imports
print(memory, time.process_time() - begin, said)
"""


def cost_of(expression, folder):
    """Kilobytes and seconds of the processor that a reader takes, and what it said."""
    done = subprocess.run(
        [sys.executable, "-c", READ, expression],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    memory, seconds, message = done.stdout.rstrip("\n").split(" ", 2)
    return int(memory), float(seconds), message


def nested(size):
    """JSON of lists without entries, between short texts that no packer foresees."""
    dice = random.Random(1)
    part = "[]," * 270
    parts = [f'"{dice.randrange(65536):04x}",{part}' for _ in range(size // 820)]
    return f'{{"times":[{"".join(parts)}[]]}}'


#: Files of at most a megabyte: name, content, and what reads it.
COSTLY = {
    "lists": ("a.json.gz", lambda: nested(100_000_000), "cs.packs.Instance.read('a.json.gz')"),
    "tables": (
        "b.json.gz",
        lambda: '{"times":[' + '{"a":1},' * 2_000_000 + "{}]}",
        "cs.packs.Instance.read('b.json.gz')",
    ),
    "lines": ("c.csv.gz", lambda: "a\n" + "1\n" * 7_900_000, "cs.packs.Instance.read('c.csv.gz')"),
    "cells": (
        "d.csv.gz",
        lambda: ("," * 30_000 + "\n") * 500,
        "cs.packs.Instance.read('d.csv.gz')",
    ),
    "wide characters": (
        "e.json.gz",
        lambda: '{"a":"' + "\U0001f600" + "x" * 15_900_000 + '"}',
        "cs.packs.Instance.read('e.json.gz')",
    ),
}


@pytest.mark.parametrize("kind", COSTLY)
def test_a_packed_file_costs_no_more_than_half_a_gigabyte(kind, tmp_path):
    name, make, expression = COSTLY[kind]
    packed = gzip.compress(make().encode(), 9)
    assert len(packed) <= 1_000_000
    (tmp_path / name).write_bytes(packed)
    memory, seconds, message = cost_of(expression, tmp_path)
    assert memory < 500_000
    assert seconds < 10
    assert "memory" in message or "expected" in message


def test_a_member_of_an_archive_costs_no_more(tmp_path):
    text = nested(15_000_000).encode()
    with tarfile.open(tmp_path / "a.tar.xz", "w:xz") as archive:
        member = tarfile.TarInfo("a.json")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    assert (tmp_path / "a.tar.xz").stat().st_size < 1_000_000
    memory, _, message = cost_of("cs.packs.Instance.read('a.tar.xz:a.json')", tmp_path)
    assert memory < 500_000
    assert "MB of memory" in message


def test_logs_and_instances_stay_below():
    """Lines as logs have them shrink to a thirtieth; what they take is below the limit by far."""
    line = (
        "1234567|job_name|user|account|normal|COMPLETED|2026-01-02T08:46:13|4|16|128000M|n[1-4]\n"
    )
    content = line.encode() * 10_000
    assert memory_of_content(content) < 300 / 30 * len(content)
    numbers = b'{"times": [' + b"[12.25, 7.125, 3.5]," * 10_000 + b"[1]]}"
    assert memory_of_content(numbers) < 300 / 10 * len(numbers)
    assert memory_of_content(b"1\n" * 1_000_000) < MEMORY_ALWAYS_FINE


def test_the_limit_can_be_lifted(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 2_500_000))
    with pytest.raises(cs.InvalidInstance, match=r"MB of memory.*--max-bytes"):
        read_text(path)
    with cs.io.max_bytes("1GB"):
        assert len(read_text(path)) == 10_000_004


@pytest.mark.parametrize("part", ["a", '"a b"', "'x'"])
def test_a_key_of_many_parts_is_refused_at_once(part):
    begin = time.process_time()
    with pytest.raises(cs.InvalidInstance, match=r"m.toml: line 2: a key of more than 100 parts"):
        parse_toml("procs = 1\n" + " . ".join([part] * 40_000) + " = 1", "m.toml")
    with pytest.raises(cs.InvalidInstance, match=r"line 1: a key"):
        parse_toml("[" + ".".join([part] * 40_000) + "]", "m.toml")
    assert time.process_time() - begin < 5


def test_points_in_values_are_no_keys():
    text = "1.2." * 500
    assert parse_toml(f'version = "{text}"\nlong.key.of.parts = 1', "m.toml")["version"] == text
    assert parse_toml("x = [" + "1.5, " * 500 + "]", "m.toml")["x"] == [1.5] * 500


def _read_head(path):
    return cs.io.read_head(path, 1000)


def test_a_pipe_that_cannot_be_opened_closes_without_an_error(tmp_path):
    pipe = pipes._Pipe.__new__(pipes._Pipe)
    with pytest.raises(FileNotFoundError):
        pipe.__init__(str(tmp_path / "none"))
    pipe.close()
    assert pipe.closed


def test_a_pipe_without_a_writer_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(pipes, "WRITER_PATIENCE", 0.2)
    path = tmp_path / "pipe.json"
    os.mkfifo(path)
    with pytest.raises(cs.InvalidInstance, match=r"pipe without a writer: waited 0.2 s"):
        read_text(path)
    with cs.time_limit(0.05), pytest.raises(cs.TimeLimit):
        read_text(path)


@pytest.mark.parametrize("start", [b"", b"task,processors,seconds\na,1,", b"\x1f\x8b\x08"])
@pytest.mark.parametrize("read", [cs.io.read_csv, cs.io.read_text, cs.io.open_text, _read_head])
def test_a_pipe_whose_writer_is_silent_ends(start, read, tmp_path, monkeypatch):
    monkeypatch.setattr(pipes, "SILENCE_PATIENCE", 0.3)
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    writer = os.open(path, os.O_RDWR)
    try:
        os.write(writer, start)
        with pytest.raises(cs.InvalidInstance, match=r"writer is silent: waited 0.3 s for a byte"):
            read(path)
        os.write(writer, start)
        with cs.time_limit(0.1), pytest.raises(cs.TimeLimit):
            read(path)
    finally:
        os.close(writer)


@pytest.mark.parametrize("read", [cs.io.read_csv, cs.io.read_text, cs.io.open_text, _read_head])
def test_a_pipe_whose_writer_writes_a_byte_at_a_time_ends(read, tmp_path, monkeypatch):
    """Each byte comes in time; the clock of the test goes on by 50 s with each look at it."""
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    writer = os.open(path, os.O_RDWR)
    looks = itertools.count()

    def pass_time(*_):
        look = next(looks)
        if look % 2:
            os.write(writer, b"a")
        return 50.0 * look

    clock = types.SimpleNamespace(monotonic=pass_time, sleep=time.sleep)
    monkeypatch.setattr(pipes, "time", clock)
    try:
        with pytest.raises(cs.InvalidInstance) as refusal:
            read(path)
    finally:
        monkeypatch.undo()
        os.close(writer)
    assert str(refusal.value).startswith(
        f"{path}: a pipe whose writer is slow: waited 600 s for its end: expected a file"
    )
    assert next(looks) < 100


def test_a_command_that_is_silent_ends_at_the_time_limit():
    """As of ``cosched solve packs <(sacct ...)``, which may take as long as it needs."""
    reader, writer = os.pipe()
    try:
        with cs.time_limit(0.1), pytest.raises(cs.TimeLimit):
            read_text(f"/dev/fd/{reader}")
    finally:
        os.close(reader)
        os.close(writer)


@pytest.mark.parametrize("pause", [0.0, 0.3])
@pytest.mark.parametrize("packed", [False, True])
def test_a_pipe_is_read_when_its_writer_comes(pause, packed, tmp_path):
    path = tmp_path / ("pipe.csv.gz" if packed else "pipe.csv")
    os.mkfifo(path)
    text = "a,b\n" + "1,2\n" * 100_000

    def write():
        time.sleep(pause)
        with open(path, "wb") as file:
            time.sleep(pause)
            file.write(gzip.compress(text.encode()) if packed else text.encode())

    writer = threading.Thread(target=write)
    writer.start()
    assert len(cs.io.read_csv(path).rows) == 100_000
    writer.join()


def test_a_command_that_writes_nothing_is_an_empty_file(tmp_path):
    """As of ``cosched solve packs <(command)``."""
    program = "import sys, cosched as cs; print(repr(cs.io.read_text(sys.argv[1])))"
    for command, expected in (("true", "''"), ("echo a; sleep 0.2; echo b", r"'a\nb\n'")):
        line = f"{sys.executable} -c '{program}' <({command})"
        done = subprocess.run(
            ["bash", "-c", line], capture_output=True, text=True, timeout=100, check=True
        )
        assert done.stdout == f"{expected}\n"
