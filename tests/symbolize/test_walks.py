"""Native frames where a walk is not plain: recorded in one process, and named afterwards."""

import pathlib
import shutil
import subprocess

import pytest
import torch
from recording import record, run_memoir, show

HERE = pathlib.Path(__file__).parent
TORCH = pathlib.Path(torch.__file__).parent / "lib"

# Called through a pointer, so that it needs no libtorch; NAME alone differs between two libraries of the same layout.
CALLER = """
void NAME(void (*allocate)(long), long bytes) { allocate(bytes); __asm__ volatile("" ::: "memory"); }
"""
HIDDEN = """
static __attribute__((noinline)) void inside(void (*allocate)(long), long bytes) { allocate(bytes); __asm__ volatile("" ::: "memory"); }
void outside(void (*allocate)(long), long bytes) { inside(allocate, bytes); __asm__ volatile("" ::: "memory"); }
"""

PROGRAM = """
import ctypes, mmap, os, pathlib, sys, torch

folder = pathlib.Path(sys.argv[1])
walks = ctypes.CDLL(str(folder / "walks.so"))
for name in "allocate recurse catches start_thread_that_allocates through".split():
    getattr(walks, name).restype = None

def long(n):
    return ctypes.c_int64(n)

def python_calls(function, *arguments):
    return function(*arguments)

torch.ones(1)
python_calls(walks.recurse, 1000, long(100_003))
python_calls(walks.catches, long(200_003))
python_calls(walks.start_thread_that_allocates, long(300_007))

def through(function, size):
    python_calls(walks.through, ctypes.cast(function, ctypes.c_void_p), long(size))

blind = ctypes.CDLL(str(folder / "blind.so"))
through(blind.blind, 400_009)
stripped = ctypes.CDLL(str(folder / "stripped.so"))
through(stripped.outside, 500_009)
replaced = ctypes.CDLL(str(folder / "replaced.so"))
through(replaced.replaced, 600_011)

places = [text.encode() for name in ("first", "other") for text in (str(folder / f"{name}.so"), name)]
same_place = python_calls(walks.one_after_another, *places, long(700_001))

# push rbp; mov rbp, rsp; mov rax, rdi; mov rdi, rsi; call rax; pop rbp; ret
page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex("554889e54889f84889f7ffd05dc3") if os.uname().machine == "x86_64" else b"")
generated = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(page)))
if os.uname().machine == "x86_64":
    through(generated, 800_011)

child = os.fork()
if child == 0:
    walks.recurse(10, long(900_007))
    os._exit(0)
ended = os.waitpid(child, 0)[1]
print(same_place, ended, walks.under_signals(20_000, long(1_000_003)))
"""


def compiled(folder, name, source, *flags):
    (folder / f"{name}.c").write_text(source)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wl,--build-id", *flags, "-o", folder / f"{name}.so", folder / f"{name}.c"], check=True)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    folder = tmp_path_factory.mktemp("libraries")
    subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", "-O1", "-g1", "-Wl,--build-id", "-o", folder / "walks.so", HERE / "walks.cc",
                    f"-L{TORCH}", "-ltorch_cpu", "-Wl,--allow-shlib-undefined", "-pthread"], check=True)
    for name in ("first", "other", "replaced"):
        compiled(folder, name, CALLER.replace("NAME", name))
    compiled(folder, "blind", CALLER.replace("NAME", "blind"), "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-fno-exceptions", "-fomit-frame-pointer")
    compiled(folder, "stripped", HIDDEN, "-s")
    return folder


@pytest.fixture(scope="module")
def recorded(tree, libraries, tmp_path_factory):
    capture, done = record(tree, tmp_path_factory.mktemp("walks"), PROGRAM, libraries, options=["--stacks", "native"])
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    same, ended, signals = done.stdout.split()
    assert ended == "0" and int(signals) > 10
    shutil.copy(libraries / "first.so", libraries / "replaced.so")
    named = run_memoir(tree, "symbolize", capture)
    assert named.returncode == 0, named.stderr
    return capture, same == "1", named.stderr


def around(tree, capture, allocated):
    """Functions and files around what allocated so many bytes each time, innermost first."""
    nodes = {node["id"]: node for node in show(tree, capture, "--by", "stack", "--top", "0")["nodes"]}
    found = []
    for node in nodes.values():
        own = node["own"]
        if own["allocations"] == 0 or own["allocated_bytes"] != own["allocations"] * allocated:
            continue
        found.append([])
        while node["parent"] is not None:
            found[-1].append((node["function"], pathlib.Path(node["file"] or "").name))
            node = nodes[node["parent"]]
    assert found, f"nothing allocated {allocated} bytes"
    return found


def functions(tree, capture, allocated):
    stack, = around(tree, capture, allocated)
    return [function for function, _ in stack]


def test_a_deep_recursion_is_cut_at_its_outer_end(tree, recorded):
    names = functions(tree, recorded[0], 100_003)
    native = names[: names.index("python_calls")]
    assert names[names.index("python_calls"):] == ["python_calls", "<module>"]
    assert 80 < native.count("recurse") < 128 and native[-1] == "recurse" and "allocate" in native


def test_while_an_exception_passes_and_behind_it(tree, recorded):
    passing = functions(tree, recorded[0], 200_003)
    assert [name for name in passing if name in ("throws", "catches", "python_calls")] == ["throws", "catches", "python_calls"]
    caught = functions(tree, recorded[0], 200_004)
    assert "throws" not in caught and [name for name in caught if name in ("catches", "python_calls")] == ["catches", "python_calls"]


def test_a_thread_without_python(tree, recorded):
    names = functions(tree, recorded[0], 300_007)
    assert "on_thread" in names and "python_calls" not in names


def test_a_library_without_unwind_tables_ends_the_walk(tree, recorded):
    names = functions(tree, recorded[0], 400_009)
    assert "allocate" in names and "blind" in names and names[-3:] == ["python_calls", "through", "<module>"]
    assert names.count("through") == 1      # Python's, not walks.so's


def test_a_stripped_library_has_what_it_exports(tree, recorded):
    stack, = around(tree, recorded[0], 500_009)
    inner, outer = (function for function, file in stack if file == "stripped.so")
    assert inner.startswith("+0x") and outer == "outside"
    assert "stripped.so: 1 address has no name: it has no symbols for them\n" in recorded[2]


def test_a_library_that_was_replaced_is_not_taken_for_it(tree, recorded):
    stack, = around(tree, recorded[0], 600_011)
    (function,) = (function for function, file in stack if file == "replaced.so")
    assert function.startswith("+0x")
    line, = (line for line in recorded[2].splitlines() if "replaced.so" in line)
    assert "is another build (" in line and "--objects" in line


def test_two_libraries_at_one_place(tree, recorded):
    if not recorded[1]:
        pytest.skip("the loader put the second library elsewhere")
    for name, allocated in (("first", 700_001), ("other", 700_002)):
        stack, = around(tree, recorded[0], allocated)
        assert (name, f"{name}.so") in stack


def test_generated_code_ends_the_walk(tree, recorded):
    names = functions(tree, recorded[0], 800_011)
    assert "allocate" in names and names[-3:] == ["python_calls", "through", "<module>"]


def test_signals_in_the_middle_of_walks(tree, recorded):
    stacks = [[function for function, _ in stack] for stack in around(tree, recorded[0], 1_000_003)]
    assert sorted(stack.count("recurse") for stack in stacks) == list(range(1, 51))
    assert all(stack[-1] == "<module>" and "under_signals" in stack for stack in stacks)
