"""What an optimizer holds after each of its steps: parameters, their gradients, its state.

torch calls Optimizer._optimizer_step_code, which does nothing, after every step, so that torch.profiler can look; we stand in its place
and call it. Keeps no optimizer alive, and leaves no trace in any.
"""

import ctypes
import time
import weakref

_MOST = 126  # parameters of one call into the tracker,
_MOST_STATE = 512  # and tensors of their state
# Looking at a large optimizer takes milliseconds. Its first step is always looked at, later ones as long as that takes no more than this.
_SECONDS = 0.1
_SHARE = 0.005

original = look = is_dynamo_compiling = None  # what our function calls
_replacement = None
_library = None
_known = {}  # id: (weak reference, number, what it held)
_numbers = 0
_begun = _looking = 0.0


def start(library):
    global _library, _begun, _looking
    _library, _begun, _looking = library, time.monotonic(), 0.0
    _known.clear()
    _install()


def stop():
    global _library, _replacement
    _library = None
    _known.clear()
    import torch

    if _replacement is not None and torch.optim.Optimizer._optimizer_step_code is _replacement:
        torch.optim.Optimizer._optimizer_step_code = original
        _replacement = None


def _install():
    global original, look, is_dynamo_compiling, _replacement
    import torch

    own = getattr(torch.optim.Optimizer, "_optimizer_step_code", None)
    if _replacement is not None or own is None:
        return
    original, look, is_dynamo_compiling = own, _look, torch.compiler.is_dynamo_compiling

    def _optimizer_step_code(self) -> None:
        original(self)
        if not is_dynamo_compiling():
            look(self)

    _optimizer_step_code.__qualname__, _optimizer_step_code.__module__ = own.__qualname__, own.__module__
    _replacement = torch.optim.Optimizer._optimizer_step_code = _optimizer_step_code


def _look(optimizer):
    if _library is None or _library.memoir_level() != 2:
        return
    import torch

    try:
        with torch._C.DisableTorchFunctionSubclass():
            _look_at(optimizer, (torch.Tensor, torch.nn.Parameter))
    except Exception:  # a strange optimizer is not recorded; the program must not see why
        pass


def _look_at(optimizer, kinds):
    global _looking, _numbers
    known = _known.get(id(optimizer))
    if known is None or known[0]() is not optimizer:
        _numbers += 1
        known = (weakref.ref(optimizer), _numbers, None)
    begun = time.monotonic()
    if known[2] is not None and _looking > _SECONDS + _SHARE * (begun - _begun):
        return _stepped(known[1])
    held = _held(optimizer, kinds)
    what = [(parameter._cdata, [tensor._cdata for tensor in state], gradient) for parameter, state, gradient in held]
    if what != known[2]:
        _known[id(optimizer)] = (known[0], known[1], what)
        _record(known[1], held)
    _stepped(known[1])
    _looking += time.monotonic() - begun


def _stepped(number):
    """It holds what was said of it last."""
    _library.memoir_optimizer_holds(number, None, 0, None, None, 0)


def _held(optimizer, kinds):
    """(parameter, tensors of its state, address of its gradient), as torch.profiler lists them."""
    held = []
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if type(parameter) in kinds:
                state = optimizer.state.get(parameter)
                state = dict.values(state) if issubclass(type(state), dict) else ()
                gradient = parameter.grad if parameter.is_leaf else None
                held.append((parameter, [value for value in state if type(value) in kinds], None if gradient is None else gradient._cdata))
    return held


def _record(number, held):
    more = 0
    for part in _parts(held):
        parameters = [parameter for parameter, _ in part]
        state = [tensor for _, tensors in part for tensor in tensors]
        counts = (ctypes.c_uint32 * len(part))(*(len(tensors) for _, tensors in part))
        _library.memoir_optimizer_holds(number, _addresses(parameters), len(part), _addresses(state), counts, more)
        more = 1


def _parts(held):
    """Lists of (parameter, its state), each for one call."""
    part, states = [], 0
    for parameter, tensors, _ in held:
        tensors = tensors[:_MOST_STATE]
        if len(part) == _MOST or (part and states + len(tensors) > _MOST_STATE):
            yield part
            part, states = [], 0
        part.append((parameter, tensors))
        states += len(tensors)
    if part:
        yield part


def _addresses(tensors):
    return (ctypes.c_void_p * len(tensors))(*(tensor._cdata for tensor in tensors))
