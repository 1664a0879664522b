"""A cluster now: its snapshot, and when its jobs will start."""

from cosched.slurm.live.backtesting import backtest
from cosched.slurm.live.snapshot import Snapshot as Snapshot
from cosched.slurm.live.starts import when
