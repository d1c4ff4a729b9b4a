"""The name of a module: its path from its root, its class, and its root. Found at the module's first call.

A root is the outermost module that owns the called one: usually the first one called, but also a model whose parts are called one by one. When a module
that was added later is first called, its root is walked again. A module without an owner that another module calls first belongs to that caller
(_module_calls.py). Keeps no module alive, and adds no attribute to any.
"""

from __future__ import annotations

import ctypes
import gc
import heapq
import sys
import time
import weakref

from _torch_memoir.modules import _module_calls

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Any

    from torch import Tensor
    from torch.nn import Module

current: ModuleNames | None = None  # the names of the recording that is running

# A module that belongs to no known root is looked for in all roots. If no root has it, its owner is looked for among all objects. Programs make modules all the
# time, so both searches are limited:
# - The search in roots, and the walk of a root that grew, may take _LOOK_SECONDS and then _LOOK_SHARE of the run time.
# - Modules without parts and parameters are no longer looked for in roots after _FRUITLESS_LOOKS searches in vain.
# - The search for owners may take _OWNER_SECONDS, and _OWNERLESS_OF_A_CLASS modules of one class.
# A module that is not found becomes a root.
_FRUITLESS_LOOKS = 256
_OWNERLESS_OF_A_CLASS = 3
_OWNER_SECONDS = 1.0
_LOOK_SECONDS = 1.0
_LOOK_SHARE = 0.01


def resolve(module: Module) -> None:
    """Called from C, unseen by trace functions, with a module that the tracker does not know, or whose parameters have changed."""
    names = current
    if names is None:
        return
    try:
        names.resolve(module)
    except Exception:  # an unusual module is not recorded; the program gets no error
        names.pass_over(module)


def forked() -> None:
    """Called in a forked child: begins with no names, because ids of the parent's recording are not valid in the child's."""
    global current
    if current is not None:
        current = ModuleNames.after(current)


def gone(reference: _Reference | _Root) -> None:
    """Called from C, unseen by trace functions, when a named module or a root has died."""
    names = current
    if names is None:
        return
    if isinstance(reference, _Root):
        names.forget_root(reference)
    else:
        names.forget(reference)


class _Reference(weakref.ref["Module"]):
    """A named module. `parameters`: addresses of its parameters. `root`, `path`: its name; an empty root: the module is skipped."""

    __slots__ = ("address", "number", "parameters", "path", "root")
    address: int
    number: int
    parameters: set[int]
    path: str
    root: str


class _Root(weakref.ref["Module"]):
    """A root. Its label is its class, with the lowest free number if another root of that class is alive. A root that belongs to the module that called it has
    that module's `label`, and its path there."""

    __slots__ = ("address", "counted", "label", "number", "path")
    address: int
    counted: str  # key in ModuleNames._labels of the counter that assigned the number; "" without a number
    label: str
    number: int
    path: str


