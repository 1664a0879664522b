"""The twin of Slurm's scheduler."""
