"""The example as a user's project, in a separate folder: found by CMake and by pkg-config in an installed tree, which may be moved afterwards."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest
import torch
from recording import counts, events, show

ROOT = pathlib.Path(__file__).resolve().parents[2]
TORCH = pathlib.Path(torch.__file__).parent
MINOR = ".".join(torch.__version__.split(".")[:2])


@pytest.fixture(scope="module")
def moved(tree, tmp_path_factory):
    """A copy of the installed tree elsewhere, in a path with a space."""
    return shutil.copytree(tree, tmp_path_factory.mktemp("elsewhere") / "my tree", symlinks=True)


def configure(source, build, *options, environment=None):
    return subprocess.run(["cmake", "-S", source, "-B", build, *options], env=environment, capture_output=True, text=True, timeout=300)


def run(*command, environment, **options):
    return subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, timeout=600, **options)


@pytest.fixture(scope="module")
def project(moved, clean, tmp_path_factory):
    """The example's program, built with the tree that is in `moved`."""
    folder = shutil.copytree(ROOT / "examples" / "libtorch", tmp_path_factory.mktemp("project") / "example")
    done = configure(folder, folder / "build", f"-DCMAKE_PREFIX_PATH={moved}", f"-DMEMOIR_TORCH={TORCH}", environment=clean())
    assert done.returncode == 0, done.stderr
    done = run("cmake", "--build", folder / "build", environment=clean())
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return folder / "build" / "training"


def test_it_records_itself(moved, project, clean, tmp_path):
    done = run(project, "cpu", tmp_path / "capture", environment=clean())
    assert (done.returncode, done.stdout, done.stderr) == (0, "trained\n", "")
    report = show(moved, tmp_path / "capture", "--by", "category")
    assert report["step_count"] == 3 and report["processes"][0]["end"] == "stopped"
    assert [event["name"] for event in events(moved, tmp_path / "capture") if event["event"] == "mark"] == ["trained"]
    held = {row["name"]: row["allocated_bytes"] for row in report["categories"]}
    assert min(held[name] for name in ("parameter", "buffer", "gradient", "optimizer state", "activation", "input")) > 0
    modules = {row["path"] for row in show(moved, tmp_path / "capture", "--by", "module")["modules"] if row["kind"] == "named"}
    assert {"block0.up", "block2.norm", "head"} <= modules


def test_it_links_nothing_of_memoirs(project):
    done = run("readelf", "-dW", project, environment=os.environ)
    assert "libtorch_cpu.so" in done.stdout and not [line for line in done.stdout.splitlines() if "NEEDED" in line and "memoir" in line]


def test_without_the_tree_it_runs_and_says_so(moved, project, clean, tmp_path):
    """The tree is moved away: one line; with MEMOIR_HOME it is found."""
    away = moved.rename(moved.parent / "moved tree")
    try:
        done = run(project, "cpu", tmp_path / "capture", environment=clean())
        assert (done.returncode, done.stdout) == (0, "trained\n") and not (tmp_path / "capture").exists()
        assert done.stderr.startswith("memoir: not recording: libmemoir_interpose.so: cannot open") and done.stderr.count("\n") == 1
        done = run(project, "cpu", tmp_path / "capture", environment=clean(MEMOIR_HOME=str(away)))
        assert (done.returncode, done.stdout, done.stderr) == (0, "trained\n", "")
        assert show(away, tmp_path / "capture")["step_count"] == 3
    finally:
        away.rename(moved)


PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(asks LANGUAGES CXX)
find_package(Memoir {version} REQUIRED {components})
message(STATUS "found ${{Memoir_VERSION}} in ${{Memoir_PREFIX}} with ${{Memoir_TRACKERS}}, torch: ${{Memoir_torch_FOUND}}")
"""


@pytest.fixture
def asks(clean, tmp_path):
    """asks(tree, components, ...): what find_package says to a project."""

    def asks(tree, components="", *options, version=""):
        (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(version=version, components=components))
        shutil.rmtree(tmp_path / "build", ignore_errors=True)
        return configure(tmp_path, tmp_path / "build", f"-DCMAKE_PREFIX_PATH={tree}", *options, environment=clean())

    return asks


def message(done):
    """CMake's message, without its line breaks."""
    assert done.returncode != 0
    return re.sub(r"\s+", " ", done.stderr)


def test_find_package(moved, asks):
    version = (ROOT / "VERSION").read_text().strip()
    done = asks(moved, version=".".join(version.split(".")[:2]))
    assert f"found {version} in {moved} with " in done.stdout and MINOR in done.stdout, done.stderr
    assert "compatible with requested version" in message(asks(moved, version="99.0"))


def test_find_package_without_a_torch(moved, asks, tmp_path):
    assert "call find_package(Torch) before find_package(Memoir), or give -DMEMOIR_TORCH=" in message(asks(moved, "COMPONENTS torch"))
    done = asks(moved, "OPTIONAL_COMPONENTS torch")
    assert done.returncode == 0 and "torch: FALSE" in done.stdout and "-- Memoir: component torch: call find_package(Torch)" in done.stdout
    assert f"MEMOIR_TORCH={tmp_path} is no folder of libtorch" in message(asks(moved, "COMPONENTS torch", f"-DMEMOIR_TORCH={tmp_path}"))
    assert "there is no component gpu; there is torch" in message(asks(moved, "COMPONENTS gpu"))


def test_find_package_without_a_tracker_for_that_torch(tree, asks, tmp_path):
    bare = shutil.copytree(tree, tmp_path / "bare", symlinks=True, ignore=shutil.ignore_patterns("libmemoir_tracker-*"))
    (bare / "lib" / "memoir" / "libmemoir_tracker-torch1.99.so").touch()
    said = message(asks(bare, "COMPONENTS torch", f"-DMEMOIR_TORCH={TORCH}"))
    assert f"no tracker for torch {MINOR}: {bare}/lib/memoir/libmemoir_tracker-torch{MINOR}.so is missing; this Memoir has trackers for torch 1.99" in said


