"""Names for the reference paths by which the program reaches its tensors.

    losses[…] (list, global of train.py)
    Trainer.cache[…] (dict, local of main() in train.py)
    model.fc._forward_hooks[…].seen[…] (list, in the closure of hook(), global of train.py)

A path is a chain of objects. The name of each link is found by looking in the object for the next one, by identity.
"""

from __future__ import annotations

import collections
import functools
import os
import types

from _torch_memoir.holders import _referents

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

_OF_MODULES = {"_modules", "_parameters", "_buffers"}  # dicts of a torch.nn.Module whose entries are its attributes
_FEW_KEYS = 16  # names of items in a larger dict have no keys; other keys appear only if they are identifiers
_MOST_PIECES, _MOST_NOTES = 8, 3
_MOST_LETTERS = 40  # characters of a name


class Name:
    """The name of one object: the path to it, and notes about the path."""

    __slots__ = "attributes", "notes", "owner", "path"

    def __init__(self, path: tuple[str, ...], notes: tuple[str, ...], owner: str = "", attributes: bool = False) -> None:
        self.path = _bounded(once(path))
        self.notes = notes if len(notes) <= _MOST_NOTES else (*notes[: _MOST_NOTES - 1], notes[-1])  # notes along the path, nearest first
        self.owner = owner  # class of the container that has the object as an item: "list"
        self.attributes = attributes  # the object is a dict with the attributes of the object before it

    def text(self) -> str:
        said = ", ".join(dict.fromkeys(note for note in (self.owner, *self.notes) if note))
        return "".join(self.path) + (f" ({said})" if said else "")


def _bounded(path: tuple[str, ...]) -> tuple[str, ...]:
    """The path without its middle, if it is long."""
    if len(path) <= _MOST_PIECES:
        return path
    return (*path[:4], "…", *(piece for piece in path[-4:] if piece != "…"))


def once(path: tuple[str, ...]) -> tuple[str, ...]:
    """Shortens a repeated piece: a linked list's "node.before.before.before" becomes "node.before…"."""
    if len(path) > 1 and path[-1] != "[…]" and path[-2] in (path[-1], path[-1] + "…"):
        return (*path[:-2], path[-1].rstrip("…") + "…")
    return path


def _cut(name: str) -> str:
    return name if len(name) <= _MOST_LETTERS else name[: _MOST_LETTERS - 1] + "…"


def file_of(code: types.CodeType) -> str:
    return os.path.basename(code.co_filename)


class HolderNames:
    """Names of the objects that a search has reached. `parents` has, for each, the number of the object before it; -1: a root, which has a label."""

    def __init__(self, objects: Sequence[object], parents: Sequence[int], labels: dict[int, str], is_tensor: Callable[[type], bool]) -> None:
        self._objects, self._parents, self._labels, self._is_tensor = objects, parents, labels, is_tensor
        self._names: dict[int, Name] = {}  # by number of the object

    def of(self, number: int) -> Name:
        """Returns the name of an object. Names the objects on the path to it first, without recursion, because a path may be long."""
        way = []
        while number not in self._names and self._parents[number] >= 0:
            way.append(number)
            number = self._parents[number]
        if number not in self._names:
            label = self._labels.get(number, "")
            space = type(self._objects[number]) is dict
            self._names[number] = Name((), (), label, True) if space else Name((), (label,))
        for at in reversed(way):
            self._names[at] = self._child(at)
        return self._names[way[0] if way else number]

    def _child(self, number: int) -> Name:
        parent = self._parents[number]
        thing, holder, before = self._objects[number], self._objects[parent], self._names[parent]
        try:
            return self._step(thing, holder, before, parent)
        except Exception as error:  # the object changed meanwhile, or is inconsistent
            _referents.pass_on(error)
            return Name((*before.path, "…"), before.notes)

    def _step(self, thing: Any, holder: Any, before: Name, parent: int) -> Name:
        kind = type(holder)
        if issubclass(kind, dict):
            if thing is _referents.instance_dict(holder):
                return Name(before.path, before.notes, _referents.class_name(kind), True)
            return _of_dict(thing, holder, kind, before)
        if self._is_tensor(kind):
            return _of_tensor(thing, holder, kind, before, self._is_tensor(type(thing)))
        if issubclass(kind, (list, tuple, collections.deque)):
            return Name((*before.path, "[…]"), before.notes, _referents.class_name(kind))
        if issubclass(kind, (set, frozenset)):
            return Name((*before.path, "[…]"), before.notes, _referents.class_name(kind))
        if kind is types.FunctionType:
            return _of_function(thing, holder, before)
        if kind is types.FrameType:
            return _of_frame(thing, holder, before, self._labels.get(parent))
        return _of_object(thing, holder, kind, before)


def _of_dict(thing: Any, holder: Any, kind: type, before: Name) -> Name:
    count = dict.__len__(holder)
    if before.attributes or count <= _FEW_KEYS:
        for key, value in list(dict.items(holder)):
            if value is thing and type(key) is str and (before.attributes or key.isidentifier()):
                many = count > _FEW_KEYS and key[-1:].isdigit() and not key.isdigit()  # past_0, past_1, ...
                name = key.rstrip("0123456789") + "…" if many else key
                if not before.attributes:
                    return Name((*before.path, f"[{_cut(name)!r}]"), before.notes, _referents.class_name(kind))
                return _attribute(thing, name, before)
    if before.attributes and any(key is thing for key in list(dict.keys(holder))):
        return Name((*before.path, "[key]"), before.notes, _referents.class_name(kind))
    cached = bool(before.notes) and before.notes[0].startswith("lru_cache")
    return Name((*before.path, "[…]"), before.notes, "" if cached else _referents.class_name(kind))


