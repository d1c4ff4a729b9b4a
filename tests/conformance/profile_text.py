"""A document of `memoir export categories` (or of torch_profile, which is alike) in the words of PyTorch's test_memory_profiler.py: the texts that it expects,
and what it asks of tensors that it knows by their address."""

SECTIONS = ["tree", "schemas", "arguments", "data_flow", "storages", "gradients", "timeline", "timeline_storages"]


def without(annotations, tree):
    """The lines of a tree without these ranges, what they hold in their place."""
    lines, gone = [], []  # depths of those that are open and left out
    for line in tree:
        depth = (len(line) - len(line.lstrip())) // 2
        gone = [outer for outer in gone if outer < depth]
        if line.lstrip() in annotations:
            gone.append(depth)
        else:
            lines.append(line[2 * len(gone) :])
    return lines


def normal(document, first=0, annotations=()):
    """The sections to compare, storages numbered from 0 (`first`: the number of the first one here), what is a set sorted."""

    def number(storage):
        return None if storage is None else storage - first

    return {
        "timeline": document["timeline"],
        "timeline_storages": [number(storage) for storage in document["timeline_storages"]],
        "data_flow": document["data_flow"],
        "schemas": document["schemas"],
        "arguments": [[[argument, number(storage)] for argument, storage in row] for row in document["arguments"]],
        "tree": without(annotations, document["tree"]),
        "storages": [[number(row[0]), *row[1:]] for row in document["storages"]],
        "gradients": sorted(([how, number(parameter), number(gradient)] for how, parameter, gradient in document["gradients"]), key=str),
    }


def newest_at(document, address):
    """The storage at an address whose number is the highest: of a tensor that lives, its own."""
    rows = [row for row in document["storages"] if row[2] == address]
    return max(rows, key=lambda row: row[0]) if rows else None


def flow_text(document, named):
    tensors = {row[2]: row[1] for row in document["storages"]}
    lines = []
    for name, address, gradient in named:
        lines.append(f"{name + ':':<8} T{tensors[address]}")
        if gradient is not None:
            lines.append(f"{name + '.grad:':<9} T{tensors[gradient]}")
    return "\n".join(lines + [""] * bool(lines) + document["data_flow"]) + "\n"


def schemas_text(document, annotation):
    return "".join(f"{name} {written}".rstrip() + "\n" for name, written in document["schemas"] if name != annotation)


def categories_text(document, operators, impls, first=0):
    """`impls`: for each range the [TensorImpl, address, storage] that it was given. torch counts storages from 1."""
    storages = {row[0]: row for row in document["storages"]}
    known = {(impl, address): storage for row in impls for impl, address, storage in row}

    def text(pair):
        storage = known.get(tuple(pair))
        if storage is None:
            return "???"
        names = ["???" if name == "UNKNOWN" else name for name in storages[storage][5]]
        distinct = [name for i, name in enumerate(names) if i == 0 or name != names[i - 1]]
        return f"{storage - first + 1} ({','.join(distinct)})"

    lines = []
    for name, given, returned in operators:
        if not given and not returned:
            lines += ["", name]
            continue
        lines.append(f"{name:<40} {', '.join(map(text, given)):<45} -> {', '.join(map(text, returned))}")
    return "\n".join(lines) + "\n"


def kilobytes(size):
    return f"{size // 1024} kB"


def timeline_text(document, above=1024):
    """Lists blocks larger than `above` bytes; storages are numbered by their first occurrence."""
    rows, lines, numbers = iter(zip(document["timeline"], document["timeline_storages"])), [], {}
    for (_, action, size, category, version, _), storage in rows:
        was = category
        if action == "INCREMENT_VERSION":
            category = next(rows)[0][3]
        if abs(size) <= above:
            continue
        names = ["???" if name == "UNKNOWN" else name for name in (was, category)]
        text = names[0] if names[0] == names[1] else " -> ".join(names)
        number = numbers.setdefault(storage, len(numbers))
        lines.append(f"{action.lower():<25}  {text:<25}  {number:>3}(v{version}) {kilobytes(abs(size)):>15}")
    return "\n".join(lines) + "\n"
