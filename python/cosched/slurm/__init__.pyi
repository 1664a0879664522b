# What the package shows, for type checkers, and for `cosched.lazy`, which imports it on first use.
from cosched.slurm.live.backtesting import backtest as backtest
from cosched.slurm.live.snapshot import Snapshot as Snapshot
from cosched.slurm.live.starts import when as when
from cosched.slurm.tuning.tune_settings import tune as tune
from cosched.slurm.tuning.tuned import Tuned as Tuned
from cosched.slurm.twin.backfill import backfill as backfill
