"""One page about a log, for the one who decides: what happened, and what could have been."""

from cosched.cluster.page.document import audit
