"""The coordinates of this rank in the job: its indices in the DeviceMesh with the most ranks, or, before there is a mesh, in process groups whose description
names a parallelism. torch.distributed has no hook for either, so Memoir wraps the functions that make them."""

from __future__ import annotations

import ctypes
import math
import sys

from _torch_memoir import _unseen

TYPE_CHECKING = False  # typing takes milliseconds to import
if TYPE_CHECKING:
    from typing import Any

# Names of groups that have one dimension. Megatron makes many more groups, with several dimensions ("TENSOR_AND_DATA_PARALLEL_GROUP").
_OF_GROUPS = {"context", "cp", "data", "dp", "ep", "expert", "fsdp", "pipeline", "pp", "sequence", "sp", "stage", "tensor", "tp"}
_MOST_BYTES = 64  # of a name, in a capture

_known: dict[str, tuple[int, int]] = {}  # index and size, by dimension
_of_mesh = 0  # ranks of the mesh that the coordinates come from; 0: they come from groups


def follow(tracker: ctypes.CDLL) -> None:
    """From now on, sends each coordinate that is found to the tracker."""
    _follow_meshes(tracker)
    _follow_groups(tracker)


def report(tracker: ctypes.CDLL) -> None:
    """Sends the known coordinates to the tracker, even if the list is empty."""
    names = (ctypes.c_char_p * len(_known))(*(_cut(name) for name in _known))
    numbers = ctypes.c_uint32 * len(_known)
    tracker.memoir_coordinates(names, numbers(*(index for index, _ in _known.values())), numbers(*(size for _, size in _known.values())), len(_known))


def forget() -> None:
    """Drops the coordinates: the job's process group was destroyed, or this is a forked child, which has no rank yet."""
    global _of_mesh
    _of_mesh = 0
    _known.clear()


def _cut(name: str) -> bytes:
    return name.encode("utf-8", "replace")[:_MOST_BYTES].decode("utf-8", "ignore").encode()


def _follow_meshes(tracker: ctypes.CDLL) -> None:
    mesh_class: Any = getattr(sys.modules.get("torch.distributed.device_mesh"), "DeviceMesh", None)
    if mesh_class is None:
        return

    def made(mesh: Any, *_: Any, **__: Any) -> None:
        try:
            if _take_mesh(mesh_class, mesh):
                report(tracker)
        except Exception:
            pass  # not torch's kind of mesh: no coordinates in the capture

    mesh_class.__init__ = _unseen.method_between(tracker, mesh_class.__init__, after=made)


def _ranks(mesh_class: Any, mesh: Any) -> int:
    return math.prod(mesh_class.shape.fget(mesh))


def _take_mesh(mesh_class: Any, mesh: Any) -> bool:
    """Takes the mesh if it has more ranks than the known one. Calls no method that a subclass overrides: the mesh is under construction."""
    global _of_mesh
    whole = getattr(mesh, "_root_mesh", None)
    if whole is not None and _ranks(mesh_class, whole) > _ranks(mesh_class, mesh):
        mesh = whole  # the mesh that this one is a slice of
    names, indices = mesh.mesh_dim_names, mesh_class.get_coordinate(mesh)
    if not names or indices is None:
        return False
    sizes = tuple(mesh_class.shape.fget(mesh))
    found = {str(name): (int(index), int(size)) for name, index, size in zip(names, indices, sizes, strict=True)}
    ranks, dimensions = math.prod(sizes), sum(size > 1 for size in sizes)
    of_known = _of_mesh or math.prod(size for _, size in _known.values())
    known_dimensions = sum(size > 1 for _, size in _known.values())
    if _known and (ranks < of_known or (ranks == of_known and dimensions <= 1)):
        return False  # a part of the known mesh, or all of it flattened
    if ranks > of_known or known_dimensions <= 1 or not _of_mesh:
        _known.clear()
    # Another view of the same ranks, as for experts, adds its own dimensions.
    new = {name: of for name, of in found.items() if name not in _known and (not _known or of[1] > 1)}
    _known.update(new)
    _of_mesh = ranks
    return bool(new)


def _follow_groups(tracker: ctypes.CDLL) -> None:
    c10d: Any = sys.modules.get("torch.distributed.distributed_c10d")
    if not hasattr(c10d, "_new_process_group_helper"):
        return

    def made(*arguments: Any, **named: Any) -> None:
        try:
            size = arguments[0] if arguments else named["group_size"]
            index = arguments[1] if len(arguments) > 1 else named["group_rank"]
            if _take_group(size, index, named.get("group_desc")):
                report(tracker)
        except Exception:
            pass  # a version of torch that calls it with other arguments: no coordinates in the capture

    c10d._new_process_group_helper = _unseen.between(tracker, c10d._new_process_group_helper, after=made)


def _take_group(size: int, index: int | None, description: str | None) -> bool:
    """Takes the index in a group whose description names a dimension: "PIPELINE_MODEL_PARALLEL_GROUP" of Megatron is "pipeline"."""
    if _of_mesh or index is None or not 0 <= index < size or size < 2:
        return False
    name = (description or "").lower()
    for word in ("_group", "_parallel", "_model"):
        name = name.removesuffix(word)
    if name not in _OF_GROUPS:
        return False
    known = _known.get(name)
    _known[name] = (int(index), int(size))
    return known != _known[name]
