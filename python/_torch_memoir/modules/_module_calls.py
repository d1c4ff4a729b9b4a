"""The modules that are being called, and the path of a module that only a plain list or dict of its caller holds.

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(4, 4), nn.ReLU()]  # torch does not register these: here they are "layers.0" and "layers.1"

Calls no function of the program, and reads the locals of Memoir's frames only: before Python 3.13, locals that were read stay alive until their frame returns.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import Any

    from torch.nn import Module

_MOST_FRAMES = 2000
_MOST_LOOKED_AT = 4096  # elements of containers in one search


def open_calls() -> Iterator[Module]:
    """The modules that this thread is calling through Module.__call__, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return
        if frame.f_code.co_name == "_wrapped_call_impl" and frame.f_globals.get("__name__") == "_torch_memoir.modules._modules":
            yield frame.f_locals["self"]
        frame = frame.f_back


def attribute_of(attributes: dict[str, Any], module: Module) -> str:
    """The path of `module` in an object's `attributes`, through plain lists, tuples and dicts at most two deep. "" if it is not found."""
    left = [_MOST_LOOKED_AT]
    for name, value in list(attributes.items()):
        if name == "_modules":
            continue
        path = _path_in(value, module, left, 2)
        if path is not None:
            return name + path
    return ""


def _path_in(value: object, module: Module, left: list[int], levels: int) -> str | None:
    """The path of the module in the value. "" if the value is the module itself, None if the value does not contain it."""
    if value is module:
        return ""
    if levels == 0 or left[0] <= 0:
        return None
    for key, element in _elements(value):
        left[0] -= 1
        path = _path_in(element, module, left, levels - 1)
        if path is not None:
            return f".{key}{path}"
        if left[0] <= 0:
            break
    return None


def _elements(value: Any) -> Iterator[tuple[object, object]]:
    kind = type(value)
    if issubclass(kind, dict):
        for number, (key, element) in enumerate(list(dict.items(value))):
            yield (key if type(key) in (str, int) else number), element
    elif issubclass(kind, list):
        yield from enumerate(list.__iter__(value))
    elif issubclass(kind, tuple):
        yield from enumerate(tuple.__iter__(value))
