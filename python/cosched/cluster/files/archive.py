"""Logs of the Parallel Workloads Archive, downloaded on demand with checksums."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from cosched.core.text import unknown_name
from cosched.errors import SolverError, optional


@dataclass(frozen=True)
class Log:
    """A named log: where it is, its SHA-256 checksum, what it records."""

    url: str
    sha256: str
    about: str

    @property
    def file(self) -> str:
        return self.url.rpartition("/")[2]


_ARCHIVE = "https://www.cs.huji.ac.il/labs/parallel/workload"

#: Logs that :func:`fetch` knows. Acknowledge the donor that each log's header names.
LOGS = {
    "HPC2N-2002": Log(
        f"{_ARCHIVE}/l_hpc2n/HPC2N-2002-2.1-cln.swf.gz",
        "e56a97045de773f2a395acaf74cb04e6e3393b9c8c5ae12b542b5de93bb04838",
        "202,876 jobs, 120 dual-processor nodes, 2002-2006 (Ake Sandgren)",
    ),
    "CTC-SP2-1996": Log(
        f"{_ARCHIVE}/l_ctc_sp2/CTC-SP2-1996-3.1-cln.swf.gz",
        "9fa28ac16c4386fb81b72a91d8bd8888281df2948a9d912769d387c5ee285bb4",
        "77,222 jobs, 338 nodes, 1996-1997 (Dan Dwyer and Steve Hotovy)",
    ),
    "NASA-iPSC-1993": Log(
        f"{_ARCHIVE}/l_nasa_ipsc/NASA-iPSC-1993-3.1-cln.swf.gz",
        "5589ae9b2fb78e3bf92de097497cf33a91607de1ad54563e43533f7827597f29",
        "18,239 jobs, 128 nodes, 1993 (Bill Nitzberg)",
    ),
    "LLNL-Atlas-2006": Log(
        f"{_ARCHIVE}/l_llnl_atlas/LLNL-Atlas-2006-2.1-cln.swf.gz",
        "cdde2327c7207abbd92c81c69e783561ca78103126c26a0da48d146dba0eff6d",
        "43,778 jobs, 1152 nodes of 8 processors, 2006-2007 (Moe Jette)",
    ),
}


def fetch(name: str, out: str | PathLike[str] = ".") -> Path:
    """Download a log of the Parallel Workloads Archive, checked against its checksum.

    A file that is already there with the right checksum is left alone and not downloaded
    again. A download that fails or does not match leaves nothing behind.

    Parameters
    ----------
    name : str
        A key of :data:`LOGS`, e.g. ``"HPC2N-2002"``.
    out : str or path-like
        An existing folder; the file keeps its name in the archive.

    Returns
    -------
    Path
        The file, for :func:`read_swf`.

    Raises
    ------
    OSError
        No network, no such folder, or the archive does not answer.
    SolverError
        The file that came is another one than it should be.

    Examples
    --------
    >>> cs.workloads.fetch("HPC2N-2002", out=".")  # doctest: +SKIP
    PosixPath('HPC2N-2002-2.1-cln.swf.gz')
    >>> cs.workloads.fetch("HPC2N")
    Traceback (most recent call last):
        ...
    ValueError: unknown log 'HPC2N' (near: HPC2N-2002)
    """
    if name not in LOGS:
        raise ValueError(unknown_name("log", name, LOGS))
    folder = Path(out)
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no such folder to write {LOGS[name].file} into")
    pooch = optional("pooch", extra="fetch")
    log = LOGS[name]
    pooch.get_logger().setLevel(logging.WARNING)
    try:
        pooch.retrieve(
            log.url,
            f"sha256:{log.sha256}",
            fname=log.file,
            path=folder,
            downloader=pooch.HTTPDownloader(timeout=30),
        )
    except OSError as error:
        if type(error).__module__.startswith("requests"):
            reason = getattr(getattr(error, "response", None), "status_code", None)
            what = f"the server says {reason}" if reason else "no network, or no answer"
            raise OSError(f"{name}: cannot download {log.url}: {what}") from None
        raise
    except ValueError as error:
        if "does not match" not in str(error):
            raise
        raise SolverError(
            f"{name}: {log.url} has another checksum than expected: nothing was written"
        ) from None
    return folder / log.file
