"""What jobs run on: types of nodes, partitions, names of hosts."""

from cosched.cluster.machine.machine import Machine, machine_of
