"""How well the simulator of Slurm explains a log: one judgement for audit, tune and slurm check."""

from cosched.cluster.judgement.judge import judge_log as judge_log
from cosched.cluster.judgement.verdict import FitVerdict as FitVerdict, LogJudgement as LogJudgement
