"""The results of the conformance tests, test by test, and docs/tested/conformance.md, made from them.

    MEMOIR_CONFORMANCE_COUNTS=FILE pytest tests/conformance/test_{memory_profiler,profiler_tree,dynamo_profiler,oracle_live,categories}.py     with each torch (the last with 2.11); adds to FILE
    python tests/conformance/conformance.py [FILE]     prints the page: from FILE, or from the results kept here
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import sys

COUNTS = pathlib.Path(__file__).with_name("conformance.json")  # of the run that the page is of


@dataclasses.dataclass
class Count:
    blocks: int = 0


@contextlib.contextmanager
def counted(suite, name):
    """A test's result, added to the file that MEMOIR_CONFORMANCE_COUNTS names; without it nothing is kept."""
    count, differs = Count(), ""
    try:
        yield count
    except BaseException as error:
        differs = (str(error) or repr(error)).splitlines()[0]
        raise
    finally:
        path = os.environ.get("MEMOIR_CONFORMANCE_COUNTS")
        if path:
            import torch

            file = pathlib.Path(path)
            runs = json.loads(file.read_text()) if file.exists() else []
            runs = [run for run in runs if (run["suite"], run["name"], run["torch"]) != (suite, name, torch.__version__)]
            runs.append({"suite": suite, "name": name, "torch": torch.__version__, "blocks": count.blocks, "differs": differs})
            file.write_text(json.dumps(runs, indent=1) + "\n")


SUITES = {
    "test_memory_profiler.py": (
        "PyTorch's test_memory_profiler.py",
        "Every test, under its own name; a block is what a test profiles once.\n"
        "`tests/conformance/test_memory_profiler.py`; the texts that the tests expect are in `tests/conformance/expected`.",
        "blocks",
    ),
    "test_profiler_tree.py": (
        "PyTorch's test_profiler_tree.py",
        "Every test, under its own name: the text of `memoir export tree --format torch` compared with ProfilerTree.format,\n"
        "letter by letter; a block is one of three runs.\n"
        "`tests/conformance/test_profiler_tree.py`; the tests of CUDA on the simulated GPU,\n"
        "with torch.profiler's activities of the CPU alone: there are no kernels to see.\n"
        "With launches and other calls of CUDA, which Memoir's text has unless `--kernels off` left them out,\n"
        "the test with streams is PyTorch's text but for `[memory]`, which newer torch has before the launch\n"
        "(`test_calls_of_cuda`).",
        "blocks",
    ),
    "test_dynamo_profiler.py": (
        "PyTorch's test/dynamo/test_profiler.py",
        "Every test, under its own name: what it looks for in torch.profiler's trace is there, and is a node of\n"
        "`memoir export tree` of the same run, with the memory inside it. `tests/conformance/test_dynamo_profiler.py`.\n"
        "Ranges of torch's compilers, `NAME (dynamo_timed)` there, are `torch.compile: NAME` here.",
        "tests",
    ),
    "scripts": (
        "Plain scripts, live",
        "`tests/conformance/test_oracle_live.py`; the scripts are not part of this repository, but for `tensor_programs`.\n"
        "A region is a part of a script that it marks.",
        "regions",
    ),
    "scripts on a GPU": (
        "Plain scripts, live, on the simulated GPU",
        "The same, with `--simulate h100`: backward passes run on autograd's thread of the device,\n"
        "and frees are known with their bytes.",
        "regions",
    ),
    "frozen results": (
        "Plain scripts, frozen results of torch 2.11",
        "`tests/conformance/test_categories.py`: no torch.profiler runs at the same time.\n"
        "A scope is a region, as if recording had begun with it, or the whole program.",
        "scopes",
    ),
}
# Differences that these tests remove before they compare.
NOTES = {
    ("test_memory_profiler.py", "test_config_check"): (
        "torch.profiler refuses without record_shapes, profile_memory and with_stack; Memoir where operators above autograd or modules were not recorded (`--start memory`,"
        " `--ops dispatch`, `--modules off`)"
    ),
    ("test_memory_profiler.py", "test_memory_timeline_no_id"): "on the CPU, where torch.profiler is not told of the free of `x`, which is older than it",
    ("frozen results", "compile_aot_eager"): (
        "but for two ranges of the tree, which torch makes only while its profiler runs: `Pregraph bytecode` (`record_pregraph_bytecode_enter` in torch/_dynamo/utils.py) and"
        " `AOTDispatcher Runtime Wrapper Prologue` (`record_runtime_wrapper_prologue_enter` in torch/_functorch/_aot_autograd/runtime_wrappers.py), each"
        " `if torch.autograd.profiler._is_profiler_enabled`; live, with it on, they are equal"
    ),
}
NOTES |= {
    ("test_memory_profiler.py", name): "`aten::detach` of a gradient stands once less in the text than in PyTorch 2.4's: of torch 2.11 and 2.15 that is so"
    for name in (
        "test_categories_e2e_simple_fwd_bwd",
        "test_categories_e2e_simple_fwd_bwd_step",
        "test_categories_e2e_simple_module_fwd_bwd",
        "test_categories_e2e_simple_module_fwd_bwd_step",
        "test_categories_e2e_sequential_fwd_bwd",
    )
}
HEAD = """# Does Memoir give the results of torch.profiler?

This page shows users of torch.profiler's memory profiler which of its results Memoir reproduces.
It compares `memoir export categories --rules torch` with torch.profiler ([categories.md](../categories.md)).

Printed by `python tests/conformance/conformance.py` from the results of each test, in
`tests/conformance/conformance.json`. Tests that are not listed are equal.

*Live* means that one process runs the workload once, both under
`torch.profiler.profile(record_shapes=True, profile_memory=True, with_stack=True)` and recorded by Memoir.
*Equal* means that each of these is equal, number by number:

- the tree of ranges and allocations;
- each range's name and overload, which of its arguments are written to, and which storage each argument was;
- data flow, as text and as JSON;
- each storage with its tensor, address, bytes and the category of each of its versions;
- which storages are gradients, and of which parameter;
- the timeline, with actions, bytes, categories, versions and storages in their order.

Annotations (`record_function`) are left out of the tree that is compared.
With `with_stack`, torch.profiler ends each of them with the Python call that began it (`record_function.__enter__`).
So its contents are its siblings in torch.profiler's tree, and are inside it in Memoir's.
The frozen trees, made without stacks, have annotations.

On a GPU, autograd runs nodes on a separate thread.
torch.profiler's tree has the nodes of all backward passes of a recording inside the Python call of the first one:
`build_tree` (`torch/csrc/profiler/collection.cpp`) leaves a thread's stack at the parent of what ended.
The comparison puts what began after its Python call had returned where it began, as it is in the timeline.
"""


