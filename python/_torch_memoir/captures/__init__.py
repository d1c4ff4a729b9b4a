"""Captures as Python reads them: tables, and answers of commands."""
