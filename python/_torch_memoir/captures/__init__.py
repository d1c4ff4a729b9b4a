"""Captures as Python reads them: tables, answers of commands, and torch's MemoryTracker."""