class ModuleNames:
    def __init__(self, library: ctypes.PyDLL, gone_callback: Callable[[weakref.ref[Module]], None]) -> None:
        self._library = library
        self._gone = gone_callback
        self._known: dict[int, _Reference] = {}  # address: _Reference
        self._numbers: dict[tuple[str, str, str], int] = {}  # (root, path, class): its id in the ring
        self._roots: dict[int, _Root] = {}  # address: _Root
        # By class, or by path in the caller: the most labels that were in use at once, and the numbers that are free again.
        self._labels: dict[str, tuple[list[int], list[int]]] = {}
        self._fruitless = 0
        self._begun, self._looking = time.monotonic(), 0.0
        self._seconds = 0.0
        self._ownerless: dict[type, int] = {}  # class: how many had no owner
        self._layout_told = False
        self._new: list[tuple[Module, int]] = []  # (module, its number): modules whose tensors are still to be read
        self._parts: int = library.memoir_parts()
        self._parents: ModuleNames | None = None

    @classmethod
    def after(cls, parents: ModuleNames) -> ModuleNames:
        """The names for a forked child of the process of `parents`. Keeps `parents`, because to drop all its references would slow each fork."""
        names = cls(parents._library, parents._gone)
        names._parents = parents
        return names

    def resolve(self, module: Module) -> None:
        import torch

        if _is_compilers(module):  # the compiled region is recorded instead of the modules in it
            return self.pass_over(module)
        with torch._C.DisableTorchFunctionSubclass():  # so reading a parameter calls no function of the program
            try:
                if not self._say_again() or not self._knows(module):
                    self._find(module)
                self._look_at_new()
            finally:
                self._new.clear()  # the list keeps them alive

    def _say_again(self) -> bool:
        """Sends the tensors of all modules again for a new part of the capture: earlier parts may be evicted."""
        parts, before = self._library.memoir_parts(), self._parts
        self._parts = parts
        if parts == before:
            return False
        modules = ((reference(), reference.number) for reference in self._known.values())
        self._new.extend((module, number) for module, number in modules if module is not None and number)
        return True

    def _find(self, module: Module) -> None:
        begun = time.monotonic()
        root = self._root_of(module)
        again = id(root) in self._roots
        self._walk(root, _behind(root) is _behind(module))
        if again:
            self._looking += time.monotonic() - begun
        if not self._knows(module):  # called through a wrapper that owns no module, such as torch.compile's
            self._add(module, *self._place(module, True), set())

    def pass_over(self, module: Module) -> None:
        self._refer(module, 0)
        self._library.memoir_set_module(id(module), 0)

    def _look_at_new(self) -> None:
        """Reads the tensors of new modules once the layout of tensors is known, also of modules that are never called."""
        for module, number in self._new:
            if number:
                self._library.memoir_look_at_module(id(module), number if _answers_plainly(type(module)) else 0)

    def _refer(self, module: Module, number: int) -> _Reference:
        reference = self._known.get(id(module))
        if reference is None or reference() is not module:
            reference = self._known[id(module)] = _Reference(module, self._gone)
            reference.address, reference.parameters = id(module), set()
            reference.root = reference.path = ""
        reference.number = number
        return reference

    def _knows(self, module: Module) -> bool:
        known = self._known.get(id(module))
        return known is not None and known() is module

    def _root_of(self, module: Module) -> Module:
        module = _behind(module)
        if self._knows(module) or self._may_look(module):
            begun = time.monotonic()
            for reference in list(self._roots.values()):
                root = reference()
                if root is not None and any(part is module for _, part in _parts(root)):
                    return root
            self._fruitless += 1
            self._looking += time.monotonic() - begun
        return self._outermost_owner(module)

    def _may_look(self, module: Module) -> bool:
        if not _has_parts(module) and self._fruitless >= _FRUITLESS_LOOKS:
            return False
        return self._looking <= _LOOK_SECONDS + _LOOK_SHARE * (time.monotonic() - self._begun)

    def _outermost_owner(self, module: Module) -> Module:
        seen, first = {id(module)}, module
        while self._seconds < _OWNER_SECONDS and self._ownerless.get(type(module), 0) < _OWNERLESS_OF_A_CLASS:
            begin = time.monotonic()
            owner = _owner(module)
            self._seconds += time.monotonic() - begin
            if owner is None or id(owner) in seen:
                if module is first:
                    self._ownerless[type(module)] = self._ownerless.get(type(module), 0) + 1
                break
            seen.add(id(owner))
            module = owner
        return module

    def _walk(self, root: Module, called: bool) -> None:
        label, place = self._place(root, called)
        taken: set[int] = set()
        for path, module in _parts(root):
            self._add(module, label, _below(place, path), taken)
            inner = _behind(module)
            if inner is not module and path == "":  # torch.compile's wrapper has the name of the model that it wraps
                self._add(inner, label, place, taken)

    def _place(self, root: Module, called: bool) -> tuple[str, str]:
        """The label and path of a root. The path is "" if it belongs to no other module. `called`: whether the root itself, not a part of it, is being called."""
        there = self._roots.get(id(root))
        if there is not None and there() is root:
            return there.label, there.path
        reference = self._roots[id(root)] = _Root(root, self._gone)
        reference.address, reference.counted, reference.number = id(root), "", 1
        name = type(_behind(root)).__name__
        caller, attribute = self._caller_of(root)
        if caller is None or not (called or attribute):
            reference.label, reference.path = self._numbered(reference, "", name), ""
        else:
            reference.label = caller.root
            reference.path = _below(caller.path, attribute or self._numbered(reference, f"{caller.root}.{caller.path}.", name))
        return reference.label, reference.path

    def _caller_of(self, root: Module) -> tuple[_Reference | None, str]:
        """The innermost module being called that has `root` among its attributes, and the path there; else the innermost one, and ""."""
        innermost: _Reference | None = None
        for module in _module_calls.open_calls():
            caller = self._known.get(id(module))
            if module is root or _behind(module) is root or caller is None or not caller.root:
                continue
            innermost = innermost or caller
            if attribute := _module_calls.attribute_of(_attributes(_behind(module)), root):
                return caller, attribute
        return innermost, ""

    def _numbered(self, reference: _Root, place: str, name: str) -> str:
        """The name, with a number if another module of that name is alive at that path."""
        reference.counted = place + name
        used, free = self._labels.setdefault(reference.counted, ([0], []))
        if not free:
            used[0] += 1
        reference.number = heapq.heappop(free) if free else used[0]
        return name if reference.number == 1 else f"{name}#{reference.number}"

    def forget_root(self, reference: _Root) -> None:
        if self._roots.get(reference.address) is not reference:
            return  # the root belongs to an earlier recording
        del self._roots[reference.address]
        if reference.counted:
            heapq.heappush(self._labels[reference.counted][1], reference.number)

    def _add(self, module: Module, label: str, path: str, taken: set[int]) -> None:
        """`taken`: parameters of earlier modules: a tied parameter belongs to the first module that has it."""
        key = (label, path, type(_behind(module)).__name__)
        number = self._numbers.get(key)
        if number is None:
            number = self._library.memoir_define_module(*(_bytes(text) for text in key))
            self._numbers[key] = number
        if not self._knows(module) or self._known[id(module)].number != number:
            self._new.append((module, number))
        reference = self._refer(module, number)
        reference.root, reference.path = label, path
        self._library.memoir_set_module(id(module), number)
        parameters = _own_tensors(module, "_parameters")
        if not self._layout_told:
            self._tell_layout(parameters or _own_tensors(module, "_buffers"))
        for parameter in parameters:
            address = parameter._cdata
            if address not in taken:
                taken.add(address)
                reference.parameters.add(address)
                self._library.memoir_set_parameter(address, number)

    def _tell_layout(self, tensors: list[Tensor]) -> None:
        for tensor in tensors[:1]:
            self._layout_told = True
            self._library.memoir_python_tensor_layout(_impl_offset(tensor))

    def forget(self, reference: _Reference) -> None:
        if self._known.get(reference.address) is not reference:
            return  # the module belongs to another recording, or the address has a new module
        del self._known[reference.address]
        self._library.memoir_forget_module(reference.address)
        for address in reference.parameters:
            self._library.memoir_forget_parameter(address, reference.number)


