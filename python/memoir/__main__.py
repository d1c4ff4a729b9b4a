"""`python -m memoir`: the `memoir` command."""

from __future__ import annotations

from _torch_memoir._command import main

if __name__ == "__main__":
    main()
