"""Who may include whom. The picture is in docs/architecture.md: data moves right, nothing moves left."""

import re

from sources import CXX, Rule, cxx_sources

# How a library is recognised by its include path.
LIBRARIES = {
    "torch": r"(torch|ATen|c10|caffe2)/",
    "cuda": r"(cuda|cuda_runtime|cuda_runtime_api|cudaTypedefs|driver_types|nccl|cupti\w*|cublas\w*|cudnn\w*)\.h$|cuda/",
    "python": r"Python\.h$",
    "protobuf": r"google/protobuf/|.*\.pb\.h$",
    "absl": r"absl/",
    "protozero": r"protozero/",
    "zstd": r"(zstd|zdict|zstd_errors)\.h$",
    "zlib": r"(zlib|zconf)\.h$",
    "xxhash": r"xxhash\.h$",
    "fmt": r"fmt/",
    "cli11": r"CLI/",
    "json": r"nlohmann/",
    "sodium": r"sodium(/\w+)?\.h$",
    "sqlite": r"sqlite3\.h$",
    "stb": r"stb/",
    "nanoarrow": r"nanoarrow/",
    "gtest": r"(gtest|gmock)/",
    "memoir": r"memoir\.h(pp)?$|memoir/\w+\.h(pp)?$",  # ours, as they are installed for programs
    "benchmark": r"benchmark/",
    "nvtx": r"nvtx3/",
    "elfutils": r"elfutils/|dwarf\.h$",
}
SYSTEM = re.compile(r"(sys|linux|asm|arpa|net|netinet)/\w+\.h$|\w+(\.h)?$|x86intrin\.h$")

PRODUCTS = ("interpose", "simcuda", "tracker", "tools", "proto")

# folder -> (folders of Memoir that it may include besides itself, libraries). The longest prefix of a file's folder decides. Add a new folder here, with its
# arrows.
TOOLS = {"absl", "protobuf", "fmt", "xxhash"}
ARROWS = {
    "interpose": (("proto",), set()),
    "interpose/cuda": (("interpose",), set()),
    "interpose/start": (("interpose", "interpose/cuda"), set()),
    "tracker": ((), set()),
    "tracker/writer": (("interpose", "proto", "tracker/writer/events", "tracker/writer/dictionaries", "tracker/writer/patterns", "tracker/writer/state", "tracker/writer/pack"), {"zstd", "protozero", "xxhash"}),
    "tracker/writer/events": (("interpose", "proto"), {"protozero"}),
    "tracker/writer/dictionaries": (("interpose", "tracker/writer/events"), {"protozero", "xxhash"}),
    "tracker/writer/patterns": (("tracker/writer/events",), {"protozero"}),
    "tracker/writer/state": (("interpose", "tracker/writer/events", "tracker/writer/dictionaries"), {"protozero"}),  # what keyframes contain
    "tracker/writer/pack": (("interpose", "proto", "tracker/writer/events", "tracker/writer/dictionaries", "tracker/writer/patterns", "tracker/writer/state"), {"protozero"}),
    "tracker/drain": (("interpose", "tracker/host", "tracker/writer", "tracker/writer/events"), {"zstd", "protozero", "xxhash"}),
    "tracker/repeated_steps": ((), set()),
    "tracker/modules": (("interpose", "tracker", "tracker/stacks"), set()),
    "tracker/stacks": (("interpose", "tracker"), set()),
    "tracker/host": (("interpose",), set()),
    "tracker/cupti": (("interpose", "interpose/cuda"), {"cuda"}),
    "tracker/torch": ((), {"torch"}),  # the interface to the session, and the differences between versions of torch
    "tracker/torch/tensors": (("interpose", "tracker/modules", "tracker/torch"), {"torch"}),
    "tracker/torch/ranges": (("interpose", "tracker/modules", "tracker/stacks", "tracker/torch", "tracker/torch/tensors"), {"torch"}),
    "tracker/torch/host_allocators": (("interpose", "tracker/repeated_steps", "tracker/stacks", "tracker/torch", "tracker/torch/ranges"), {"torch"}),
    "tracker/torch/publication": (("interpose", "tracker/torch"), {"nvtx"}),
    "tracker/torch/cuda_allocator": (("interpose", "tracker/repeated_steps", "tracker/stacks", "tracker/torch", "tracker/torch/host_allocators", "tracker/torch/publication"), {"torch"}),
    "tracker/torch/install": (("tracker/modules", "tracker/torch", "tracker/torch/ranges", "tracker/torch/host_allocators", "tracker/torch/publication", "tracker/torch/cuda_allocator"), {"torch"}),
    "tracker/client": ((), {"torch", "memoir"}),  # compiled into programs: nothing of what is not installed
    "tracker/session": (("interpose", "interpose/cuda", "tracker", "tracker/cupti", "tracker/repeated_steps", "tracker/drain", "tracker/host", "tracker/modules", "tracker/stacks", "tracker/writer", "tracker/torch", "tracker/torch/ranges", "tracker/torch/tensors", "proto"), {"protozero"}),
    "proto": ((), set()),
    "tools/import": (("proto",), TOOLS | {"json", "zstd", "zlib"}),
    "tools/read": (("proto", "tools/import"), TOOLS | {"zstd"}),
    "tools/model": (("tools/import", "tools/read", "proto"), TOOLS),
    "tools/model/repeats": (("tools/read", "tools/model"), TOOLS),
    "tools/model/replay/state": (("tools/read", "tools/model", "tools/model/repeats"), TOOLS),  # what handlers share
    "tools/model/replay/events": (("tools/model/replay/state", "tools/read", "tools/model"), TOOLS),  # the handlers
    "tools/model/replay": (("tools/model/repeats", "tools/model/replay/state", "tools/model/replay/events", "tools/read", "tools/model", "proto"), TOOLS),
    "tools/follow": (("tools/read", "tools/model", "tools/model/replay", "proto"), TOOLS),  # recordings that are still being written
    "tools/redact": (("proto", "tools/import", "tools/model", "tools/read"), TOOLS | {"sodium"}),
    "tools/symbolize": (("tools/read",), TOOLS | {"elfutils"}),
    "tools/arrow": ((), {"nanoarrow"}),
    "tools/cli": (("tools/read", "tools/cli/arguments", "tools/cli/terminal"), TOOLS | {"cli11", "json"}),
}