WITH_TORCH = """
cmake_minimum_required(VERSION 3.18)
project(asks LANGUAGES CXX)
find_package(Torch REQUIRED)
find_package(Memoir REQUIRED COMPONENTS torch)
get_target_property(linked Memoir::torch INTERFACE_LINK_LIBRARIES)
message(STATUS "links ${linked}")
"""


@pytest.mark.parametrize("version", [MINOR, "1.98"])
def test_the_torch_that_find_package_found(moved, clean, tmp_path, version):
    """A stand-in for torch's own package, which stops where CUDA's compiler is missing: its targets are linked, and its version counts."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "TorchConfig.cmake").write_text("add_library(torch INTERFACE IMPORTED)\nset(TORCH_LIBRARIES torch c10)\nset(Torch_FOUND TRUE)\n")
    (tmp_path / "torch" / "TorchConfigVersion.cmake").write_text(f'set(PACKAGE_VERSION "{version}.0")\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n')
    (tmp_path / "CMakeLists.txt").write_text(WITH_TORCH)
    done = configure(tmp_path, tmp_path / "build", f"-DCMAKE_PREFIX_PATH={moved}", f"-DTorch_DIR={tmp_path}/torch", environment=clean())
    if version == MINOR:
        assert done.returncode == 0 and "links Memoir::memoir;torch;c10" in done.stdout, done.stderr
    else:
        assert "no tracker for torch 1.98: " in message(done)


def test_find_package_in_a_tree_that_is_not_complete(tree, asks, tmp_path):
    bare = shutil.copytree(tree, tmp_path / "bare", symlinks=True, ignore=shutil.ignore_patterns("libmemoir_interpose.so"))
    assert "libmemoir_interpose.so is missing: this tree is not complete" in message(asks(bare))


def package(tree, clean, *options):
    done = run("pkg-config", *options, "memoir", environment=clean(PKG_CONFIG_PATH=str(tree / "lib" / "pkgconfig")))
    assert done.returncode == 0, done.stderr
    return done.stdout


IN_C = """
#include <memoir/load.h>
int main(int count, char** arguments) {
  struct memoir_functions memoir;
  char message[1024], output[4200];
  const char* settings[] = {output, "program=in C", NULL};
  (void)count;
  snprintf(output, sizeof output, "output=%s", arguments[1]);
  if (memoir_load(&memoir, message, sizeof message) != 0) return fprintf(stderr, "memoir: %s\\n", message), 1;
  if (memoir.start(settings, message, sizeof message) != 0) return fprintf(stderr, "memoir: %s\\n", message), 2;
  memoir.step(7);
  memoir.mark("in C");
  printf("torch %s\\n", memoir.torch_version());
  return memoir.stop(MEMOIR_STOPPED, message, sizeof message) == 0 ? 0 : 3;
}
"""


def torch_flags():
    lib = TORCH / "lib"
    strings = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"  # wheels before 2.7 have the old one
    return [strings, f"-I{TORCH}/include", f"-L{lib}", "-Wl,--no-as-needed", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{lib}", "-Wl,--allow-shlib-undefined"]


def test_pkg_config_and_c(tree, clean, tmp_path):
    """C, with every warning an error; the program is not C++ and knows nothing of torch's headers."""
    (tmp_path / "program.c").write_text(IN_C)
    flags = package(tree, clean, "--cflags", "--libs").split()
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", tmp_path / "program.c", "-o", tmp_path / "program"]
    done = run(*command, *flags, *torch_flags(), environment=clean())
    assert done.returncode == 0, done.stderr
    done = run(tmp_path / "program", tmp_path / "capture", environment=clean())
    assert (done.returncode, done.stdout, done.stderr) == (0, f"torch {MINOR}\n", "")
    assert [(e["event"], e.get("name"), e.get("step")) for e in events(tree, tmp_path / "capture") if e["event"] in ("step", "mark")] == [
        ("step", None, 7), ("mark", "in C", None)]


def test_pkg_config_and_cpp(tree, clean, tmp_path):
    """As old a C++ as this torch's headers allow."""
    newer = "__cplusplus < 202002L" in (TORCH / "include" / "torch" / "csrc" / "api" / "include" / "torch" / "all.h").read_text()
    flags = package(tree, clean, "--cflags", "--libs").split()
    source = ROOT / "tests" / "libtorch" / "sessions.cc"
    done = run("c++", "-std=c++20" if newer else "-std=c++17", source, "-o", tmp_path / "program", *flags, *torch_flags(), environment=clean())
    assert done.returncode == 0, done.stderr[-3000:]
    done = run(tmp_path / "program", "one", tmp_path / "capture", environment=clean())
    assert (done.returncode, done.stdout, done.stderr) == (0, "unharmed\n", "")
    assert counts(show(tree, tmp_path / "capture"))["aten::ones"] == 2


def test_pkg_config_of_a_moved_tree(moved, clean):
    assert package(moved, clean, "--modversion").strip() == (ROOT / "VERSION").read_text().strip()
    folder = package(moved, clean, "--variable=protodir").strip().replace("\\ ", " ")
    assert (pathlib.Path(folder) / "memoir" / "v1" / "capture.proto").exists()


def test_what_a_reader_needs_is_installed(tree):
    for name in ("proto/memoir/v1/capture.proto", "proto/memoir/v1/summary.proto", "proto/memoir/v1/symbols.proto", "doc/capture_format.md"):
        assert (tree / "share" / "memoir" / name).exists(), name
