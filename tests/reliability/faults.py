"""The faults that are tried, each a function that yields tries: fewer of them in the short form, which is a test, than in the long one."""

import dataclasses
import typing


@dataclasses.dataclass
class Fault:
    name: str  # its row in docs/tested/reliability.md
    function: typing.Callable  # (lab, long) -> tries
    only_long: bool


FAULTS = {}


def fault(name, only_long=False):
    def register(function):
        assert name not in FAULTS and "|" not in name, name
        FAULTS[name] = Fault(name, function, only_long)
        return function

    return register


# In the order of the table.
import deaths  # noqa: E402, F401
import runs  # noqa: E402, F401
import limits  # noqa: E402, F401
import files  # noqa: E402, F401
import processes  # noqa: E402, F401
import surroundings  # noqa: E402, F401
import injected  # noqa: E402, F401
import damage  # noqa: E402, F401
