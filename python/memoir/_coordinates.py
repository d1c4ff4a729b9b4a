"""The coordinates of this rank among the job's: its indices in the DeviceMesh of the most ranks, or, while there is none, in process groups that are
described by what they are parallel in. torch.distributed has no hook for either, so the functions that make them are followed.
"""

from __future__ import annotations

import ctypes
import functools
import sys

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# What groups are called that are a dimension each. Megatron makes many more, of several dimensions ("TENSOR_AND_DATA_PARALLEL_GROUP").
_OF_GROUPS = {"context", "cp", "data", "dp", "ep", "expert", "fsdp", "pipeline", "pp", "sequence", "sp", "stage", "tensor", "tp"}

_known: dict[str, tuple[int, int]] = {}  # index and size, by dimension
_mesh = (0, 0)  # ranks of the mesh that they are of, and dimensions with more than one


def follow(library: Callable[[], ctypes.CDLL | None]) -> None:
    """`library` gives the one that records, which is told of what is found from now on."""
    _follow_meshes(library)
    _follow_groups(library)


def tell(library: ctypes.CDLL | None) -> None:
    """What is known so far, to a recording that begins."""
    if library is None or not _known:
        return
    names = (ctypes.c_char_p * len(_known))(*(name.encode("utf-8", "replace") for name in _known))
    numbers = ctypes.c_uint32 * len(_known)
    indices, sizes = zip(*_known.values(), strict=True)
    library.memoir_coordinates(names, numbers(*indices), numbers(*sizes), len(_known))


def forget() -> None:
    """The job's process group is gone, or this is a forked child, which is no rank of it yet."""
    global _mesh
    _mesh = (0, 0)
    _known.clear()


def _follow_meshes(library: Callable[[], ctypes.CDLL | None]) -> None:
    mesh_class: Any = getattr(sys.modules.get("torch.distributed.device_mesh"), "DeviceMesh", None)
    if mesh_class is None:
        return
    make = mesh_class.__init__

    @functools.wraps(make)
    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        make(self, *arguments, **named)
        try:
            if _take_mesh(self):
                tell(library())
        except Exception:
            pass  # a mesh of another kind than torch's own; the capture is without it

    mesh_class.__init__ = __init__


def _take_mesh(mesh: Any) -> bool:
    """Whether it says more than what is known: slices and flattened meshes do not."""
    global _mesh
    names, indices = mesh.mesh_dim_names, mesh.get_coordinate()
    if not names or indices is None:
        return False
    sizes = tuple(mesh.shape)
    size = functools.reduce(lambda one, other: one * other, sizes, 1)
    says = (size, sum(of > 1 for of in sizes))
    if says < _mesh:
        return False
    _mesh = says
    _known.clear()
    _known.update({str(name): (int(index), int(of)) for name, index, of in zip(names, indices, sizes, strict=True)})
    return True


def _follow_groups(library: Callable[[], ctypes.CDLL | None]) -> None:
    c10d: Any = sys.modules.get("torch.distributed.distributed_c10d")
    make = getattr(c10d, "_new_process_group_helper", None)
    if make is None:
        return

    @functools.wraps(make)
    def _new_process_group_helper(group_size: int, group_rank: int, *arguments: Any, **named: Any) -> Any:
        made = make(group_size, group_rank, *arguments, **named)
        try:
            if _take_group(group_size, group_rank, named.get("group_desc")):
                tell(library())
        except Exception:
            pass  # a torch that calls it otherwise; the capture is without it
        return made

    c10d._new_process_group_helper = _new_process_group_helper


def _take_group(size: int, index: int | None, description: str | None) -> bool:
    """Megatron's "PIPELINE_MODEL_PARALLEL_GROUP" is the dimension "pipeline"."""
    if _mesh != (0, 0) or index is None or not 0 <= index < size or size < 2:
        return False
    name = (description or "").lower()
    for word in ("_group", "_parallel", "_model"):
        name = name.removesuffix(word)
    if name not in _OF_GROUPS:
        return False
    known = _known.get(name)
    _known[name] = (int(index), int(size))
    return known != _known[name]
