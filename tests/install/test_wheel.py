"""`./dev wheel` makes one wheel for several torches: built as it does, installed into an environment of each.

With the flags of the tests, so that what they compiled is compiled once; with AS_SHIPPED=1 in the environment, as it is shipped."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = "import torch\nkept = torch.ones(1000) + 1\n"
OTHERS = [path for path in os.environ.get("OTHER_PYTHONS", "").split(":") if path]
sys.path[:0] = [str(ROOT / "setup"), str(ROOT / "tests" / "rules")]


def run(*command, **options):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MEMOIR_"))}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=clean, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    flags = [] if os.environ.get("AS_SHIPPED") else ["--flags-of-tests"]
    print(run(sys.executable, ROOT / "setup" / "build_wheel.py", ";".join(OTHERS), "--torches", "none", "-o", folder, *flags))
    wheel, = folder.iterdir()
    return wheel


def environment_of(python, wheel, folder):
    """A virtual environment that sees the torch of `python`, with the wheel installed into it."""
    run(python, "-m", "venv", folder)
    packages = pathlib.Path(run(folder / "bin" / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (packages / "torch-of-the-builder.pth").write_text(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"))
    run(folder / "bin" / "python", "-m", "pip", "install", "--no-deps", "--disable-pip-version-check", wheel)
    return folder


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    return environment_of(sys.executable, wheel, tmp_path_factory.mktemp("environment"))


def test_its_name_says_what_it_asks_for(wheel, tmp_path):
    import build_wheel

    name = re.fullmatch(r"memoir-[0-9.]+-py3-none-manylinux_2_(\d+)_x86_64\.whl", wheel.name)
    assert name, wheel.name
    asks = build_wheel.symbol_versions(wheel, tmp_path)
    assert asks["GLIBC"] <= (2, int(name.group(1)))
    if (ROOT / "build" / "sysroot" / "ready").exists():     # else it was said that there is no older libc to link with
        assert asks["GLIBC"] <= (2, 28) and asks["GLIBCXX"] <= (3, 4, 25), asks


def test_its_libraries_need_what_torch_brings(wheel, tmp_path):
    """Without libpython, and each tracker with the std::string of its torch: the rules of the installed tree hold for a wheel for older systems, too."""
    import installed_rules

    tree = tmp_path / "memoir" / "_tree"
    zipfile.ZipFile(wheel).extractall(tmp_path)
    assert len(list(tree.glob("lib/memoir/libmemoir_tracker-torch*.so"))) == 1 + len(OTHERS)
    glibc = (": needs libdl.so.2", ": needs libpthread.so.0", ": needs libm.so.6")   # before 2.34 libc was several libraries
    assert not [line for line in installed_rules.needed_libraries(tree) if not line.endswith(glibc)]
    for check in (installed_rules.exported_symbols, installed_rules.string_of_torch, installed_rules.stays_and_moves):
        assert not list(check(tree)), check.__doc__


@pytest.mark.skipif(not os.environ.get("AS_SHIPPED"), reason="built with the flags of the tests, it has debug information")
def test_its_size(wheel):
    assert wheel.stat().st_size <= 40 << 20


def test_a_tracker_for_each_torch(wheel):
    trackers = {path.name for path in map(pathlib.PurePosixPath, zipfile.ZipFile(wheel).namelist()) if path.name.startswith("libmemoir_tracker")}
    versions = {run(python, "-c", "import torch.version as v; print(v.__version__)").rsplit(".", 1)[0] for python in [sys.executable, *OTHERS]}
    assert trackers == {f"libmemoir_tracker-torch{version}.so" for version in versions}


def test_what_cpp_programs_and_readers_need(wheel):
    names = {name.removeprefix("memoir/_tree/") for name in zipfile.ZipFile(wheel).namelist()}
    assert names >= {"include/memoir.h", "include/memoir.hpp", "include/memoir/load.h", "include/memoir/torch.hpp", "lib/cmake/Memoir/MemoirConfig.cmake",
                     "lib/cmake/Memoir/MemoirConfigVersion.cmake", "lib/pkgconfig/memoir.pc", "share/memoir/proto/memoir/v1/capture.proto",
                     "share/memoir/doc/capture_format.md"}


def test_its_bill_of_materials(wheel):
    """It lists each file of the tree as it is in the wheel, at PEP 770's path."""
    archive = zipfile.ZipFile(wheel)
    name, = (name for name in archive.namelist() if name.endswith(".dist-info/sboms/memoir.cdx.json"))
    bill = json.loads(archive.read(name))
    files = {entry["name"]: entry["hashes"][0]["content"] for entry in bill["metadata"]["component"]["components"]}
    tree = {inside.removeprefix("memoir/_tree/"): inside for inside in archive.namelist() if inside.startswith("memoir/_tree/") and not inside.endswith("/")}
    assert files == {name: hashlib.sha256(archive.read(inside)).hexdigest() for name, inside in tree.items()}
    assert {"SQLite", "nanoarrow", "PyTorch"} <= {entry["name"] for entry in bill["components"]}


