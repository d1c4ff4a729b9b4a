"""Which modules are being called, and where a module stands that no other one owns: in a plain list of its caller, say.

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(4, 4), nn.ReLU()]  # no parts of the model for torch: "layers.0" and "layers.1" here

Calls nothing of the program's, and looks at no frame but Memoir's own: the locals of another one, once they are asked for, stay
alive until it is left (before Python 3.13).
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
_MOST_LOOKED_AT = 4096  # elements of containers, at one look


def open_calls() -> Iterator[Module]:
    """The modules that the thread is calling through Module.__call__, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return
        if frame.f_code.co_name == "_wrapped_call_impl" and frame.f_globals.get("__name__") == "memoir._modules":
            yield frame.f_locals["self"]
        frame = frame.f_back


def attribute_of(attributes: dict[str, Any], module: Module) -> str:
    """The path of `module` among the attributes of another one, in plain lists, tuples and dicts at most two deep; "": it is not there."""
    left = [_MOST_LOOKED_AT]
    for name, value in list(attributes.items()):
        if name == "_modules":
            continue
        path = _path_in(value, module, left, 2)
        if path is not None:
            return name + path
    return ""


def _path_in(value: object, module: Module, left: list[int], levels: int) -> str | None:
    """"" where the value is the module; None where it is not in it."""
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
