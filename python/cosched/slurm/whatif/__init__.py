"""What if: a line of slurm.conf, a QOS, an account, a reservation were another."""