@pytest.mark.skipif(not (ROOT / "tools" / "web" / "node_modules").exists(), reason="tools/web has no node_modules: the page is not built")
def test_the_page_of_the_report(wheel):
    assert "memoir/_tree/lib/memoir/report.html" in zipfile.ZipFile(wheel).namelist()


def test_type_checkers_are_told_that_it_has_types(wheel):
    assert "memoir/py.typed" in zipfile.ZipFile(wheel).namelist()


def test_the_command(environment):
    assert (ROOT / "VERSION").read_text().strip() in run(environment / "bin" / "memoir", "--version")


def test_python_finds_the_package(environment):
    where = run(environment / "bin" / "python", "-c", "import memoir; print(memoir.__file__)", cwd=environment)
    assert pathlib.Path(where.strip()).is_relative_to(environment)


def test_records_a_program_of_the_same_environment(environment, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run(environment / "bin" / "memoir", "run", "-q", "-o", tmp_path / "capture", "--", environment / "bin" / "python", script)
    assert "aten::ones" in run(environment / "bin" / "memoir", "show", tmp_path / "capture")


TABLES = """
import sys, memoir
capture = memoir.load(sys.argv[1])
print(len(capture.blocks), capture.show().devices[0].peak_blocks, type(capture.blocks.__arrow_c_stream__()).__name__)
print(capture.report(sys.argv[1] + ".html").exists())
"""


def test_tables_in_python(environment, tmp_path):
    """The program and the library of tables are found in the wheel's own tree."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run(environment / "bin" / "memoir", "run", "-q", "-o", tmp_path / "capture", "--", environment / "bin" / "python", script)
    said = run(environment / "bin" / "python", "-c", TABLES, tmp_path / "capture").split()
    assert int(said[0]) >= int(said[1]) >= 2 and said[2:] == ["PyCapsule", str((ROOT / "tools" / "web" / "node_modules").exists())]


def test_records_a_program_of_another_environment(environment, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run(environment / "bin" / "memoir", "run", "-q", "-o", tmp_path / "capture", "--", sys.executable, script)
    assert "aten::ones" in run(environment / "bin" / "memoir", "show", tmp_path / "capture")


@pytest.mark.parametrize("other", OTHERS)
def test_records_with_another_torch(wheel, tmp_path, other):
    folder = environment_of(other, wheel, tmp_path / "environment")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run(folder / "bin" / "memoir", "run", "-q", "-o", tmp_path / "capture", "--", folder / "bin" / "python", script)
    assert "aten::ones" in run(folder / "bin" / "memoir", "show", tmp_path / "capture")


def test_names_native_frames(environment, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run(environment / "bin" / "memoir", "run", "-q", "-o", tmp_path / "capture", "--stacks", "native", "--", environment / "bin" / "python", script)
    assert " have names" in run(environment / "bin" / "memoir", "symbolize", tmp_path / "capture")
    assert '"at::' in run(environment / "bin" / "memoir", "show", "--by", "stack", "--json", tmp_path / "capture")


# Like triton: a library linked with the libcuda.so.1 in that folder.
SIMULATED = """
import ctypes, os, subprocess, sys, torch
subprocess.run(["cc", "-shared", "-fPIC", "-xc", "-", "-o", sys.argv[1], "-L" + os.environ["TRITON_LIBCUDA_PATH"], "-l:libcuda.so.1"],
               input=b"int cuDeviceGetCount(int*); int count() { int n = -1; cuDeviceGetCount(&n); return n; }", check=True)
torch.ones(3, device="cuda")
print(ctypes.CDLL(sys.argv[1]).count(), torch.cuda.get_device_name())
print(len({line.split()[-1] for line in open("/proc/self/maps") if "libcuda.so" in line or "simcuda" in line}))
"""


def test_the_simulated_device(environment, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SIMULATED)
    command = [environment / "bin" / "memoir", "run", "-q", "-o", tmp_path / "capture", "--simulate", "h100", "--sim-devices", "3", "--"]
    said = run(*command, environment / "bin" / "python", script, tmp_path / "driver.so")
    assert said.splitlines()[0].startswith("3 NVIDIA H100") and said.splitlines()[1] == "1"
    assert "SIMULATED GPU" in run(environment / "bin" / "memoir", "show", tmp_path / "capture")


def test_records_with_the_variable_alone(environment, tmp_path):
    """No `memoir run`: torch finds the package by its entry point."""
    script = tmp_path / "script.py"
    script.write_text("import os\nos.environ['MEMOIR_ENABLE'] = '1'\n" + f"os.environ['MEMOIR_OUTPUT'] = {str(tmp_path / 'capture')!r}\n" + SCRIPT)
    run(environment / "bin" / "python", script)
    assert "aten::ones" in run(environment / "bin" / "memoir", "show", tmp_path / "capture")
