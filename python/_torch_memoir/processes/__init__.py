"""Decides which processes of a job record, and finds the rank and coordinates of each."""
