"""memoir.MemoryTracker: the methods of torch.distributed._tools.memory_tracker.MemoryTracker, computed from a recording.

Same methods, attributes, names, figures and texts (docs/exports.md). It makes no calls into the allocator and puts no Python mode around operators:
hooks of the watched modules write marks into a recording below autograd, and stop() reads the rows with `memoir export memory-tracker`.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import uuid
from collections.abc import Callable  # noqa: TC003  # typing.get_type_hints evaluates annotations
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from _torch_memoir import _controls, _recording
from _torch_memoir._lazy import Lazy
from _torch_memoir.captures import _program

if TYPE_CHECKING:
    import torch
else:
    globals()["torch"] = Lazy("torch")

Path = str | os.PathLike[str]
Memories = dict[int, tuple[str, float]]  # by number of the operator's call: its name, and MB after it

_PASSED_OVER = ".fused_proxy_grouped_embedding_bag"  # such modules cannot have hooks
_RULE = "------------------------------------------------"


class MemoryTracker:
    """Collect and plot the memory stats at operator level.

        tracker = memoir.MemoryTracker()
        tracker.start_monitor(net)
        net(input).sum().backward()
        tracker.stop()
        tracker.summary()
        tracker.show_traces()

    Has the methods, attributes and figures of torch.distributed._tools.memory_tracker.MemoryTracker. It starts a recording, or uses the running one, which must
    have been started with ops="dispatch".

    After stop() or load(), memories_allocated, memories_active and memories_reserved have one row for each operator call, by its number from 0: (name, MB after
    the call). MB are 2**20 bytes. The figures equal torch.cuda.memory_stats() of one device.
    """

    memories_allocated: Memories
    memories_active: Memories
    memories_reserved: Memories

    def __init__(self) -> None:
        self._hooks: list[Any] = []
        self._name: str | None = None  # stands for the watched module in marks
        self._folder: tempfile.TemporaryDirectory[str] | None = None  # folder of a recording that this object started
        self._clear_state()

    def start_monitor(self, root_module: torch.nn.Module) -> None:
        """Watch the forward and backward passes of `root_module` until stop(). Results of an earlier run are dropped."""
        if self._name is not None:
            raise RuntimeError("memoir.MemoryTracker: it already watches a module; call stop() first")
        self._clear_state()
        self._begin_recording()
        self._name = uuid.uuid4().hex[:12]
        for name, module in root_module.named_modules():
            if _PASSED_OVER in name:
                continue
            self._hooks.append(module.register_forward_pre_hook(self._marking(f"enters {name}")))
            if module is root_module:
                self._hooks.append(module.register_forward_hook(self._marking("leaves")))
        self._marking("begins")()

    def stop(self) -> None:
        """Stop watching, and fill memories_allocated, memories_active and memories_reserved."""
        if self._name is None:
            raise RuntimeError("memoir.MemoryTracker: it watches nothing; call start_monitor(module) first")
        import torch

        self._marking("ends")()
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()
        name, self._name = self._name, None
        folder, self._folder = self._folder, None
        capture = _recording.output_dir()
        assert capture is not None, "start_monitor() began a recording or found one"
        if folder is None:
            _controls.flush()
        else:
            _recording.stop()
        device = f"cuda:{torch.cuda.current_device()}" if torch.cuda.is_initialized() else None
        try:
            self._take(_exported(capture, name, device))
        finally:
            if folder is not None:
                folder.cleanup()

    def summary(self, top: int = 20) -> None:
        """Print the `top` operator calls that added most to the allocated memory, in MB of 2**20 bytes, and how often an allocation was retried."""
        growth = {}
        rows = [self.memories_allocated[i] for i in range(self._op_index)]
        for (_, before), (name, after) in pairwise(rows):
            growth[name] = after - before
        print(_RULE)
        print(f"The number of alloc retries are: {self._num_alloc_retries}")
        print(f"Top {top} ops that generates memory are:")
        for name, added in sorted(growth.items(), key=lambda row: row[1], reverse=True)[:top]:
            print(f"{name}: {added}MB")
        print(_RULE)

    def show_traces(self, path: Path = "") -> None:
        """Plot allocated, active and reserved memory in MB over the operator calls with matplotlib: all three in one plot, then each in a plot.

        `path`: a file that save_stats() wrote, which is loaded first; "": the rows already in this object.
        """
        import matplotlib.pyplot as plt

        if path != "":
            self.load(path)
        columns = [[mb for _, mb in memories.values()] for memories in (self.memories_allocated, self.memories_active, self.memories_reserved)]
        labels = ["allocated_memory", "active_memory", "reserved_memory"]
        self._plot(plt, columns, labels)
        for column, label in zip(columns, labels, strict=True):
            self._plot(plt, [column], [label])

    def save_stats(self, path: Path) -> None:
        """Write the rows to the file `path`, a pickle that load() of this class and of torch's reads."""
        with open(path, "wb") as file:
            pickle.dump(self._stats(), file, pickle.HIGHEST_PROTOCOL)

    def load(self, path: Path) -> None:
        """Read a file of save_stats() of this class or torch's, or of `memoir export memory-tracker`. Executes no code in it.

        Raises ValueError if the file has other contents, pickle.UnpicklingError if it would run code.
        """
        with open(path, "rb") as file:
            self._take(_checked(_Plain(file).load(), path))

    def _begin_recording(self) -> None:
        if not _recording.is_recording():
            self._folder = tempfile.TemporaryDirectory(prefix="memoir-tracker-", ignore_cleanup_errors=True)
            _recording.start(os.path.join(self._folder.name, "capture"), ops="dispatch", modules="off", max_size=0, quiet=True)
        elif _recording.operators() != "dispatch":
            raise RuntimeError("memoir.MemoryTracker: the recording that runs has the operators above autograd; record with --ops dispatch")

    def _marking(self, what: str) -> Callable[..., None]:
        """Returns a hook that writes a mark."""
        mark, text = _recording.marker(), f"memoir.MemoryTracker#{self._name} {what}".encode("utf-8", "replace")

        def hook(*_: object) -> None:
            mark(text)

        return hook

    def _plot(self, plt: Any, columns: list[list[float]], labels: list[str]) -> None:
        low, high = min(chain.from_iterable(columns)) * 0.999, max(chain.from_iterable(columns)) * 1.001
        plt.figure()
        for column, label in zip(columns, labels, strict=True):
            plt.plot(list(range(len(column))), column, label=label)
        plt.xlabel("# Operator Calls")
        plt.ylabel("Memory (MB)")
        plt.legend()
        for name, place in self._markers.items():
            plt.plot([place, place], [low, high], "r" if name == "fw_bw_boundary" else "k-", lw=2, label=name)

    def _stats(self) -> dict[str, Any]:
        return {
            "memories_allocated": self.memories_allocated,
            "memories_active": self.memories_active,
            "memories_reserved": self.memories_reserved,
            "markers": self._markers,
            "num_alloc_retries": self._num_alloc_retries,
            "op_index": self._op_index,
        }

    def _take(self, stats: dict[str, Any]) -> None:
        self.memories_allocated = stats["memories_allocated"]
        self.memories_active = stats["memories_active"]
        self.memories_reserved = stats["memories_reserved"]
        self._markers: dict[str, int] = stats["markers"]
        self._num_alloc_retries: int = stats["num_alloc_retries"]
        self._op_index: int = stats.get("op_index", len(self.memories_allocated))

    def _clear_state(self) -> None:
        self._take({"memories_allocated": {}, "memories_active": {}, "memories_reserved": {}, "markers": {}, "num_alloc_retries": 0})


