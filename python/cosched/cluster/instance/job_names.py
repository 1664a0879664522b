"""What kind of job a job name stands for, without the part that differs in every run."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from cosched.lazy import pd
from cosched.notes import Note, NoteKind

#: What stands for a part of a name that differs from run to run.
PLACEHOLDER = "#"
#: Nextflow's names: what tells the tasks of a process apart, as in ``nf-ALIGN_(sample7)``.
_NEXTFLOW_SAMPLE = r"^(nf-.*?)_?\(.*\)$"
_UUID = r"[0-9a-fA-F]{8}(?:[-_]?[0-9a-fA-F]{4}){3}[-_]?[0-9a-fA-F]{12}"
#: Hexadecimal hashes: six characters or more, with a digit, between characters of other kinds.
_HEXADECIMAL_HASH = r"(?<![0-9A-Za-z])(?=[0-9a-fA-F]*[0-9])[0-9a-fA-F]{6,64}(?![0-9A-Za-z])"
_DIGITS = r"[0-9]+"
_TOKEN = re.compile(r"[^\W_]+")
#: Comments of Snakemake's Slurm plugin: ``rule_map_reads_wildcards_s1``.
_SNAKEMAKE_RULE = r"^rule_(.+?)(?:_+wildcards(?:_.*)?)?$"
#: A template replaces the names of single jobs where so many of them share it.
_NAMES_OF_A_TEMPLATE = 5


@dataclass(frozen=True)
class JobKinds:
    """The kind of each job, and how many kinds are not those of their names.

    Attributes
    ----------
    kinds : numpy.ndarray
        A text per job; :func:`names_a_kind` tells those that say nothing.
    by_comment : int
        Jobs whose name says nothing, called after the rule in their comment.
    nameless : int
        Jobs whose name is nothing but a variable part, and whose comment has no rule.
    """

    kinds: np.ndarray
    by_comment: int
    nameless: int

    @property
    def notes(self) -> tuple[Note, ...]:
        """Sentences about the jobs that are not grouped by their name."""
        notes = []
        if self.by_comment:
            text = (
                f"JobName differs in every run for {self.by_comment:,} jobs (UUIDs or numbers): "
                "they are grouped by the rule in Comment"
            )
            notes.append(Note(NoteKind.ASSUMED, text, subject="JobName", count=self.by_comment))
        if self.nameless:
            text = (
                f"JobName differs in every run for {self.nameless:,} jobs (UUIDs or numbers), and "
                "no Comment names a rule: they have no name of their own, and no export has them; "
                "--by comment or --by account may tell them apart"
            )
            notes.append(Note(NoteKind.UNKNOWN, text, subject="JobName", count=self.nameless))
        return tuple(notes)


def kinds_of_jobs(names: np.ndarray, comments: np.ndarray | None = None) -> JobKinds:
    """What each job is called without the part that differs from run to run.

    UUIDs, hexadecimal hashes and numbers become ``#``, of Nextflow's names the sample goes, and a
    word that only one job has becomes ``#`` where at least five jobs are alike without it. A job
    whose name says nothing then is called after the rule in its comment, as Snakemake's Slurm
    plugin writes it. Names that are numbers are kept, as a log in SWF calls its programs, unless
    most of them belong to one job each.

    Parameters
    ----------
    names : numpy.ndarray
        Job names, shape (n,).
    comments : numpy.ndarray, optional
        Comments, shape (n,).
    """
    of_job, distinct = pd.factorize(pd.Series(names, dtype=object).astype(str))
    texts = pd.Series(distinct, dtype=str)
    jobs_of_name = np.bincount(of_job, minlength=len(texts))
    kinds = _merge_names_of_one_job(remove_variable_parts(texts), jobs_of_name)
    is_number = texts.str.fullmatch(_DIGITS).to_numpy(dtype=bool)
    if not _differ_in_every_run(jobs_of_name[is_number]):
        kinds = kinds.where(~is_number, texts)
    kind_of_job = kinds.to_numpy(dtype=object)[of_job]
    has_no_kind = ~names_a_kind(kinds)[of_job]
    by_comment = np.zeros(len(of_job), dtype=bool)
    if comments is not None and has_no_kind.any():
        rules = rules_of_comments(comments)
        by_comment = has_no_kind & (rules != "")
        kind_of_job = np.where(by_comment, rules, kind_of_job)
    is_nameless = has_no_kind & ~by_comment & (kind_of_job != "")
    return JobKinds(kind_of_job, int(by_comment.sum()), int(is_nameless.sum()))


def _differ_in_every_run(jobs_of_name: np.ndarray) -> bool:
    """Return whether most of these names, and several, belong to one job each."""
    single = int((jobs_of_name == 1).sum())
    return single >= _NAMES_OF_A_TEMPLATE and 2 * single > len(jobs_of_name)


def remove_variable_parts(names: pd.Series) -> pd.Series:
    """The names with ``#`` for UUIDs, hexadecimal hashes and numbers.

    >>> import pandas as pd
    >>> remove_variable_parts(pd.Series(["run7-3f9a2c41", "nf-ALIGN_(s1)"])).tolist()
    ['run#-#', 'nf-ALIGN']
    """
    kinds = names.str.replace(_NEXTFLOW_SAMPLE, r"\1", regex=True)
    for pattern in (_UUID, _HEXADECIMAL_HASH, _DIGITS):
        kinds = kinds.str.replace(pattern, PLACEHOLDER, regex=True)
    return kinds


def names_a_kind(kinds: pd.Series) -> np.ndarray:
    """Whether a kind has a letter or digit left that is not a placeholder."""
    return kinds.str.contains(r"[^\W_]", regex=True).to_numpy(dtype=bool)


def rules_of_comments(comments: np.ndarray) -> np.ndarray:
    """The rule that Snakemake's Slurm plugin wrote into each comment; empty without one.

    >>> rules_of_comments(np.array(["rule_map_wildcards_s1", "rule_all", "please hurry"])).tolist()
    ['map', 'all', '']
    """
    of_job, distinct = pd.factorize(pd.Series(comments, dtype=object).astype(str))
    rules = pd.Series(distinct, dtype=str).str.extract(_SNAKEMAKE_RULE)[0].fillna("")
    return rules.to_numpy(dtype=object)[of_job]


def kinds_of_comments(comments: np.ndarray) -> np.ndarray:
    """Comments as groups: the rule where Snakemake's Slurm plugin wrote one, else the comment
    without UUIDs, hexadecimal hashes and numbers."""
    of_job, distinct = pd.factorize(pd.Series(comments, dtype=object).astype(str))
    rules = rules_of_comments(np.asarray(distinct))
    kinds = remove_variable_parts(pd.Series(distinct, dtype=str)).to_numpy(dtype=object)
    return np.where(rules != "", rules, kinds)[of_job]


def _merge_names_of_one_job(kinds: pd.Series, jobs_of_name: np.ndarray) -> pd.Series:
    """Kinds that a single job has, without the words that no other name has, where several names
    are alike then: random words of launchers, such as ``train-kqzwx`` and ``train-pmfae``."""
    jobs_of_kind = pd.Series(jobs_of_name).groupby(kinds).transform("sum")
    single = kinds[jobs_of_kind == 1]
    if len(single) < _NAMES_OF_A_TEMPLATE:
        return kinds
    words_of_names = pd.Series([set(_TOKEN.findall(kind)) for kind in kinds])
    names_of_word = words_of_names.explode().value_counts()
    templates = single.map(
        lambda kind: _TOKEN.sub(
            lambda word: word[0] if names_of_word[word[0]] > 1 else PLACEHOLDER, kind
        )
    )
    is_shared = templates.map(templates.value_counts()) >= _NAMES_OF_A_TEMPLATE
    is_shared &= templates.map(lambda template: _TOKEN.search(template) is not None)
    merged = kinds.copy()
    merged[templates.index[is_shared]] = templates[is_shared]
    return merged