def table(runs, suite):
    """A section: how many tests are equal, and a row for each test that differs or has a note."""
    title, what, unit = SUITES[suite]
    runs = [run for run in runs if run["suite"] == suite]
    torches = sorted({run["torch"] for run in runs}, key=lambda version: [int(part) for part in version.split("+")[0].split(".")])
    equal = sum(not run["differs"] for run in runs)
    lines = [f"## {title}", "", what, "", f"Equal: {equal} of {len(runs)}, with torch {' and '.join(torches)}.", ""]
    rows = []
    for name in dict.fromkeys(run["name"] for run in runs):
        of = {run["torch"]: run for run in runs if run["name"] == name}
        note = NOTES.get((suite, name), "")
        if not note and not any(run["differs"] for run in of.values()):
            continue
        cells = [("**differs**: " + of[torch]["differs"] if of[torch]["differs"] else "equal") if torch in of else "" for torch in torches]
        rows.append(f"| `{name}` | {max(run['blocks'] for run in of.values())} | {' | '.join(cells)} | {note} |")
    if rows:
        lines += [f"| test | {unit} | {' | '.join(torches)} | |", f"|---|---:|{'---|' * len(torches)}---|", *rows]
    return "\n".join(lines).rstrip() + "\n"


def main():
    runs = json.loads(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else COUNTS).read_text())
    print("\n".join([HEAD, *(table(runs, suite) for suite in SUITES)]), end="")


if __name__ == "__main__":
    main()
