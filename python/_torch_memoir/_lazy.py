"""Stand-ins for modules that annotations name. Each is imported when an annotation is evaluated (`typing.get_type_hints`). Type checkers see the real module.
"""

from __future__ import annotations


class Lazy:
    """A stand-in with the module's attributes. Importing `typing` takes milliseconds, importing torch seconds."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> object:
        return getattr(__import__(self._module, fromlist=["*"]), name)
