"""What an optimizer holds after each of its steps: parameters, their gradients, its state.

torch calls Optimizer._optimizer_step_code, which does nothing, after every step, so that torch.profiler can look; we stand in its place
and call it. Keeps no optimizer alive, and leaves no trace in any.
"""

from __future__ import annotations

import ctypes
import time
import weakref

from memoir import _holders, _unseen

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from torch import Tensor
    from torch.optim import Optimizer

    State = list[tuple[Tensor, int]]  # tensors of a parameter's state, and their addresses
    Held = list[tuple[Tensor, State, int | None]]  # a parameter, its state, the address of its gradient

_MOST = 126  # parameters of one call into the tracker,
_MOST_STATE = 512  # and tensors of their state
_DEEPEST = 2  # lists and dicts in it
# Looking at a large optimizer takes milliseconds. Its first step is always looked at, later ones as long as that takes no more than this.
_SECONDS = 0.1
_SHARE = 0.005

# What our function calls.
original: Callable[..., Any] | None = None
look: Callable[[Optimizer], None] | None = None
is_dynamo_compiling: Callable[[], bool] | None = None
stepped = _holders.step

_replacement: Callable[..., Any] | None = None
_library: ctypes.PyDLL | None = None
_known: dict[int, tuple[weakref.ref[Optimizer], int, Any]] = {}  # id: (weak reference, number, what it held in which part of the capture)
_numbers = 0
_begun = _looking = 0.0


def start(library: ctypes.PyDLL) -> None:
    global _library, _begun, _looking
    _library, _begun, _looking = library, time.monotonic(), 0.0
    _known.clear()
    _install()


def stop() -> None:
    global _library, _replacement
    _library = None
    _known.clear()
    import torch

    if _replacement is not None and torch.optim.Optimizer._optimizer_step_code is _replacement:
        torch.optim.Optimizer._optimizer_step_code = original
        _replacement = None


def _install() -> None:
    global original, look, is_dynamo_compiling, _replacement
    import torch

    own = getattr(torch.optim.Optimizer, "_optimizer_step_code", None)
    if _replacement is not None or own is None:
        return
    original, look, is_dynamo_compiling = own, _look, torch.compiler.is_dynamo_compiling

    def _optimizer_step_code(self: Optimizer) -> None:
        original(self)
        if not is_dynamo_compiling():
            thread = _unseen.thread()
            _unseen.pause(thread)
            try:
                look(self)
            finally:
                _unseen.resume(thread)
            if _holders.library is not None:  # no call, which a profile function would be told of
                stepped(_holders.OPTIMIZER, id(self))

    _optimizer_step_code.__qualname__, _optimizer_step_code.__module__ = own.__qualname__, own.__module__
    _replacement = torch.optim.Optimizer._optimizer_step_code = _optimizer_step_code


def _look(optimizer: Optimizer) -> None:
    if _library is None or _library.memoir_level() != 2:
        return
    import torch

    try:
        with torch._C.DisableTorchFunctionSubclass():
            _look_at(_library, optimizer, torch.Tensor)
    except Exception:  # a strange optimizer is not recorded; the program must not see why
        pass


def _look_at(library: ctypes.PyDLL, optimizer: Optimizer, kind: type) -> None:
    global _looking, _numbers
    parts = library.memoir_parts()
    known = _known.get(id(optimizer))
    if known is None or known[0]() is not optimizer:
        _numbers += 1
        known = (weakref.ref(optimizer), _numbers, None)
    begun = time.monotonic()
    if known[2] is not None and known[2][0] == parts and _looking > _SECONDS + _SHARE * (begun - _begun):
        _stepped(library, known[1])
        return
    held = _held(optimizer, kind)
    what = parts, [(parameter._cdata, [address for _, address in state], gradient) for parameter, state, gradient in held]
    if what != known[2]:
        _known[id(optimizer)] = (known[0], known[1], what)
        _record(library, known[1], held)
    _stepped(library, known[1])
    _looking += time.monotonic() - begun


def _stepped(library: ctypes.PyDLL, number: int) -> None:
    """It holds what was said of it last."""
    library.memoir_optimizer_holds(number, None, 0, None, None, 0)


def _held(optimizer: Optimizer, kind: type) -> Held:
    """(parameter, tensors of its state, address of its gradient). Tensors of subclasses, too, and those in lists: torch.profiler leaves them out, and so do its rules."""
    held: Held = []
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if issubclass(type(parameter), kind) and type(parameter).__hash__ is kind.__hash__:
                state = optimizer.state.get(parameter)
                state = list(_tensors_in(state, kind, 0)) if issubclass(type(state), dict) else []
                gradient = parameter.grad if parameter.is_leaf else None
                held.append((parameter, state, None if gradient is None else gradient._cdata))
    return held


def _tensors_in(state: Any, kind: type, depth: int) -> Iterator[tuple[Tensor, int]]:
    """(tensor, its address) of those in a parameter's state; of those in lists and dicts in it, as LBFGS has them, the address with its lowest bit set."""
    for value in list(dict.values(state) if issubclass(type(state), dict) else state):
        if issubclass(type(value), kind):
            yield value, value._cdata | (depth > 0)
        elif type(value) in (dict, list, tuple) and depth < _DEEPEST:
            yield from _tensors_in(value, kind, depth + 1)


def _record(library: ctypes.PyDLL, number: int, held: Held) -> None:
    more = 0
    for part in _parts(held):
        parameters = [parameter._cdata for parameter, _ in part]
        state = [address for _, tensors in part for _, address in tensors]
        counts = (ctypes.c_uint32 * len(part))(*(len(tensors) for _, tensors in part))
        library.memoir_optimizer_holds(number, _addresses(parameters), len(part), _addresses(state), counts, more)
        more = 1


def _parts(held: Held) -> Iterator[list[tuple[Tensor, State]]]:
    """Lists of (parameter, its state), each for one call."""
    part: list[tuple[Tensor, State]] = []
    states = 0
    for parameter, all_tensors, _ in held:
        tensors = all_tensors[:_MOST_STATE]
        if len(part) == _MOST or (part and states + len(tensors) > _MOST_STATE):
            yield part
            part, states = [], 0
        part.append((parameter, tensors))
        states += len(tensors)
    if part:
        yield part


def _addresses(numbers: list[int]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(numbers))(*numbers)
