"""The objects that an object of the program refers to, found without running the program's code: calls no __eq__, __hash__, __repr__, __getattr__ or property
of its classes, no operator of torch and no hook of autograd's.

Compares objects with `is`, and types by identity; reads names from dicts with dict's own functions.
"""

from __future__ import annotations

import collections
import ctypes
import functools
import gc
import itertools
import os
import sys
import sysconfig
import types

from _torch_memoir import _frames

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")  # the folder of the package
MOST_ITEMS = 4096  # of a container; a longer one is read from both ends

_OPTIMIZED = 1  # CO_OPTIMIZED: locals are in the frame, not in a dict
_STANDS_FOR_AT = 16  # in pybind11's instance, after the object's header: the address of the C++ object

# Objects that hold nothing, or whose referents all have a shorter path.
_LEAVES = {id(kind) for kind in (
    int, float, complex, str, bytes, bytearray, bool, type(None), type(Ellipsis), types.CodeType, types.ModuleType, types.BuiltinFunctionType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType, types.MethodDescriptorType, range, slice)}

_dict_of = type.__dict__["__dict__"].__get__  # of a class
_mro_of = type.__dict__["__mro__"].__get__
_name_of = type.__dict__["__qualname__"].__get__
LRU_CACHE = type(functools.lru_cache(len))


def pass_on(error: Exception) -> None:
    """Raises `error` again if code outside of Memoir and torch raised it, such as a signal handler of the program. Otherwise swallows it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file = trace.tb_frame.f_code.co_filename if trace is not None else HERE
    if not file.startswith(HERE) and f"{os.sep}torch{os.sep}" not in file:
        raise error


def class_name(kind: type) -> str:
    try:
        return str(_name_of(kind)).rpartition("<locals>.")[2].rpartition("::")[2]
    except Exception as error:
        pass_on(error)
        return "object"


def module_of(kind: type) -> str:
    """The module of a class; "": not known."""
    name = _dict_of(kind).get("__module__", "")
    return name if type(name) is str else ""


def instance_dict(thing: object) -> dict[str, object] | None:
    """The attributes of an object, read with object's own descriptor: its class may define another."""
    for kind in _mro_of(type(thing)):
        descriptor = _dict_of(kind).get("__dict__")
        if type(descriptor) is types.GetSetDescriptorType:
            try:
                found = descriptor.__get__(thing)
            except Exception as error:
                pass_on(error)
                return None
            return found if type(found) is dict else None
    return None


def module_dict(module: types.ModuleType) -> dict[str, object]:
    descriptor: Any = vars(types.ModuleType)["__dict__"]
    space: dict[str, object] = descriptor.__get__(module)
    return space


def slots(thing: object) -> Iterator[tuple[str, object]]:
    """The values in an object's __slots__."""
    for kind in _mro_of(type(thing)):
        for name, descriptor in list(_dict_of(kind).items()):
            if type(descriptor) is types.MemberDescriptorType and type(name) is str:
                try:
                    yield name, descriptor.__get__(thing)
                except Exception as error:  # not set
                    pass_on(error)
                    continue


