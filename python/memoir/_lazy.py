"""Modules that annotations name, imported when somebody evaluates one (`typing.get_type_hints`): for type checkers they are the real ones."""

from __future__ import annotations


class Lazy:
    """In the place of a module, whose attributes it has. `typing` takes milliseconds to import, torch takes seconds."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> object:
        return getattr(__import__(self._module, fromlist=["*"]), name)
