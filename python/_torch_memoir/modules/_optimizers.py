"""Records the tensors of an optimizer after each of its steps: parameters, their gradients, its state.

After every step torch calls Optimizer._optimizer_step_code, an empty function for torch.profiler, which Memoir replaces. Keeps no
optimizer alive, and adds no attribute to any.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import time
import weakref

from _torch_memoir import _stand_in, _unseen
from _torch_memoir.holders import _holders
from _torch_memoir.modules import _in_dynamo

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from torch import Tensor
    from torch.optim import Optimizer

    State = list[tuple[Tensor, int]]  # tensors of a parameter's state, and their addresses
    Held = list[tuple[Tensor, State, int | None]]  # a parameter, its state, the address of its gradient

_MOST = 126  # parameters in one call into the tracker
_MOST_STATE = 512  # tensors of their state in one call
_DEEPEST = 2  # levels of lists and dicts in a parameter's state
# Reading a large optimizer takes milliseconds. Its first step is always read, later ones while the total time stays below _SECONDS plus this share of the run time.
_SECONDS = 0.1
_SHARE = 0.005

# The source of our function (_stand_in.Body). torch's own function is empty. Ours calls it only while the Python tracer of torch.profiler runs: a tracer that
# also ran before Memoir's start finds the function by its code. If another tool has replaced torch's function, ours always calls that function.
_STEPPED = (
    (0, "def _optimizer_step_code(self):"),
    (-1, "  if in_dynamo(): return original(self)"),
    (-1, "  if not is_empty or type(profile_function()).__name__ == 'TraceContext': original(self)"),
    (-1, "  look(self)"),
)

# The functions that our function calls.
original: Callable[..., Any] | None = None
is_empty = False  # `original` does nothing
look: Any = None
in_dynamo: Callable[[], bool] | None = None
profile_function = functools.partial(sys.getprofile)  # profile functions see no call through `partial`

_replacement: Callable[..., Any] | None = None
_library: ctypes.PyDLL | None = None
_known: dict[int, tuple[weakref.ref[Optimizer], int, Any]] = {}  # id: (weak reference, number, tensors and the part of the capture that has them)
_numbers = 0
_begun = _looking = 0.0


def start(library: ctypes.PyDLL) -> None:
    global _library, _begun, _looking
    _library, _begun, _looking = library, time.monotonic(), 0.0
    _known.clear()
    _install(library)


def stop() -> None:
    global _library, _replacement
    _library = None
    _known.clear()
    import torch

    if _replacement is not None and torch.optim.Optimizer._optimizer_step_code is _replacement:
        torch.optim.Optimizer._optimizer_step_code = original
        _replacement = None


def _install(library: ctypes.PyDLL) -> None:
    global original, is_empty, look, in_dynamo, _replacement
    import torch

    own = getattr(torch.optim.Optimizer, "_optimizer_step_code", None)
    if _replacement is not None or own is None:
        return
    original, is_empty, look, in_dynamo = own, _does_nothing(own), _unseen.hidden(library, _look_and_step), _in_dynamo.function(library)
    _replacement = torch.optim.Optimizer._optimizer_step_code = _stand_in.make(_STEPPED, own, globals())


def _does_nothing(function: Any) -> bool:
    def empty(_: Any) -> None:
        """A docstring alone, as in torch's function."""

    code = function.__code__
    return code.co_code == empty.__code__.co_code and not code.co_names


def _look_and_step(optimizer: Optimizer) -> None:
    _look(optimizer)
    _holders.step(_holders.OPTIMIZER, id(optimizer))


def _look(optimizer: Optimizer) -> None:
    if _library is None or _library.memoir_level() != 2:
        return
    import torch

    try:
        with torch._C.DisableTorchFunctionSubclass():
            _look_at(_library, optimizer, torch.Tensor)
    except Exception:  # an unusual optimizer is not recorded; the program gets no error
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
    """Records that the optimizer stepped with the same tensors as last time."""
    library.memoir_optimizer_holds(number, None, 0, None, None, 0)


def _held(optimizer: Optimizer, kind: type) -> Held:
    """(parameter, tensors of its state, address of its gradient). Includes tensors of subclasses and tensors in lists, which torch.profiler
    leaves out."""
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
    """(tensor, its address) for each tensor in a parameter's state. For tensors in lists and dicts there, as in LBFGS, the address has its lowest bit set."""
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
    """Splits the list into lists for one call each."""
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