def item_text(thing: object, holder: object) -> str:
    """The name of an item if nothing else is known: "dict['tensor']"."""
    kind = type(holder)
    space = holder if issubclass(kind, dict) else _referents.instance_dict(holder)
    before = Name((_referents.class_name(kind),), (), "", space is not holder)
    try:
        return "".join(_of_dict(thing, space, kind, before).path if space is not None else (*before.path, "[…]"))
    except Exception as error:
        _referents.pass_on(error)
        return _referents.class_name(kind)


def _attribute(thing: Any, name: str, before: Name) -> Name:
    owner = before.owner
    if not before.path:  # a global variable: the label of its root names the module
        return Name((_cut(name),), (owner,), "")
    if name in _OF_MODULES and type(thing) is dict:
        return Name(before.path, before.notes, owner, True)
    if name.isdigit():  # an item of a ModuleList
        return Name((*before.path, "[…]"), before.notes, owner)
    path = before.path
    if path == ("self",) or path == ("cls",):
        path = (owner or path[0],)
    return Name((*path, "." + _cut(name)), before.notes, "")


def _of_tensor(thing: Any, holder: Any, kind: type, before: Name, is_gradient: bool) -> Name:
    if thing is _referents.instance_dict(holder):
        return Name(before.path, before.notes, _referents.class_name(kind), True)
    if issubclass(type(thing), dict):
        return Name((*before.path, "._backward_hooks"), before.notes)
    return Name((*before.path, ".grad" if is_gradient else ".grad_fn"), before.notes, before.owner)


def _of_function(thing: Any, holder: types.FunctionType, before: Name) -> Name:
    for name, value in _referents.closure_of(holder):
        if value is thing:
            return Name((*before.path, "." + _cut(name)) if before.path else (_cut(name),), (f"in the closure of {_short(holder)}()", *before.notes))
    if thing is holder.__defaults__ or thing is holder.__kwdefaults__:
        return Name(before.path, (f"default of {_short(holder)}()", *before.notes))
    return Name(before.path, before.notes, "function", thing is holder.__dict__)


def _short(function: types.FunctionType) -> str:
    name = function.__code__.co_name
    return "lambda" if name == "<lambda>" else _cut(name)


def _of_frame(thing: Any, frame: types.FrameType, before: Name, root: str | None) -> Name:
    found = next((name for name, value in _referents.locals_of(frame) if value is thing), "…")
    where = f"local of {_cut(frame.f_code.co_name)}() in {file_of(frame.f_code)}"
    if root is not None:
        return Name((_cut(found),), (where,))
    return Name((*before.path, (": " if before.path else "") + _cut(found)), (where, *before.notes))


def _of_object(thing: Any, holder: Any, kind: type, before: Name) -> Name:
    if kind is types.MethodType or kind is functools.partial:
        return Name(before.path, before.notes, "" if kind is types.MethodType else "functools.partial")
    if kind is _referents.LRU_CACHE:
        name = (_referents.instance_dict(holder) or {}).get("__name__")
        note = f"lru_cache of {_cut(name)}()" if type(name) is str else "lru_cache"
        if type(thing) is dict:  # an argument of a cached call
            return Name(before.path, (note, *before.notes))
        return Name((*before.path, "[…]"), (note, *before.notes))
    if thing is _referents.instance_dict(holder):
        return Name(before.path, before.notes, _referents.class_name(kind), True)
    if kind is types.TracebackType:
        return Name(before.path, before.notes)
    if issubclass(kind, BaseException):
        trace = type(thing) is types.TracebackType
        return Name(before.path, (("traceback of " if trace else "") + _referents.class_name(kind), *before.notes))
    if kind is types.GeneratorType or kind is types.CoroutineType or kind is types.AsyncGeneratorType:
        return _of_generator(thing, holder, before)
    if issubclass(kind, type):
        name = next((key for key, value in list(_referents._dict_of(holder).items()) if value is thing and type(key) is str), None)
        return Name(before.path if name is None else (*before.path, "." + _cut(name)), before.notes, "", name is None)
    return _of_instance(thing, holder, kind, before)


def _of_generator(thing: Any, holder: Any, before: Name) -> Name:
    frame = getattr(holder, "gi_frame", None) or getattr(holder, "cr_frame", None) or getattr(holder, "ag_frame", None)
    found = "…" if frame is None else next((name for name, value in _referents.locals_of(frame) if value is thing), "…")
    return Name((*before.path, ": " + _cut(found)), (f"local of the generator {_cut(holder.__name__)}()", *before.notes))


def _of_instance(thing: Any, holder: Any, kind: type, before: Name) -> Name:
    """Attributes may be stored in the object, without a dict, or in __slots__."""
    owner = _referents.class_name(kind)
    if owner == "ndarray":
        return Name((*before.path, ".base"), before.notes, owner)
    named = [*(_referents.instance_dict(holder) or {}).items(), *_referents.slots(holder)]
    for name, value in named:
        if value is thing and type(name) is str:
            return _attribute(thing, name, Name(before.path, before.notes, owner, True))
    return Name((*before.path, ".…"), before.notes, owner)
