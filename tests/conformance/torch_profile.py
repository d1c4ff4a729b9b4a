"""The results of torch.profiler's memory profiler for a run, as the document that `memoir export categories` writes, for tests that compare the two."""

import bisect
from unittest import mock

from torch._C._profiler import _EventType, _TensorMetadata, RecordScope
from torch.profiler import _memory_profiler as memory


class Node:
    """A node of torch.profiler's tree, whose place can be changed."""

    def __init__(self, event, parent=None):
        self.event, self.parent = event, parent
        self.children = [Node(child, self) for child in event.children]

    def __getattr__(self, name):
        return getattr(self.event, name)

    def holds(self, time):
        return self.start_time_ns <= time <= self.end_time_ns


def begins(node):
    return node.start_time_ns


def misplaced(nodes):
    """Takes out what began after the Python call that it stands in had returned."""
    for node in nodes:
        if node.tag != _EventType.Allocation and not is_range(node):
            late = [child for child in node.children if begins(child) > node.end_time_ns]
            node.children = [child for child in node.children if begins(child) <= node.end_time_ns]
            yield from late
        yield from misplaced(node.children)


class TreeInTime(memory.OpTree):
    """The first autograd node on a GPU's thread determines the place of the others: build_tree (torch/csrc/profiler/collection.cpp) leaves a thread's stack at
    the parent of the ended node, which is the Python call of the first backward pass. Nodes of later passes have this place, too, when that call has long
    returned. Here they have the place of their begin."""

    def __init__(self, result):
        super().__init__(result)
        self._root_nodes = [Node(event) for event in self._root_nodes]
        self.moved = list(misplaced(self._root_nodes))
        for node in self.moved:
            self.place(node)
        self._sorted_nodes = tuple(sorted(self.dfs(), key=begins))

    def place(self, node):
        siblings, parent = self._root_nodes, None
        while True:
            call = next((one for one in siblings if not is_range(one) and one.tag != _EventType.Allocation and one.holds(begins(node))), None)
            if call is None:
                break
            siblings, parent = call.children, call
        node.parent = parent
        bisect.insort_right(siblings, node, key=begins)


def name_of(category):
    return category.name if category else "UNKNOWN"


def is_range(node):
    return node.tag == _EventType.TorchOp


def tensors_of(node):
    """(argument, tensor) of all that a range was given."""
    for index, value in enumerate(node.typed[1].inputs):
        for tensor in value if isinstance(value, list) else [value]:
            if isinstance(tensor, _TensorMetadata):
                yield index, tensor


def is_annotation(node):
    return is_range(node) and node.typed[1].scope == RecordScope.USER_SCOPE


def tree_lines(nodes, depth=0):
    """Ranges and allocations; nodes inside of a Python call take the call's place. Annotations are omitted: with_stack ends each with the Python call that
    began it, record_function.__enter__, so its content follows it."""
    for node in nodes:
        shown = is_range(node) and not is_annotation(node) or node.tag == _EventType.Allocation
        if shown:
            yield "  " * depth + (node.name if is_range(node) else "[memory]")
        yield from tree_lines(node.children, depth + shown)


def schema_row(node):
    fields = node.typed[1]
    schemas = memory.SchemaMatcher.match_schemas(fields)
    overloads = [schema.overload_name for schema in schemas]
    name = node.name + ("." + overloads[0] if len(overloads) == 1 else f".{{{', '.join(overloads)}}}" if overloads else "")
    return [name, "".join({True: "T", False: "F", None: "N"}[written] for written in memory.SchemaMatcher.inputs_are_mutable(fields))]


def argument_row(node):
    keys = [(index, memory.TensorKey.from_tensor(tensor)) for index, tensor in tensors_of(node)]
    return [[index, key.storage.allocation_id] for index, key in keys if key]


def flow_lines(graph):
    for node in graph.flow_nodes:
        freed = {key for key, edge in node._edges.items() if edge.is_deletion}
        inputs = ", ".join(f"T{key.id}(v{version}{'*' if key in freed else ''})" for key, (_, version) in node.inputs.items())
        outputs = ", ".join(f"T{key.id}(v{version})" for key, version in node.outputs.items())
        if inputs or outputs:
            yield f"{node._event.name.replace('torch::autograd::', ''):<25} {inputs:<15}  ->  {outputs}".rstrip()


def timeline_rows(profile):
    def row(action, bytes_, key, version):
        category = profile._categories.get(key, version) if isinstance(key, memory.TensorKey) else None
        return [len(rows), action.name, bytes_, name_of(category), version, str(key.device)]

    rows = []
    for _, action, (key, version), size in profile.timeline:
        falls = action in (memory.Action.INCREMENT_VERSION, memory.Action.DESTROY)
        rows.append(row(action, -size if falls else size, key, version))
        if action == memory.Action.INCREMENT_VERSION:
            rows.append(row(action, size, key, version + 1))
    return rows


def timeline_storages(profile):
    storages = []
    for _, action, (key, _), _ in profile.timeline:
        storage = key.storage.allocation_id if isinstance(key, memory.TensorKey) else None
        storages += [storage] * (2 if action == memory.Action.INCREMENT_VERSION else 1)
    return storages


def storage_rows(profile):
    rows = {}
    for (key, version), category in profile._category_snapshot().items():
        row = rows.setdefault(key, [key.storage.allocation_id, key.id, hex(key.storage.ptr), profile._size_map[key], str(key.device), []])
        row[5].append(name_of(category))
    return list(rows.values())


def gradient_rows(profile):
    rows = set()
    for node in profile._op_tree.dfs():
        for parameter, gradient in memory.extract_gradients(node):
            how = "accumulated" if is_range(node) else "held"
            rows.add((how, parameter and parameter.storage.allocation_id, gradient.storage.allocation_id))
    return sorted(map(list, rows), key=str)


def intermediate_rows(profile):
    """Nodes that allocated and freed memory inside: the name and the events of each."""
    nodes = [node for node in profile._data_flow_graph.flow_nodes if node.intermediates]
    return [[node._event.name.replace("torch::autograd::", ""), [key.id for key in node.intermediates]] for node in nodes]


def impl_rows(profile):
    """For each range, which TensorImpl showed which storage: not in Memoir's document, which `export events` stands in for."""
    ranges = [node for node in profile._op_tree.dfs() if is_range(node)]
    keys = [[(hex(tensor.impl_ptr), hex(tensor.storage_data_ptr or 0), memory.TensorKey.from_tensor(tensor)) for _, tensor in tensors_of(node)] for node in ranges]
    return [[[impl, pointer, key.storage.allocation_id] for impl, pointer, key in row if key] for row in keys]


def document(profiler):
    with mock.patch.object(memory, "OpTree", TreeInTime):
        profile = profiler._memory_profile()
    ranges = [node for node in profile._op_tree.dfs() if is_range(node)]
    return {
        "timeline": timeline_rows(profile),
        "data_flow": list(flow_lines(profile._data_flow_graph)),
        "schemas": [schema_row(node) for node in ranges],
        "arguments": [argument_row(node) for node in ranges],
        "tree": list(tree_lines(profile._op_tree._root_nodes)),
        "moved": len(profile._op_tree.moved),
        "annotations": sorted({node.name for node in ranges if is_annotation(node)}),
        "timeline_storages": timeline_storages(profile),
        "storages": storage_rows(profile),
        "gradients": gradient_rows(profile),
        "intermediates": intermediate_rows(profile),
        "impls": impl_rows(profile),
    }
