"""PyTorch's test/profiler/test_profiler_tree.py, test by test under its own name: its workload runs three times, under torch.profiler and recorded by Memoir, and what
`memoir export tree --format torch` prints must be what ProfilerTree.format prints of torch.profiler's event tree, letter by letter. The tests of CUDA run on the simulated GPU,
where torch.profiler sees no kernel and no call of the runtime either. Where Python calls are a part of the tree, Memoir records them, too (--stacks calls), while torch.profiler
does; what stands between them is compared by itself in a recording without them.
"""

import json
import pathlib
import re
import subprocess
import sys

import pytest

import conformance
import profile_text

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE / "profiler_tree_programs.py"
RANGE = re.search(r'^RANGE = "(.*)"', PROGRAM.read_text(), re.M).group(1)
NAMES = re.findall(r"^def (test_\w+)", PROGRAM.read_text(), re.M)
WITH_PYTHON = [name for name in NAMES if "stack" in name or "detailed" in name]
SUITE = "test_profiler_tree.py"


def device_of(name):
    return "cuda" if "_cuda" in name else "cpu"


@pytest.fixture(scope="module")
def recorded(tree, tmp_path_factory):
    """By device, with calls of Python functions or without, the capture, and by test its blocks."""
    found = {}

    def of(name, calls=False):
        device = device_of(name)
        if device == "cuda" and not (tree / "lib/memoir/libmemoir_simcuda.so").exists():
            pytest.skip("this tree was built without the simulated device")
        if (device, calls) not in found:
            folder = tmp_path_factory.mktemp(device)
            options = ["--simulate", "h100", "--kernels", "off"] * (device == "cuda") + ["--stacks", "calls"] * calls
            command = [tree / "bin" / "memoir", "run", *options, "-q", "-o", folder / "capture", "--", sys.executable, PROGRAM, folder / "answers.json", device, *["calls"] * calls]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr[-2000:]
            found[device, calls] = folder / "capture", json.loads((folder / "answers.json").read_text())
        capture, blocks = found[device, calls]
        of_test = [block for block in blocks if block["test"] == name]
        assert len(of_test) == 3
        return capture, of_test

    return of


def export(tree, capture, block, *options):
    command = [tree / "bin" / "memoir", "export", "tree", "--range", f"{RANGE}#{block['number']}", *options, *["--no-memory"] * (not block["memory"]), capture]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def inside_range(text):
    """The nodes in the range that marks a block."""
    first, *lines = text.splitlines()
    assert first == RANGE and all(line.startswith("  ") for line in lines)
    return "".join(line[2:] + "\n" for line in lines)


def without_annotations(block, text):
    return "".join(line + "\n" for line in profile_text.without(block["annotations"], text.splitlines()))


def depth_of(line):
    return (len(line) - len(line.lstrip(" "))) // 2


ENTER, EXIT, STOP = (f"torch/profiler/profiler.py(...): {name}" for name in ("__enter__", "__exit__", "stop"))