def _ends(values: Iterable[object], count: int, backwards: Iterable[object]) -> list[object]:
    if count <= MOST_ITEMS:
        return list(values)
    return [*itertools.islice(values, MOST_ITEMS // 2), *itertools.islice(backwards, MOST_ITEMS // 2)]


def items_of(thing: object, kind: type) -> list[object] | None:
    """The items of a list, tuple, dict, set or deque, or of a class derived from one of them; None for other classes."""
    container: Any = thing
    if issubclass(kind, dict):
        count, values, keys = dict.__len__(container), dict.values(container), dict.keys(container)
        return [*_ends(values, count, reversed(values)), *(key for key in _ends(keys, count, reversed(keys)) if id(type(key)) not in _LEAVES)]
    for of in (list, tuple):
        if issubclass(kind, of):
            return _ends(of.__iter__(container), of.__len__(container), reversed(of.__getitem__(container, slice(-MOST_ITEMS // 2, None))))
    for held in (set, frozenset):
        if issubclass(kind, held):
            return list(itertools.islice(held.__iter__(container), MOST_ITEMS))
    if issubclass(kind, collections.deque):
        return _ends(collections.deque.__iter__(container), collections.deque.__len__(container), collections.deque.__reversed__(container))
    return None


def local_names(code: types.CodeType) -> list[str]:
    """The names of a frame's variables, in their order."""
    cells = code.co_cellvars if sys.version_info < (3, 11) else tuple(name for name in code.co_cellvars if name not in code.co_varnames)
    return [*code.co_varnames, *cells, *code.co_freevars]


def locals_of(frame: types.FrameType) -> list[tuple[str, object]]:
    """The variables of a frame, read in place: before Python 3.13 frame.f_locals makes a dict that the frame keeps, and the tensors with it."""
    code = frame.f_code
    if sys.version_info >= (3, 13) or not code.co_flags & _OPTIMIZED:
        space: Any = frame.f_locals
        return list(dict.items(space)) if type(space) is dict else list(space.items()) if code.co_flags & _OPTIMIZED else []
    known = _frames._LAYOUTS.get(sys.version_info[:2])
    if known is None or hasattr(sys, "gettotalrefcount") or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return []
    base = id(frame) if sys.version_info < (3, 11) else ctypes.c_void_p.from_address(id(frame) + 24).value  # f_frame
    if not base:
        return []
    names = local_names(code)
    found = []
    for name, address in zip(names, (ctypes.c_void_p * len(names)).from_address(base + known[1][3]), strict=True):
        if not address:
            continue
        value = ctypes.cast(address, ctypes.py_object).value
        if type(value) is types.CellType:
            inside = gc.get_referents(value)
            if not inside:
                continue
            value = inside[0]
        found.append((name, value))
    return found


def closure_of(function: types.FunctionType) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        found += [(name, inside) for inside in gc.get_referents(cell)]
    return found


def stands_for(thing: object) -> int:
    """The address of the C++ object behind an object of pybind11; 0: not made yet."""
    return ctypes.c_void_p.from_address(id(thing) + _STANDS_FOR_AT).value or 0


class Referents:
    """Finds referents of objects of one process. Make one per search: it caches facts about classes."""

    def __init__(self, torch: Any, module_dicts: set[int], own_classes: Any) -> None:
        self._c = torch._C
        self._tensor_base = base = torch._C.TensorBase
        self._grad_fn, self._grad, self._is_leaf = base.grad_fn.__get__, base.grad.__get__, base.is_leaf.__get__
        self._module_dicts = module_dicts  # dicts of all modules: these are roots, and nothing else leads to them
        self._own_class = own_classes  # whether a class belongs to the program; only such classes are searched for referents
        self._are_tensors: dict[int, bool] = {}  # by class
        self._saved: dict[int, list[str]] = {}  # by class of node: the names of the tensors that it saves
        self._kinds: list[type] = []  # keeps alive the classes whose identities are used
        reducer = module_dict(sys.modules["torch._C._distributed_c10d"]).get("Reducer") if "torch._C._distributed_c10d" in sys.modules else None
        self.reducer = reducer if isinstance(reducer, type) else None  # DistributedDataParallel's, which holds buckets of gradients in C++
        ndarray = getattr(sys.modules.get("numpy"), "ndarray", None)
        self._ndarray: Any = ndarray if type(ndarray) is type else None

    def close(self) -> None:
        """Breaks the reference cycle between this and the search."""
        self._own_class = None
        self._kinds.clear()

    def is_tensor(self, kind: type) -> bool:
        known = self._are_tensors.get(id(kind))
        if known is None:
            known = self._are_tensors[id(kind)] = issubclass(kind, self._tensor_base)
            self._kinds.append(kind)
        return known

    def tensor_kinds(self) -> set[int]:
        """Identities of all classes of tensors."""
        kinds = [self._tensor_base]
        for kind in kinds:
            kinds += type.__subclasses__(kind)
        return {id(kind) for kind in kinds}

    def is_leaf(self, thing: object, kind: type) -> bool:
        """Whether the object's referents need no search."""
        if id(kind) in _LEAVES or (kind is dict and id(thing) in self._module_dicts):
            return True
        return issubclass(kind, type) and not self._own_class(thing)

    def address(self, tensor: object) -> int:
        """The address of a tensor's bytes; 0: no bytes. Copy-on-write tensors are not copied."""
        try:
            return int(self._c._data_address(tensor))
        except Exception as error:
            pass_on(error)
            return 0

    def of(self, thing: object, kind: type) -> list[object]:
        """The referents of an object, without nodes of autograd and gradients."""
        items = items_of(thing, kind)
        if items is not None:
            attributes = None if kind is dict or kind is list or kind is tuple else instance_dict(thing)
            return items if attributes is None else [*items, attributes]
        if kind is types.FunctionType:
            function: Any = thing
            return [*(value for _, value in closure_of(function)), function.__defaults__, function.__kwdefaults__, function.__dict__]
        if kind is types.FrameType:
            frame: Any = thing
            return [value for _, value in locals_of(frame)]
        if kind is self._ndarray:
            array: Any = kind
            return [array.base.__get__(thing)]
        return gc.get_referents(thing)

    def gradient(self, tensor: object) -> object | None:
        try:
            return self._grad(tensor) if self._is_leaf(tensor) else None
        except Exception as error:
            pass_on(error)
            return None

    def node(self, tensor: object) -> object | None:
        """The node of autograd that made the tensor."""
        try:
            made: object | None = self._grad_fn(tensor)
            return made
        except Exception as error:  # a view that was changed in place, or not a strided tensor
            pass_on(error)
            return None

    def next_nodes(self, node: object) -> list[object]:
        try:
            return [following for following, _ in object.__getattribute__(node, "next_functions") if following is not None]
        except Exception as error:
            pass_on(error)
            return []

    def saved(self, node: object) -> Iterator[int]:
        """Addresses of the C++ objects in which a node saves tensors. They are not unpacked, because that would run hooks."""
        kind = type(node)
        names = self._saved.get(id(kind))
        if names is None:
            names = [
                name for base in _mro_of(kind) for name, descriptor in _dict_of(base).items()
                if type(name) is str and name.startswith("_raw_saved_") and type(descriptor) is types.GetSetDescriptorType]
            self._saved[id(kind)] = names
            self._kinds.append(kind)
        for name in names:
            try:
                value = object.__getattribute__(node, name)
            except Exception as error:  # freed by backward
                pass_on(error)
                continue
            for one in value if type(value) is tuple else (value,):
                if class_name(type(one)) == "SavedTensor":
                    yield stands_for(one)