def _exported(capture: str, name: str, device: str | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="memoir-tracker-") as folder:
        path = os.path.join(folder, "stats.pickle")
        _program.run(["export", "memory-tracker"], {"tracker": name, "output": path, "device": device}, [capture])
        with open(path, "rb") as file:
            stats: dict[str, Any] = _Plain(file).load()
            return stats


def _dictionary(*_: object) -> dict[Any, Any]:
    return {}


class _Plain(pickle.Unpickler):
    """Unpickles plain values only. The default dictionaries that torch's MemoryTracker saves become plain ones; any other class is refused."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "defaultdict"):
            return _dictionary
        if (module, name) in (("builtins", "int"), ("__builtin__", "int")):
            return None  # the default, which is never used
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a file of MemoryTracker's")


def _checked(stats: object, path: Path) -> dict[str, Any]:
    """Returns `stats`. Raises ValueError if MemoryTracker cannot have saved it."""
    if isinstance(stats, dict):
        columns = [stats.get(f"memories_{what}") for what in ("allocated", "active", "reserved")]
        if all(map(_is_column, columns)) and isinstance(stats.get("markers"), dict) and isinstance(stats.get("num_alloc_retries"), int):
            return stats
    raise ValueError(f"{path}: not a file that MemoryTracker.save_stats wrote")


def _is_column(column: object) -> bool:
    return isinstance(column, dict) and all(
        isinstance(row, tuple) and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], (int, float)) for row in column.values())
