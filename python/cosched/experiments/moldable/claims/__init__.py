"""What Dutot, Eyraud, Mounie, Trystram 2004 claim, row by row."""

from cosched.experiments.moldable.claims import pictures, sentences

CLAIMS = (*sentences.CLAIMS, *pictures.CLAIMS)

__all__ = ["CLAIMS"]