# The rooms of the simulated device. Only api/ includes CUDA's headers. The device may use libstdc++, which it links statically.
SIMCUDA = {
    "user_tables": "",  # parsed by the device and by `memoir run`
    "process": "",
    "addresses": "",
    "configuration": "addresses process user_tables",
    "contents": "process",
    "machine": "addresses configuration contents process user_tables",
    "streams": "contents machine process",
    "kernels": "configuration machine process streams",
    "collectives": "machine process user_tables",
    "api": "collectives configuration contents kernels machine process streams user_tables",
}
for room, others in SIMCUDA.items():
    ARROWS[f"simcuda/{room}"] = (("proto", *(f"simcuda/{other}" for other in others.split())), {"cuda"} if room == "api" else set())
# Values of tensors on the simulated device: a separate library, which finds the device by the names of its functions.
ARROWS["simcuda/torch_values/memory"] = ((), {"torch"})
ARROWS["simcuda/torch_values/host"] = (("interpose", "simcuda/torch_values/memory"), {"torch"})
ARROWS["simcuda/torch_values/operators"] = (("simcuda/torch_values/memory", "simcuda/torch_values/host"), {"torch"})

# tools/analyze, tools/view and tools/cli are divided by the same nouns: which folders a folder may include from its own parent, and from the others. Every
# folder may include captures (tools/model, and tools/read's types).
ANALYZE = {
    "pass": "",  # the recording, gone through once: options, windows, instants, streams of events
    "driver": "",
    "host": "pass",
    "categories": "driver pass",
    "checkpointing": "categories pass",
    "grouping": "categories driver pass",
    "segments": "grouping pass",
    "oom": "categories driver grouping lives pass segments",
    "summary": "categories checkpointing driver grouping lives oom pass segments",
    "stacks": "grouping pass summary",
    "compare": "categories grouping pass summary",
    "compiled": "categories pass summary",
    "calls": "data_flow pass",
    "time": "categories grouping pass",
    "tree": "grouping pass",
    "lives": "categories grouping pass",
    "live": "categories lives pass",
    "accounting": "driver grouping pass",
    "fit": "summary",
    "data_flow": "grouping pass",
    "torch_profiler": "categories data_flow pass time",
    "report": "categories grouping lives oom pass stacks summary",
    "ranks": "categories compare grouping lives pass summary",
}
VIEW = {
    "json": "terminal",
    "brief": "json terminal",
    "terminal": "",
    "picture": "analyze/categories analyze/torch_profiler",
    "capture": "json terminal analyze/categories analyze/grouping analyze/lives analyze/pass analyze/segments analyze/summary",
    "database": "summary analyze/categories analyze/grouping analyze/lives analyze/pass analyze/ranks analyze/summary analyze/tree",
    "events": "json",
    "accounting": "capture json terminal analyze/accounting",
    "checkpointing": "capture json terminal analyze/checkpointing analyze/summary",
    "compare": "capture json terminal analyze/compare analyze/grouping analyze/pass analyze/summary",
    "compiled": "capture json terminal analyze/compiled",
    "fit": "json picture terminal analyze/fit",
    "flame": "capture json terminal analyze/grouping analyze/pass analyze/stacks",
    "host": "capture json terminal analyze/host",
    "lives": "capture json terminal analyze/categories analyze/lives",
    "live": "json terminal analyze/live analyze/pass",
    "oom": "capture json terminal analyze/categories analyze/grouping analyze/oom analyze/pass analyze/summary",
    "ranks": "capture compare json terminal analyze/compare analyze/grouping analyze/pass analyze/ranks",
    "segments": "capture json terminal analyze/categories analyze/segments",
    "stacks": "capture json terminal analyze/grouping analyze/pass analyze/stacks",
    "calls": "capture json terminal analyze/calls",
    "summary": "capture checkpointing json lives oom terminal analyze/pass analyze/summary",
    "time": "capture json picture summary terminal analyze/pass analyze/time",
    "torch_profiler": "json terminal analyze/data_flow analyze/torch_profiler",
    "trace": "flame json analyze/calls analyze/pass analyze/tree",
    "tree": "capture json terminal analyze/tree",
    "report": "accounting capture json lives oom segments summary terminal analyze/accounting analyze/categories analyze/grouping analyze/pass analyze/report analyze/segments analyze/stacks analyze/summary",
}
CLI = {
    "terminal": "view/terminal",
    "brief": "arguments view/brief view/json view/terminal",
    "arguments": "terminal analyze/pass view/terminal",
    "process": "view/terminal",
    "output": "",
    "installed": "process",
    "attach": "arguments installed process terminal view/capture",
    "launch": "arguments attach installed process ranks terminal analyze/host analyze/summary view/host view/summary view/terminal",
    "doctor": "arguments attach brief installed launch process terminal view/json view/terminal",
    "fit": "arguments attach brief installed launch process terminal analyze/fit view/fit view/terminal",
    "check": "arguments attach brief ranks terminal view/json analyze/accounting analyze/categories analyze/compare analyze/grouping analyze/host analyze/lives analyze/pass analyze/ranks analyze/segments analyze/summary view/accounting view/capture view/compare view/host view/lives view/oom view/ranks view/segments view/terminal",
    "diff": "arguments attach brief terminal analyze/compare analyze/pass view/compare view/json view/terminal",
    "live": "arguments output terminal analyze/live view/json view/live view/terminal",
    "symbolize": "arguments installed process terminal",
    "redact": "arguments attach output terminal view/terminal",
    "report": "arguments attach installed output terminal analyze/accounting analyze/pass analyze/report analyze/segments view/capture view/json view/report view/terminal",
    "tables": "output ranks terminal analyze/categories analyze/lives analyze/pass analyze/ranks analyze/summary analyze/tree view/database",
    "collect": "arguments attach installed process ranks terminal analyze/ranks view/terminal",
    "query": "arguments attach installed process terminal view/terminal",
    "ranks": "arguments attach terminal analyze/ranks view/terminal",
    "explain": "arguments attach brief terminal analyze/lives analyze/pass view/lives view/terminal",
    "export": "arguments attach output redact tables terminal analyze/calls analyze/categories analyze/data_flow analyze/grouping analyze/pass analyze/segments analyze/stacks analyze/summary analyze/torch_profiler analyze/tree view/capture view/events view/flame view/json view/picture view/segments view/terminal view/torch_profiler view/trace view/tree",
    "show": "arguments attach brief ranks terminal analyze/calls analyze/checkpointing analyze/compiled analyze/pass analyze/ranks analyze/segments analyze/stacks analyze/summary analyze/time analyze/tree view/calls view/capture view/checkpointing view/compiled view/ranks view/segments view/stacks view/summary view/terminal view/time view/tree",
}
for folder, rooms, libraries in (("analyze", ANALYZE, set()), ("view", VIEW, {"json", "nanoarrow", "protozero", "sqlite", "stb", "zlib", "zstd"}), ("cli", CLI, {"cli11", "json"})):
    for room, others in rooms.items():
        arrows = [f"tools/{other}" if "/" in other else f"tools/{folder}/{other}" for other in others.split()]
        ARROWS[f"tools/{folder}/{room}"] = (("tools/read", "tools/model", "proto", *arrows), TOOLS | libraries)
