"""What a runner imports once and forks for each job: nearly all of a job's start is imports.

Snakemake's plugins are found, and the solver that it asks for its one job is there, before.
"""

import gc
import importlib
import sys
import threading

import snakemake.cli  # type: ignore[import-untyped]

importlib.import_module("snakemake.scheduling.milp")
snakemake.cli.get_argument_parser()
gc.freeze()  # forks share what nobody looks through


def main(arguments: list[str]) -> None:
    """``python -m snakemake ARGUMENTS``; does not return."""
    sys.argv = ["snakemake", *arguments]
    if "numpy" in sys.modules:  # of Python's own generators a fork takes care itself
        sys.modules["numpy"].random.seed()
    try:
        snakemake.cli.main()
    finally:  # one that looks for jobs again would keep what has ended for a second
        for thread in threading.enumerate():
            if isinstance(thread, threading.Timer):
                thread.cancel()
