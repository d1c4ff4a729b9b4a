"""One search for the holders of this process's tensors, bounded in time and in objects.

    roots ──► objects ──► tensors ──► nodes of autograd ──► the tensors that they saved
    (global variables of the program, then local variables of all threads)

Breadth first, so the first path found is a shortest one. Runs none of the program's code (_referents.py), and drops its references at its end.
"""

from __future__ import annotations

import gc
import os
import sys
import sysconfig
import threading
import time
import types
from array import array

from _torch_memoir.holders import _holder_names, _referents

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SECONDS, NAMING_SECONDS = 0.7, 0.3  # of processor time; at the limit the search ends and reports its results so far
MOST_OBJECTS = 250_000
MOST_NODES = 20_000
_MOST_HOLDERS = 16_384  # tensors that a search reports
_MOST_CLIMBED = 64  # tensors that no variable of the program leads to, and objects that hold them
_MOST_LEVELS = 6
_MOST_OF_HEAP = 1_000_000  # objects that Python's garbage collector tracks: with more, a tensor's referrers are not looked up
_GRAPHS_OF_ONE = 32  # tensors of one container whose graphs are walked
_ADDRESSES = 32  # in one record
_CIRCLE = 64  # objects that may form a cycle


class Search:
    def __init__(self, torch: Any, collects: bool = True) -> None:
        self.collects = collects  # the program has Python's garbage collector switched on
        self.end = time.thread_time() + SECONDS
        self.objects: list[object] = []
        self.parents = array("l")  # for each object the number of its parent on the path; -1: a root
        self.labels: dict[int, str] = {}  # labels of roots
        self._seen: dict[int, int] = {}  # numbers of objects, by identity
        self._at = 0
        self._tensors: list[int] = []
        self._reducers: list[int] = []
        self._nodes: list[object] = []
        self._node_ways: list[tuple[int, tuple[str, ...]]] = []  # for each node the tensor of its graph, and the names of the nodes on the path to it
        modules = [(name, module) for name, module in list(sys.modules.items()) if type(name) is str and type(module) is types.ModuleType]
        dicts = [(name, _referents.module_dict(module)) for name, module in modules]
        self._dicts = [(name, space) for name, space in dicts if not _is_memoirs(name, space)]
        self._circles: list[tuple[object, object]] = []  # an object in a cycle, and the tensor that it holds
        self._own = _own_modules(self._dicts)
        self._others_run_backward = _others_run("_engine_run_backward")
        # A reducer that regroups its buckets waits for other ranks. While it waits, it holds its own lock, but not the interpreter's.
        self._others_run_ddp = self._others_run_backward or _others_run("_pre_forward", "_post_forward")
        self.referents = _referents.Referents(torch, {id(space) for _, space in dicts}, self._looks_into)

    def close(self) -> None:
        """Drops all references: a cycle would keep the found objects alive until the garbage collector runs, which may be off."""
        for held in (self.objects, self._nodes, self._node_ways, self._circles, self._dicts, self._tensors, self._reducers):
            held.clear()
        for known in (self.labels, self._seen, self._own):
            known.clear()
        self.referents.close()

    def run(self, record: Callable[[str, str], None], saved_address: Callable[[int], int], buckets: Callable[[int], list[int]]) -> None:
        """Runs the search. `record` gets addresses and their holder; `saved_address` and `buckets` get the address of a C++ object: a saved tensor's, a
        reducer's."""
        for name, space in self._dicts:
            if name == "__main__":
                self._add(space, -1, f"global of {_main_file(space)}")
        for frame in _frames_of_threads():
            self._add(frame, -1, "frame")
        for name, space in self._dicts:
            if name in self._own and name != "__main__":
                self._add(space, -1, f"global of {name}")
        for error in (getattr(sys, "last_exc", None), getattr(sys, "last_value", None)):
            if error is not None:
                self._add(error, -1, "the exception that ended the program")
        self._walk()
        self._walk_nodes()
        unfound = self._unfound() if self.has_time() else []
        if unfound and self.has_time():
            self._climb(unfound)
        for holder, addresses in self._found(saved_address, buckets).items():
            for at in range(0, len(addresses), _ADDRESSES):
                record(",".join(f"{address:x}" for address in addresses[at : at + _ADDRESSES]), holder)

    def has_time(self) -> bool:
        return time.thread_time() < self.end

    def _looks_into(self, kind: type) -> bool:
        return _referents.module_of(kind) in self._own

    def _add(self, thing: object, parent: int, label: str = "") -> None:
        if id(thing) in self._seen:
            return
        self._seen[id(thing)] = len(self.objects)
        if label:
            self.labels[len(self.objects)] = label
        self.objects.append(thing)
        self.parents.append(parent)

    def _walk(self) -> None:
        referents, seen, objects = self.referents, self._seen, self.objects
        while self._at < len(objects):
            if len(objects) > MOST_OBJECTS or (self._at % 256 == 0 and not self.has_time()):
                return
            number, thing = self._at, objects[self._at]
            self._at += 1
            kind = type(thing)
            if referents.is_tensor(kind):
                self._tensors.append(number)
                gradient = referents.gradient(thing)
                if gradient is not None:
                    self._add(gradient, number)
            elif kind is referents.reducer:
                self._reducers.append(number)
            try:
                found = referents.of(thing, kind)
            except Exception as error:  # another thread changes the dict
                _referents.pass_on(error)
                continue
            for child in found:
                if id(child) not in seen and not referents.is_leaf(child, type(child)):
                    self._add(child, number)

    def _walk_nodes(self) -> None:
        """Walks the graphs of autograd behind the tensors that were found, one node of each in turn."""
        known: set[int] = {id(node) for node in self._nodes}
        at = len(self._nodes)

        def add(node: object | None, number: int, way: tuple[str, ...]) -> None:
            if node is None or id(node) in known:
                return
            known.add(id(node))
            name = _referents.class_name(type(node))
            self._nodes.append(node)
            if way and way[-1] == name:
                self._node_ways.append((number, way))
            else:
                self._node_ways.append((number, (*way, name) if len(way) < 3 else (*way[:2], "…", name)))

        for number in self._sampled():
            add(self.referents.node(self.objects[number]), number, ())
        while at < len(self._nodes) < MOST_NODES:
            if at % 64 == 0 and not self.has_time():
                return
            for following in self.referents.next_nodes(self._nodes[at]):
                add(following, *self._node_ways[at])
            at += 1

    def _sampled(self) -> list[int]:
        """Numbers of tensors: from each container a sample, spread from its beginning to its end."""
        by_holder: dict[int, list[int]] = {}
        for number in self._tensors:
            by_holder.setdefault(self.parents[number], []).append(number)
        chosen = []
        for numbers in by_holder.values():
            every = max(1, -(-len(numbers) // _GRAPHS_OF_ONE))
            chosen += numbers[::every]
        return chosen

    def _unfound(self) -> list[object]:
        """Tensors of this process that no root leads to. A loop's iterator is in no variable, so generators are searched as well."""
        tensors, generators = self.referents.tensor_kinds(), {id(types.GeneratorType), id(types.CoroutineType)}
        wanted = tensors | generators
        everything = gc.get_objects()
        if len(everything) > _MOST_OF_HEAP:
            return []
        found = [thing for thing in everything if id(type(thing)) in wanted and id(thing) not in self._seen]
        del everything
        for thing in found:
            if id(type(thing)) in generators:
                self._add(thing, -1, "of a loop")
        self._walk()
        return [thing for thing in found if id(type(thing)) in tensors and id(thing) not in self._seen]

    def _climb(self, unfound: list[object]) -> None:
        """Climbs from tensors that no variable of the program leads to, through their referrers, to a variable of another module such as torch, or to a cycle."""
        asked = unfound[:: max(1, len(unfound) // _MOST_CLIMBED)][:_MOST_CLIMBED]
        spaces = {id(space): name for name, space in self._dicts}
        below: dict[int, object] = {id(thing): None for thing in asked}  # each object found, with the object that it holds
        ours = {id(thing) for thing in (asked, unfound, below, spaces, self.objects, self._nodes, self._dicts, self.__dict__, self._tensors)}
        level, first = asked, True
        for _ in range(_MOST_LEVELS):
            if not level or not self.has_time():
                return
            holders = [holder for holder in gc.get_referrers(*level) if id(holder) not in ours and type(holder) is not types.FrameType]
            wanted = {id(thing): thing for thing in level}
            ours |= {id(level), id(holders), id(wanted)}
            above = []
            for holder in holders:
                held = next((wanted[id(thing)] for thing in gc.get_referents(holder) if id(thing) in wanted), None)
                if held is None or id(holder) in below:
                    continue
                below[id(holder)] = held
                if id(holder) in spaces or id(holder) in self._seen:
                    self._add_way(holder, below, spaces.get(id(holder), ""))
                elif first and self._is_in_circle(holder):
                    self._circles += [(holder, thing) for thing in gc.get_referents(holder) if id(thing) in wanted]
                else:
                    above.append(holder)
            level, first = above[:_MOST_CLIMBED], False

    def _is_in_circle(self, holder: object) -> bool:
        reached, seen = [holder], {id(holder)}
        for at in range(_CIRCLE):
            if at >= len(reached):
                break
            for thing in self.referents.of(reached[at], type(reached[at])):
                if thing is holder:
                    return True
                if id(thing) not in seen and not self.referents.is_leaf(thing, type(thing)):
                    seen.add(id(thing))
                    reached.append(thing)
        return False

    def _add_way(self, holder: object, below: dict[int, object], module: str) -> None:
        if id(holder) not in self._seen:
            self._add(holder, -1, f"global of {module}")
        number = self._seen[id(holder)]
        thing = below[id(holder)]
        while thing is not None and id(thing) not in self._seen:
            self._add(thing, number)
            number = len(self.objects) - 1
            if self.referents.is_tensor(type(thing)):
                self._tensors.append(number)
            thing = below.get(id(thing))

    def _found(self, saved_address: Callable[[int], int], buckets: Callable[[int], list[int]]) -> dict[str, list[int]]:
        """Addresses of tensors by their holder. A block is reported once, with the holder nearest to the roots."""
        names = _holder_names.HolderNames(self.objects, self.parents, self.labels, self.referents.is_tensor)
        found: dict[str, list[int]] = {}
        told: set[int] = {0}

        def tell(address: int, holder: str) -> None:
            if address not in told and len(told) <= _MOST_HOLDERS:
                told.add(address)
                found.setdefault(holder, []).append(address)

        texts: dict[int, str] = {}
        self.end += NAMING_SECONDS
        for at, number in enumerate(self._tensors):
            if at % 64 == 0 and not self.has_time():
                return found
            texts[number] = names.of(number).text()
            tell(self.referents.address(self.objects[number]), texts[number])
        for number in () if self._others_run_ddp else self._reducers:
            holder = f"{names.of(number).text()} → buckets of gradients"
            for address in buckets(_referents.stands_for(self.objects[number])):
                tell(address, holder)
        for at, node in enumerate(() if self._others_run_backward else self._nodes):
            if at % 64 == 0 and not self.has_time():
                return found
            saved = [address for one in self.referents.saved(node) if (address := saved_address(one)) not in told]
            if saved:
                number, way = self._node_ways[at]
                holder = f"{texts[number]} → {' → '.join(way)}"
                for address in saved:
                    tell(address, holder)
        for circle, tensor in self._circles:
            where = f"a reference cycle that no variable leads to{'' if self.collects else ', while gc is off'}"
            tell(self.referents.address(tensor), f"{_holder_names.item_text(tensor, circle)} ({where})")
        return found


def _others_run(*functions: str) -> bool:
    """Whether another thread runs one of these functions of torch. In backward, C++ threads free saved tensors without the interpreter's lock."""
    mine = threading.get_ident()
    for thread, innermost in list(sys._current_frames().items()):
        frame: types.FrameType | None = innermost if thread != mine else None
        while frame is not None:
            if frame.f_code.co_name in functions:
                return True
            frame = frame.f_back
        del innermost
    return False


def _is_memoirs(name: str, space: dict[str, object]) -> bool:
    """Whether this is a module of Memoir's. The program may also have a module named `memoir`."""
    return name.partition(".")[0] == "_torch_memoir" or (name == "memoir" and "_namesake" in space)


def _main_file(space: dict[str, object]) -> str:
    """The file name of the script, from sys.argv once it has ended, because the interpreter then removes __file__. "__main__" without a script."""
    name = space.get("__file__", sys.argv[0] if sys.argv else "")
    return os.path.basename(name) if type(name) is str and name not in ("", "-c", "-m") else "__main__"


def _own_modules(dicts: list[tuple[str, dict[str, object]]]) -> set[str]:
    """The program's modules, without installed packages."""
    paths = sysconfig.get_paths()
    others = tuple({os.path.join(paths[key], "") for key in ("stdlib", "platstdlib", "purelib", "platlib")})
    own = {"__main__"}
    for name, space in dicts:
        file = space.get("__file__")
        if type(file) is str and not os.path.abspath(file).startswith(others) and "site-packages" not in file and "dist-packages" not in file:
            own.add(name)
    return own


def _frames_of_threads() -> list[types.FrameType]:
    """The frames of all threads, the main thread's first, the outermost first; without Memoir's frames."""
    found: list[types.FrameType] = []
    main = threading.main_thread().ident
    for _, innermost in sorted(sys._current_frames().items(), key=lambda item: item[0] != main):
        frame: types.FrameType | None = innermost
        frames = []
        while frame is not None:
            if not frame.f_code.co_filename.startswith(_referents.HERE):
                frames.append(frame)
            frame = frame.f_back
        found += reversed(frames)
        del innermost  # this function's frame would be in a cycle
    return found
