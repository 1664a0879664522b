"""The GPUs of jobs and of nodes."""

import numpy as np

from cosched.cluster.instance import Instance
from cosched.cluster.instance.usage import numbers_of
from cosched.cluster.machine import Machine
from cosched.cluster.machine.parts import node_attribute
from cosched.slurm.requests.node_sets import gpu_types_of


def gpus_of_jobs(instance: Instance) -> np.ndarray:
    """Return how many GPUs each job asks for."""
    return numbers_of(instance, "gpus").astype(np.int64)


def gpus_of_nodes(machine: Machine) -> list[list[int]]:
    """Return the GPUs of each node, by type."""
    gpus, types = node_attribute(machine, "gpus"), node_attribute(machine, "gpu_type")
    return [np.where(types == name, gpus, 0).tolist() for name in gpu_types_of(machine)]
