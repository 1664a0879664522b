"""A snapshot by slurmrestd: its answers, in the texts that Slurm's commands print."""