ARROWS["tools/cli/live"] = (("tools/follow", *ARROWS["tools/cli/live"][0]), ARROWS["tools/cli/live"][1])

ARROWS["tools/cli/launch"] = (("simcuda/user_tables", *ARROWS["tools/cli/launch"][0]), ARROWS["tools/cli/launch"][1])

ARROWS["tools/cli/redact"] = (("tools/redact", *ARROWS["tools/cli/redact"][0]), TOOLS)

# Headers that need only libc at run time. <string>, <vector>, <mutex>, <functional> and the like need libstdc++.
HEADER_ONLY = set(
    "algorithm array atomic bit cassert cctype cerrno charconv cinttypes climits concepts csignal cstdarg cstddef cstdint cstdio "
    "cstdlib cstring ctime initializer_list iterator limits new numeric span string_view tuple type_traits utility".split()
)


def library_of(include):
    return next((name for name, pattern in LIBRARIES.items() if re.match(pattern, include)), None)


def room_of(folder):
    """The room of ARROWS that `folder` belongs to."""
    while folder and folder not in ARROWS:
        folder = folder.rpartition("/")[0]
    return folder


def include_arrows(tree):
    """Each room includes only what the table allows it."""
    for source in cxx_sources(tree, *PRODUCTS):
        room = room_of(source.folder)
        if not room:
            yield f"{source.path}: its room is not in the table of tests/rules/include_arrows.py"
            continue
        rooms, libraries = ARROWS[room]
        for number, include, angle in source.includes:
            library = library_of(include)
            if library:
                if library not in libraries:
                    yield f"{source.path}:{number}: {room} must not use {library} ({include})"
            elif angle:
                if not SYSTEM.match(include):
                    yield f"{source.path}:{number}: <{include}> is of a library that tests/rules/include_arrows.py does not know"
            elif room_of(include.rpartition("/")[0]) not in (room, *rooms):
                yield f"{source.path}:{number}: {room} must not include {include}"


