"""`memoir symbolize` and the views where a file is not what its name says, and where it was killed while it wrote."""

import fcntl
import os
import pathlib
import shutil
import socket
import subprocess

import pytest
from recording import record, run_memoir

NAMES = "symbols.memoir-symbols"
CALLER = 'void call(void (*allocate)(long), long bytes) { allocate(bytes); __asm__ volatile("" ::: "memory"); }\n'
PROGRAM = """
import ctypes, pathlib, sys, torch

walks = ctypes.CDLL(sys.argv[1])
walks.through(ctypes.cast(ctypes.CDLL(sys.argv[2]).call, ctypes.c_void_p), ctypes.c_int64(1000))
"""
RENAMES = """
#include <signal.h>
int rename(const char *from, const char *to) { return raise(SIGKILL); }
"""


def make_pipe(path):
    os.mkfifo(path)


def make_folder(path):
    path.mkdir()


def make_device(path):
    path.symlink_to("/dev/zero")


def make_socket(path):
    os.chdir(path.parent)       # a socket's path is short
    socket.socket(socket.AF_UNIX).bind(path.name)


def make_empty(path):
    path.touch()


def make_huge(path):
    with path.open("wb") as file:
        file.truncate(1 << 40)


def make_huge_library(path):
    """The start of a library, whose tables lie behind a terabyte of nothing and say that they are half as large."""
    header = bytearray(pathlib.Path("/proc/self/exe").read_bytes()[:4096])
    header[40:48] = (1 << 40).to_bytes(8, "little")
    for at in range(64, 64 + 56 * 4, 56):
        header[at + 32:at + 40] = (1 << 39).to_bytes(8, "little")
    with path.open("wb") as file:
        file.write(header)
        file.truncate((1 << 40) + 4096)


def make_loop(path):
    path.symlink_to(path.name)


MAKERS = [make_pipe, make_folder, make_device, make_socket, make_empty, make_huge, make_huge_library, make_loop]
of_every_kind = pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__.removeprefix("make_"))


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    import torch

    folder = tmp_path_factory.mktemp("libraries")
    (folder / "call.c").write_text(CALLER)
    subprocess.run(["cc", "-shared", "-fPIC", "-g1", "-Wl,--build-id", "-o", folder / "call.so", folder / "call.c"], check=True)
    subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", "-Wl,--build-id", "-o", folder / "walks.so", pathlib.Path(__file__).parent / "walks.cc",
                    f"-L{pathlib.Path(torch.__file__).parent / 'lib'}", "-ltorch_cpu", "-Wl,--allow-shlib-undefined", "-pthread"], check=True)
    return folder


@pytest.fixture(scope="module")
def recorded(tree, libraries, tmp_path_factory):
    capture, done = record(tree, tmp_path_factory.mktemp("files"), PROGRAM, libraries / "walks.so", libraries / "call.so", options=["--stacks", "native"])
    assert (done.returncode, done.stderr) == (0, "")
    return capture


@pytest.fixture
def capture(recorded, tmp_path):
    return shutil.copytree(recorded, tmp_path / "capture")


@of_every_kind
def test_in_place_of_the_names(tree, capture, make):
    make(capture / NAMES)
    shown = run_memoir(tree, "show", "--by", "line", capture)
    assert shown.returncode == 0 and "names of native frames" in shown.stdout + shown.stderr, shown.stderr
    named = run_memoir(tree, "symbolize", capture)
    if make is make_folder:
        assert named.returncode == 1 and len(named.stderr.splitlines()) == 1 and NAMES in named.stderr
        return
    assert named.returncode == 0 and (capture / NAMES).is_file() and not (capture / NAMES).is_symlink(), named.stderr
    assert "names of native frames" not in run_memoir(tree, "show", capture).stdout


@of_every_kind
def test_in_place_of_a_library(tree, libraries, capture, make, tmp_path):
    kept = (libraries / "call.so").rename(libraries / "kept.so")
    try:
        make(libraries / "call.so")
        named = run_memoir(tree, "symbolize", capture)
        assert named.returncode == 0
        line, = (line for line in named.stderr.splitlines() if line.startswith("memoir: call.so: "))
        assert "1 address has no name: this build of it" in line and "--objects" in line, line
        (tmp_path / "copies").mkdir()
        make(tmp_path / "copies" / "call.so")
        again = run_memoir(tree, "symbolize", "--objects", tmp_path / "copies", capture)
        assert again.returncode == 0 and "memoir: call.so: 1 address has no name" in again.stderr
    finally:
        if make is make_folder:
            (libraries / "call.so").rmdir()
        kept.rename(libraries / "call.so")


def test_folders_of_objects_are_folders(tree, capture, tmp_path):
    (tmp_path / "file").touch()
    for wrong in ("missing", "file"):
        done = run_memoir(tree, "symbolize", "--objects", tmp_path / wrong, capture)
        assert done.returncode == 2 and f"--objects {tmp_path / wrong}" in done.stderr and not (capture / NAMES).exists()


def test_what_was_left_by_one_that_was_killed(tree, capture, tmp_path):
    (tmp_path / "kill.c").write_text(RENAMES)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "kill.so", tmp_path / "kill.c"], check=True)
    killed = run_memoir(tree, "symbolize", capture, env={**os.environ, "LD_PRELOAD": str(tmp_path / "kill.so")})
    assert killed.returncode == 1 and "ended with signal 9" in killed.stderr
    left, = capture.glob("*.partial-*")
    assert not (capture / NAMES).exists()
    with (capture / (NAMES + ".partial-1")).open("w") as written:     # by another, at this time
        fcntl.flock(written, fcntl.LOCK_EX)
        assert run_memoir(tree, "symbolize", capture).returncode == 0
        assert [path.name for path in capture.glob("*.partial-*")] == [NAMES + ".partial-1"] and not left.exists()
    assert (capture / NAMES).stat().st_mode & 0o777 == 0o600


def test_views_name_the_verb_until_there_are_names(tree, capture):
    for by in ("line", "stack"):
        assert "memoir symbolize CAPTURE" in run_memoir(tree, "show", "--by", by, capture).stdout
    assert run_memoir(tree, "symbolize", capture).returncode == 0
    for by in ("line", "stack"):
        assert "memoir symbolize" not in run_memoir(tree, "show", "--by", by, capture).stdout
