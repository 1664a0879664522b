"""Streams of jobs: Lublin's model, the weeks of a log, another load."""

from cosched.cluster.workloads.asked_and_used import requests
from cosched.cluster.workloads.lublin_model import LUBLIN, LublinConstants, lublin
from cosched.cluster.workloads.stretch_worst import equal_shares_worst, unknown_times_worst
from cosched.cluster.workloads.traces import hpc2n_weeks, rescale_load
