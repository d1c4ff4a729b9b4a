"""Which processes of a job record, and where each stands in it."""
