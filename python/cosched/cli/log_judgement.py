"""The judgement of a log, with the jobs that still run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cosched import cluster
from cosched.cli.families import read_instance
from cosched.core.text import count_of
from cosched.notes import Note, NoteKind


def judgement_with_running_jobs(
    file: Path, log_values: dict[str, Any], instance: cluster.Instance
) -> tuple[cluster.LogJudgement | None, list[Note]]:
    """Judge a log as ``slurm check`` does: with the jobs that still run, and with waits that begin
    when jobs were eligible.

    Returns
    -------
    LogJudgement or None, list of Note
        None where `instance` is that log already, or its machine is no slurm.conf; then the
        analysis judges `instance`. A note says how many jobs only the judgement counts.
    """
    is_of_slurm = instance.machine is not None and instance.machine.slurm is not None
    counts_from_submission = log_values["wait_from"] == "submit"
    lacks_running_jobs = any(
        note.kind is NoteKind.DROPPED and note.subject == cluster.files.NOT_ENDED
        for note in instance.notes
    )
    if not is_of_slurm or not (counts_from_submission or lacks_running_jobs):
        return None, []
    values_of_judgement = {**log_values, "wait_from": None}
    if lacks_running_jobs:
        values_of_judgement["include_running"] = True
    judged_instance = read_instance("cluster", file, values_of_judgement)
    running_jobs = len(judged_instance) - len(instance)
    notes = []
    if running_jobs > 0:
        verb = "runs" if running_jobs == 1 else "run"
        text = (
            f"assumed: {count_of(running_jobs, 'job')} that still {verb} at the end of the log: "
            "the judgement of the log counts them, all other numbers do not (--include-running)"
        )
        notes.append(Note(NoteKind.ASSUMED, text, subject="running jobs", count=running_jobs))
    return cluster.judge_log(judged_instance), notes