def while_profiled(text):
    """The calls of a test that torch.profiler can see: from those around its start on, to the end of its `stop`."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.strip() == ENTER)
    depth, around = depth_of(lines[first]), {}
    for line in lines[:first]:
        around[depth_of(line)] = line
    kept = [around[i] for i in range(depth)] + lines[first:]
    left = next(i for i in range(len(kept) - 1, -1, -1) if kept[i] == "  " * depth + EXIT)
    stop = kept.index("  " * (depth + 1) + STOP, left)
    end = next((i for i in range(stop + 1, len(kept)) if depth_of(kept[i]) <= depth + 1), len(kept))
    return "".join(line + "\n" for line in [*kept[: left + 1], *kept[stop:end]])


def named(name):
    def test(tree, recorded):
        calls = name in WITH_PYTHON
        capture, blocks = recorded(name, calls)
        expected = HERE / "expected" / f"{name}.txt"   # the text in PyTorch's test, if it has ranges and memory only
        with conformance.counted(SUITE, name) as count:
            for block in blocks:
                exported = export(tree, capture, block, "--format", "torch")
                found = while_profiled(exported) if calls else inside_range(exported)
                assert found == block["text"]
                if expected.exists():
                    assert found == expected.read_text()
                count.blocks += 1

    test.__name__ = test.__qualname__ = name
    return test


globals().update({name: named(name) for name in NAMES})


@pytest.mark.parametrize("name", WITH_PYTHON)
def test_without_calls_of_python_functions(tree, recorded, name):
    capture, blocks = recorded(name)
    for block in blocks:
        assert without_annotations(block, inside_range(export(tree, capture, block, "--format", "torch"))) == block["ranges"]


def module_text(lines):
    """The nodes of `export tree` as torch.profiler writes them: modules numbered by class, in the order of their first calls."""
    numbers, depths, text = {}, {None: -1}, []
    for line in lines:
        node = json.loads(line)
        depth = depths[node["parent"]] + 1
        if node["kind"] == "memory":
            text += [(depth, "[memory]")] * (node["action"] in ("allocate", "free"))
            continue
        depths[node["node"]] = depth
        if node["kind"] == "module":
            of_class = numbers.setdefault(node["class"], {})
            name = f"nn.Module: {node['class']}_{of_class.setdefault((node['root'], node['module']), len(of_class))}"
        else:
            name = re.sub(r"^(\w+::\w+)\.\w+$", r"\1", node["name"])
        text.append((depth, name))
    return "".join(f"{'  ' * depth}{name}\n" for depth, name in text)


@pytest.mark.parametrize("name", [name for name in WITH_PYTHON if device_of(name) == "cpu"])
def test_modules_nest_as_they_are_called(tree, recorded, name):
    """Modules in a plain list, too. On a GPU nodes of the backward thread are between nodes of others, in the order of time."""
    capture, blocks = recorded(name)
    for block in blocks:
        found = inside_range(module_text(export(tree, capture, block).splitlines()))
        assert without_annotations(block, found) == block["modules"]
        assert ("nn.Module: LayersInAList_0" in found) == ("modules" in name)


CALL = re.compile(r"cu(da)?[A-Z]\w+")


@pytest.fixture(scope="module")
def with_kernels(tree, tmp_path_factory):
    """The capture of the CUDA tests with launches, and its blocks. torch.profiler in the same run sees no call of CUDA here; on a card it would."""
    if not (tree / "lib/memoir/libmemoir_simcuda.so").exists():
        pytest.skip("this tree was built without the simulated device")
    folder = tmp_path_factory.mktemp("kernels")
    command = [tree / "bin" / "memoir", "run", "--simulate", "h100", "-q", "-o", folder / "capture", "--", sys.executable, PROGRAM, folder / "answers.json", "cuda"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder / "capture", json.loads((folder / "answers.json").read_text())


def without_calls(text, dropped=CALL):
    """Without calls of CUDA and what runs on the device for them."""
    kept, below = [], None
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip())
        if below is not None and depth > below:
            continue
        below = depth if dropped.fullmatch(line.strip()) else None
        kept += [line] * (below is None)
    return "".join(line + "\n" for line in kept)


@pytest.mark.parametrize("name", [name for name in NAMES if device_of(name) == "cuda"])
def test_calls_of_cuda(tree, with_kernels, name):
    """Each launch has its kernel below it. Without calls the tree is torch.profiler's; without memory, which has another order in newer torch, it is the text of PyTorch's
    test, where that says it."""
    capture, blocks = with_kernels
    expected = HERE / "expected" / f"{name}_calls.txt"
    of_test = [block for block in blocks if block["test"] == name]
    assert len(of_test) == 3
    for block in of_test:
        found = inside_range(export(tree, capture, block, "--format", "torch"))
        without = without_calls(found)
        assert (without_annotations(block, without) if block["python"] else without) == (block["ranges"] if block["python"] else block["text"])
        lines = found.splitlines()
        launches = [(at, line) for at, line in enumerate(lines) if line.strip() == "cudaLaunchKernel"]
        assert len(launches) >= 7
        for at, line in launches:
            assert re.fullmatch(" " * (len(line) - len(line.lstrip()) + 2) + r"void at::native::.*_kernel<\.\.\.>\(\.\.\.\)", lines[at + 1])
        if expected.exists():
            assert without_calls(found, re.compile(r"\[memory\]")) == expected.read_text()