def _is_compilers(module: Module) -> bool:
    """Whether torch.compile made the module: it has dynamo's mark, or it is a graph that the compilers call, possibly from another graph."""
    if "compile_subgraph_reason" in _attributes(module):
        return True
    graph_module = getattr(sys.modules.get("torch.fx.graph_module"), "GraphModule", None)
    if graph_module is None or graph_module not in type(module).__mro__:
        return False
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and (frame.f_code.co_filename.startswith("<eval_with_key>") or
                                 _module_of(frame).startswith(("_torch_memoir.", "torch.fx.", "torch.nn.modules.module"))):
        frame = frame.f_back
    return frame is not None and _module_of(frame).startswith(("torch._functorch.", "torch._dynamo.", "torch._inductor."))


def _module_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def _below(place: str, path: str) -> str:
    return f"{place}.{path}" if place and path else place or path


def _answers_plainly(kind: type) -> bool:
    """Whether a module's dicts of parameters and buffers can be read where torch puts them, so that no property of the class is called."""
    return not any(name in vars(base) for base in kind.__mro__ for name in ("_parameters", "_buffers"))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _impl_offset(tensor: Tensor) -> int:
    """The offset of the TensorImpl's address in a tensor's object; 0: not found."""
    if not getattr(sys, "_is_gil_enabled", lambda: True)():  # objects of a free-threaded Python have another layout
        return 0
    words = (ctypes.c_void_p * min(8, type(tensor).__basicsize__ // 8)).from_address(id(tensor))
    return 8 * next((i for i, word in enumerate(words) if i >= 2 and word == tensor._cdata), 0)


def _parts(root: Module) -> Iterator[tuple[str, Module]]:
    """(path, module) of the root and all below it, in the order of named_modules: a shared module by its first path."""
    seen: set[int] = set()
    waiting = [("", root)]
    while waiting:
        path, module = waiting.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        yield path, module
        wrapped = _behind(module)
        prefix = path if wrapped is not module else path and path + "."
        for name, part in reversed(_entries(module, "_modules")):
            if part is not None:
                waiting.append((path if part is wrapped else f"{prefix}{name}", part))


def _attributes(module: object) -> dict[str, Any]:
    attributes: dict[str, Any] = object.__getattribute__(module, "__dict__")
    return attributes


def _entries(module: Module, name: str) -> list[tuple[str, Any]]:
    """(key, value) of the module's dict of that name; torch's scripted modules have another container. Calls no function of the program."""
    held: Any = _attributes(module).get(name)
    if issubclass(type(held), dict):
        return list(dict.items(held))
    return list(held.items()) if type(held).__module__ == "torch.jit._script" else []


def _own_tensors(module: Module, name: str) -> list[Tensor]:
    import torch

    return [value for _, value in _entries(module, name) if issubclass(type(value), torch.Tensor)]


def _has_parts(module: Module) -> bool:
    return bool(_entries(module, "_modules")) or bool(_entries(module, "_parameters"))


def _behind(module: Module) -> Module:
    """The model that torch.compile wrapped, or the module itself."""
    if type(module).__module__ == "torch._dynamo.eval_frame":
        return next((part for name, part in _entries(module, "_modules") if name == "_orig_mod" and part is not None), module)
    return module


def _owner(module: Module) -> Module | None:
    """A module that has `module` as a part. Uses the garbage collector's referrers, and calls no method of any object."""
    import torch

    for holder in gc.get_referrers(module):
        if not isinstance(holder, dict) or not any(part is module for part in dict.values(holder)):
            continue
        for candidate in gc.get_referrers(holder):
            if type(candidate) is dict:  # an object's __dict__, in versions of Python that keep attributes there
                candidates = [c for c in gc.get_referrers(candidate) if issubclass(type(c), torch.nn.Module)]
            else:
                candidates = [candidate] if issubclass(type(candidate), torch.nn.Module) else []
            for owner in candidates:
                if _attributes(owner).get("_modules") is holder:
                    return owner
    return None
