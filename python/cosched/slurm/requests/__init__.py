"""What jobs ask for, and whose they are, in the core's form."""