def interposer_needs_libc_only(tree):
    """The interposer is loaded into programs of any language: its headers may not need libstdc++, and nothing may throw. The simulated device links libstdc++
    statically, but may not throw either: its callers are C.
    """
    for source in cxx_sources(tree, "interpose", "simcuda"):
        if source.path.startswith("simcuda/torch_values/"):
            continue  # linked with torch
        for number, include, angle in source.includes:
            if angle and "." not in include and include not in HEADER_ONLY and not source.path.startswith("simcuda/"):
                yield f"{source.path}:{number}: <{include}> needs libstdc++"
        for number, line in enumerate(source.code_lines, 1):
            if re.search(r"\b(throw|try|catch|dynamic_cast|typeid)\b", line):
                yield f"{source.path}:{number}: exceptions and RTTI need libstdc++"


def no_include_cycles(tree):
    """Neither files nor rooms include each other in a circle."""
    files = {s.path: s for s in cxx_sources(tree, *PRODUCTS)}
    by_file = {path: {i for _, i, _ in s.includes if i in files} for path, s in files.items()}
    yield from (f"files in a circle: {' -> '.join(c)}" for c in circles(by_file))
    by_room = {}
    for path, targets in by_file.items():
        room = path.rpartition("/")[0]
        by_room.setdefault(room, set()).update(t.rpartition("/")[0] for t in targets if t.rpartition("/")[0] != room)
    yield from (f"rooms in a circle: {' -> '.join(c)}" for c in circles(by_room))


