"""Associations, shares and QOS, as Slurm's commands print them."""
