"""Streams of jobs: Lublin's model, the weeks of a log, another load."""

from cosched.cluster.workloads.asked_and_used import requests
from cosched.cluster.workloads.lublin_model import lublin
from cosched.cluster.workloads.traces import hpc2n_weeks, rescale_load