def circles_of_units_are_small(tree):
    """A unit is a header and its source. Two units may be one thing in two files; where three include each other, none can be read without the others."""
    by_unit = {}
    for source in cxx_sources(tree, *PRODUCTS):
        targets = (include.rpartition(".")[0] for _, include, _ in source.includes)
        by_unit.setdefault(source.path.rpartition(".")[0], set()).update(targets)
    reached = {unit: reachable(by_unit, unit) for unit in by_unit}
    together = {tuple(sorted(other for other in reached[unit] if unit in reached.get(other, ()))) for unit in by_unit}
    for units in sorted(together):
        if len(units) > 2:
            yield f"{len(units)} units in a circle: {', '.join(units)}"


def reachable(graph, start):
    found, waiting = set(), [start]
    while waiting:
        new = graph.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def circles(graph):
    """One circle for each back edge of a depth-first walk."""
    found, done = [], set()

    def walk(node, trail):
        if node in trail:
            found.append([*trail[trail.index(node) :], node])
        elif node not in done:
            for target in sorted(graph.get(node, ())):
                walk(target, [*trail, node])
            done.add(node)

    for node in sorted(graph):
        walk(node, [])
    return found


def _include(path, *lines):
    return {path: "".join(f"#include {line}\n" for line in lines)}


RULES = (
    Rule(
        include_arrows,
        (
            _include("tracker/writer/pack.cc", "<ATen/Tensor.h>"),
            _include("tracker/session/session.cc", "<c10/core/Device.h>"),
            _include("tracker/torch/ranges/range_hook.cc", '"tracker/torch/cuda_allocator/cuda_allocator_hook.h"'),
            _include("interpose/ring/ring.cc", "<zstd.h>"),
            _include("simcuda/machine/device.cc", "<cuda.h>"),
            _include("simcuda/machine/device.cc", '"interpose/ring/ring.h"'),
            _include("simcuda/machine/device.cc", '"simcuda/streams/streams.h"'),
            _include("simcuda/brandnew/thing.cc", "<cstdint>"),
            _include("tools/read/part.cc", '"simcuda/user_tables/limits.h"'),
            _include("interpose/ring/ring.cc", '"tracker/memoir.h"'),
            _include("tools/read/part.cc", '"interpose/records/ring_record.h"'),
            _include("tools/model/capture.cc", '"tracker/writer/writer.h"'),
            _include("tools/model/capture.cc", '"tools/analyze/summary/summary.h"'),
            _include("tools/view/terminal/text_table.cc", '"CLI/CLI.hpp"'),
            _include("tracker/writer/pack.cc", '"google/protobuf/message.h"'),
            _include("tracker/writer/pack.cc", '"memoir/v1/capture.pb.h"'),
            _include("tools/model/capture.cc", "<boost/optional.hpp>"),
            _include("tools/brandnew/thing.cc", "<cstdint>"),
            _include("tools/view/brandnew/thing.cc", "<cstdint>"),
            _include("tools/analyze/pass/window/selection.h", '"tools/analyze/summary/summary.h"'),
        ),
    ),
    Rule(
        interposer_needs_libc_only,
        (_include("interpose/ring/ring.cc", "<string>"), {"interpose/ring/ring.cc": "void F() { throw 1; }\n"}, {"simcuda/machine/device.cc": "void F() { throw 1; }\n"}),
    ),
    Rule(
        no_include_cycles,
        (
            {**_include("tools/read/a.h", '"tools/read/b.h"'), **_include("tools/read/b.h", '"tools/read/a.h"')},
            {
                **_include("tracker/writer/a.h", '"tracker/session/b.h"'),
                **_include("tracker/session/c.h", '"tracker/writer/d.h"'),
                **{"tracker/writer/d.h": "", "tracker/session/b.h": ""},
            },
        ),
    ),
    Rule(
        circles_of_units_are_small,
        (
            {
                **_include("tools/read/a.cc", '"tools/read/b.h"'),
                **_include("tools/read/b.cc", '"tools/read/c.h"'),
                **_include("tools/read/c.h", '"tools/read/a.h"'),
            },
        ),
    ),
)
