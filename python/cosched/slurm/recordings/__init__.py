"""Recordings of real Slurms, and how far the twin is from them."""
