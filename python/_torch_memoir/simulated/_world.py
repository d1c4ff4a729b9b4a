"""Runs one process as rank K of a world of N on the simulated GPU, without the other ranks (MEMOIR_SIM_RANK, MEMOIR_SIM_WORLD).

The simulated device completes collectives itself. Before the first one, though, torch's ranks meet at a store, where each waits for keys of the others. So
`init_process_group` gets a store that never waits, instead of the TCPStore or FileStore of env://, tcp:// and file://. The reasons are in
docs/decisions/0011-one-rank-of-a-world.md.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading

from _torch_memoir._terminal import say

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

_NCCL_ID_BYTES = 128  # size of an NCCL id, for whose key a rank waits before its first collective; the device does not read the id
_OF_NCCL = re.compile(r"(^|/)(\w*nccl\w*(:\d+)?|\d+(:\d+)?)$", re.IGNORECASE)


def enter() -> None:
    """Makes this process the rank that the environment names, for torch.distributed. Exits if a launcher set another rank."""
    rank, world = int(os.environ.get("MEMOIR_SIM_RANK") or 0), int(os.environ["MEMOIR_SIM_WORLD"])
    _check_launcher(rank, world)
    device = ctypes.CDLL(None)
    if not hasattr(device, "memoir_simulated_split"):
        raise RuntimeError("MEMOIR_SIM_WORLD is set, but the simulated GPU is not preloaded; use memoir run --simulate CARD --sim-world N")
    c10d = sys.modules.get("torch.distributed.distributed_c10d")
    if c10d is None:
        return  # torch was built without torch.distributed
    # Without these settings, torch's threads would read the store every second to see whether another rank failed. The store is in Python, and they would read it
    # even while the interpreter ends.
    for variable in ("TORCH_NCCL_DUMP_ON_TIMEOUT", "TORCH_NCCL_ENABLE_MONITORING"):
        os.environ.setdefault(variable, "0")
    _meet_nobody(rank, world)
    _tell_sizes_of_splits(c10d, device)
    _gloo_loops_back(c10d)


def _check_launcher(rank: int, world: int) -> None:
    told = os.environ.get("RANK"), os.environ.get("WORLD_SIZE")
    if None not in told and told != (str(rank), str(world)):
        say(f"memoir: simulated as rank {rank} of {world}, but a launcher sets rank {told[0]} of {told[1]}: start the program itself under "
            "--sim-world, without torchrun or another launcher")
        sys.exit(2)


def _meet_nobody(rank: int, world: int) -> None:
    rendezvous = sys.modules["torch.distributed.rendezvous"]
    store = _lone_store(rank, world)

    def alone(url: str, **_: object) -> Iterator[tuple[Any, int, int]]:
        asked = dict(re.findall(r"[?&](rank|world_size)=(-?\d+)", url))
        if int(asked.get("rank", rank)) != rank or int(asked.get("world_size", world)) != world:
            raise ValueError(f"memoir: simulated as rank {rank} of {world}, but the program makes itself rank {asked.get('rank', rank)} of "
                             f"{asked.get('world_size', world)}; take both from RANK and WORLD_SIZE")
        yield store, rank, world

    for scheme in ("env", "tcp", "file"):
        rendezvous._rendezvous_handlers[scheme] = alone


def _lone_store(rank: int, world: int) -> Any:
    import torch.distributed as dist

    class LoneStore(dist.Store):  # type: ignore[misc]  # a class of torch's, which is Any here
        """Stores the keys that this rank sets. A read of another key returns zeros at once."""

        def __init__(self) -> None:
            super().__init__()
            self._values: dict[str, bytes] = {}
            self._lock, self._said = threading.Lock(), False

        def set(self, key: str, value: str | bytes) -> None:
            self._values[key] = value if isinstance(value, bytes) else str(value).encode()

        def get(self, key: str) -> bytes:
            value = self._values.get(key)
            if value is None and not _OF_NCCL.search(key) and not self._said:
                self._said = True
                say(f"memoir: rank {rank} of {world} asks torch's store for {key!r}, which a rank that is not there would set; it gets zeros")
            return bytes(_NCCL_ID_BYTES) if value is None else value

        def add(self, key: str, amount: int) -> int:
            with self._lock:
                total = int(self._values.get(key, b"0")) + amount
                self._values[key] = str(total).encode()
            return total

        def compare_set(self, key: str, expected: str | bytes, desired: str | bytes) -> bytes:
            with self._lock:
                before, after = (value if isinstance(value, bytes) else value.encode() for value in (expected, desired))
                if self._values.get(key, before) == before:
                    self._values[key] = after
                return self._values[key]

        def check(self, keys: Sequence[str]) -> bool:
            return all(key in self._values for key in keys)

        def wait(self, keys: Sequence[str], timeout: object = None) -> None:
            pass

        def delete_key(self, key: str) -> bool:
            return self._values.pop(key, None) is not None

        def num_keys(self) -> int:
            return len(self._values)

        def clone(self) -> LoneStore:
            return self

        def has_extended_api(self) -> bool:
            return False

        deleteKey, getNumKeys = delete_key, num_keys  # the names that torch's C++ looks up

    return LoneStore()


def _tell_sizes_of_splits(c10d: Any, device: ctypes.CDLL) -> None:
    """Passes the sizes of the new groups from torch to the device. ncclCommSplit does not receive the size: a real NCCL learns from the other ranks how many of
    them have the same colour."""
    tell, any_colour = device.memoir_simulated_split, -1
    color_of = c10d._process_group_color

    def _process_group_color(ranks: Sequence[int]) -> int:
        color: int = color_of(ranks)
        tell(color, len(ranks))
        return color

    c10d._process_group_color = _process_group_color
    kinds = {"ProcessGroup": "split_group", "ProcessGroupNCCL": "split", "ProcessGroupNCCL2": "split", "ProcessGroupNCCLLazy": "split"}
    for kind, name in kinds.items():
        split = getattr(getattr(c10d, kind, None), name, None)
        if split is not None:
            setattr(getattr(c10d, kind), name, _announced(split, tell, any_colour))


def _announced(split: Callable[..., Any], tell: Callable[[int, int], object], any_colour: int) -> Callable[..., Any]:
    def announced(self: object, *arguments: Any, **named: Any) -> Any:
        ranks = named.get("ranks") or next((argument for argument in arguments if isinstance(argument, (list, tuple))), ())
        tell(any_colour, len(ranks))
        try:
            return split(self, *arguments, **named)
        finally:
            tell(any_colour, 0)

    return announced


def _gloo_loops_back(c10d: Any) -> None:
    """Replaces gloo, which would connect to every other process, by torch's FakeProcessGroup, which gathers this rank's values and leaves the others unchanged."""
    from torch._C._distributed_c10d import FakeProcessGroup

    gloo: Any = getattr(c10d, "ProcessGroupGloo", None)
    if gloo is None:
        return

    FakeProcessGroup._set_sequence_number_for_group = lambda group: None  # missing before torch 2.12

    class Kind(type(gloo)):  # type: ignore[misc]  # likewise
        def __instancecheck__(cls, group: object) -> bool:
            return isinstance(group, (gloo, FakeProcessGroup))

    class ProcessGroupGloo(gloo, metaclass=Kind):  # type: ignore[misc]  # likewise
        def __new__(cls, store: object, rank: int, size: int, *_: object, **__: object) -> Any:
            return FakeProcessGroup._create_internal(rank, size, FakeProcessGroup.Options())

    c10d.ProcessGroupGloo = ProcessGroupGloo
    _split_without_gloo(c10d, FakeProcessGroup)


def _split_without_gloo(c10d: Any, stand_in: type) -> None:
    """Makes a new group instead of splitting a FakeProcessGroup, which cannot be split. Making a group needs no other process."""
    import torch

    split = getattr(c10d, "split_group", None)
    if split is None:
        return

    def has_stand_in(group: Any) -> bool:
        try:
            return isinstance(group._get_backend(torch.device("cpu")), stand_in)
        except RuntimeError:  # the group has no backend for tensors of the CPU
            return False

    def split_group(
        parent_pg: Any = None, split_ranks: Any = None, timeout: Any = None, pg_options: Any = None, group_desc: Any = None, **named: Any,
    ) -> Any:
        parent = parent_pg or c10d._get_default_group()
        if split_ranks is None or not has_stand_in(parent):
            return split(parent_pg, split_ranks, timeout, pg_options, group_desc, **named)
        own = next((ranks for ranks in split_ranks if parent.rank() in ranks), None)
        if own is None:
            return None
        names = c10d.get_process_group_ranks(parent)
        return c10d.new_group([names[rank] for rank in sorted(own)], timeout=timeout, group_desc=group_desc)

    c10d.split_group = split_group
    for name in ("torch.distributed", "torch.distributed.device_mesh"):
        module: Any = sys.modules.get(name)
        if getattr(module, "split_group", None) is split:
            module.split_group = split_group
