"""A process in a bad state: Memoir prints one line at most, and the program runs as without it."""

import os
import pathlib
import shutil
import subprocess
import sys
import time

import pytest

from recording import counts, record, run_memoir, show

PROGRAM = "import torch; torch.add(torch.ones(3), 1); print('ran')"


def memoir_lines(done):
    return [line for line in done.stderr.splitlines() if line.startswith("memoir:")]


@pytest.mark.parametrize("source, said", [("raise RuntimeError('mine')", "mine"), ("def (", "SyntaxError"), ("import nothing_there", "nothing_there")])
def test_a_broken_sitecustomize_of_the_program(tree, tmp_path, source, said):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(source + "\n")
    capture, done = record(tree, tmp_path, PROGRAM, env={**os.environ, "PYTHONPATH": str(tmp_path / "site")})
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert said in done.stderr and not memoir_lines(done)  # Python's own words
    assert counts(show(tree, capture))["aten::add.Tensor"] == 1


def test_the_programs_own_sitecustomize_still_runs(tree, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("print('customised')\n")
    capture, done = record(tree, tmp_path, PROGRAM, env={**os.environ, "PYTHONPATH": str(tmp_path / "site")})
    assert (done.returncode, done.stdout, done.stderr) == (0, "customised\nran\n", "")
    assert counts(show(tree, capture))["aten::add.Tensor"] == 1


def test_an_interposer_of_another_version_is_loaded_already(tree, tmp_path):
    older = tmp_path / "older" / "libmemoir_interpose.so"
    older.parent.mkdir()
    # As an older one: the same name to the loader, functions of the same names, another layout behind them.
    (tmp_path / "older.c").write_text("void* memoir_enabled_flag; __thread void* memoir_thread_slot; char memoir_tick_is_counter;\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-ftls-model=initial-exec", "-Wl,-soname,libmemoir_interpose.so", "-o", older, tmp_path / "older.c"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(older), "PYTHONPATH": str(tree / "lib/memoir/python"), "MEMOIR_ENABLE": "1",
                   "MEMOIR_OUTPUT": str(tmp_path / "capture")}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "ran\n")
    line, = done.stderr.splitlines()
    assert line == (f"memoir: not recording: another version of Memoir is in this process already ({older}); use one of the two: "
                    f"{tree}/lib/memoir is this one")


def test_no_home_folder(tree, tmp_path):
    for environment in ({key: value for key, value in os.environ.items() if key not in ("HOME", "TMPDIR")},
                        {**os.environ, "HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"}):
        capture, done = record(tree, tmp_path, PROGRAM, env=environment)
        assert (done.returncode, done.stdout) == (0, "ran\n")
        assert not [line for line in memoir_lines(done) if "already holds a capture" not in line]
        assert counts(show(tree, capture))["aten::add.Tensor"] == 1  # of the last run


def read_only(script, *arguments, **options):
    """Runs `script` in a copy of the file system that cannot be written."""
    prepared = "mount -o remount,ro,bind / && mount -t tmpfs -o ro tmpfs /dev/shm && mount -t tmpfs -o ro tmpfs /tmp"
    if subprocess.run(["unshare", "--mount", "sh", "-c", prepared], capture_output=True).returncode != 0:
        pytest.skip("mounting takes root, and a container that allows it")
    return subprocess.run(["unshare", "--mount", "sh", "-c", f"{prepared} && {script}", "sh", *map(str, arguments)],
                          capture_output=True, text=True, timeout=300, **options)


@pytest.fixture
def visible(tree):
    """Files of the test must not be below /tmp, which is covered by a mount."""
    if str(tree).startswith("/tmp/"):
        pytest.skip("the tested tree lies below /tmp")


def test_a_root_that_cannot_be_written(tree, visible):
    done = read_only('cd / && exec "$@"', tree / "bin" / "memoir", "run", "--", sys.executable, "-c", PROGRAM)
    assert (done.returncode, done.stdout) == (0, "ran\n")
    line, = done.stderr.splitlines()
    assert line.startswith("memoir: ") and line.endswith(". The command runs unrecorded")


def test_nowhere_to_put_the_ring(tree, visible):
    script = 'mount -t tmpfs tmpfs /opt && exec "$@"'  # only the capture can be written
    done = read_only(script, tree / "bin" / "memoir", "run", "-o", "/opt/capture", "--", sys.executable, "-c", PROGRAM)
    assert (done.returncode, done.stdout) == (0, "ran\n")
    line, = done.stderr.splitlines()
    assert line.startswith("memoir: not recording: ") and "RING_DIR" in line.upper().replace("-", "_")


# mprotect is refused for single pages that are to be made writable, as a hardened system may do for import slots.
FORBID = '''
import ctypes, struct, platform
number = {"x86_64": 10, "aarch64": 226}[platform.machine()]
def statement(code, jt, jf, k): return struct.pack("HBBI", code, jt, jf, k)
program = b"".join([
    statement(0x20, 0, 0, 0), statement(0x15, 0, 5, number),         # the system call
    statement(0x20, 0, 0, 24), statement(0x15, 0, 3, 4096),          # its length
    statement(0x20, 0, 0, 32), statement(0x15, 0, 1, 3),             # readable and writable
    statement(0x06, 0, 0, 0x00050000 | 13), statement(0x06, 0, 0, 0x7fff0000)])
buffer = ctypes.create_string_buffer(program, len(program))
filter = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(buffer))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
if libc.prctl(22, 2, ctypes.create_string_buffer(filter, len(filter))) != 0: raise SystemExit("no seccomp")
import threading
'''


def test_no_permission_to_change_import_slots(tree, tmp_path):
    program = FORBID + PROGRAM + "; thread = threading.Thread(target=torch.mul, args=(torch.ones(3), 2)); thread.start(); thread.join()"
    capture, done = record(tree, tmp_path, program, options=["--ops", "dispatch"])
    if "no seccomp" in done.stderr:
        pytest.skip("no seccomp filters here")
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr
    line, = done.stderr.splitlines()
    assert line.startswith("memoir: ops=dispatch: no permission to change the slots by which threads are started")
    assert counts(show(tree, capture))["aten::add.Tensor"] == 1


def test_a_setuid_program(tree, tmp_path):
    program = tmp_path / "identity"
    shutil.copy("/usr/bin/id", program)
    try:
        os.chown(program, 65534, 65534)
        program.chmod(0o4755)
        tmp_path.chmod(0o755)
    except PermissionError:
        pytest.skip("giving a file away takes root")
    alone = subprocess.run([program, "-u"], capture_output=True, text=True)
    done = run_memoir(tree, "run", "-o", tmp_path / "capture", "--", program, "-u")
    assert (done.returncode, done.stdout) == (0, alone.stdout)
    line, = done.stderr.splitlines()
    assert line.startswith("memoir: nothing was recorded: ")
    assert not (tmp_path / "capture").exists()


@pytest.mark.parametrize("option", ["-I", "-E"])
def test_a_python_that_ignores_the_environment(tree, tmp_path, option):
    done = run_memoir(tree, "run", "-o", tmp_path / "capture", "--", sys.executable, option, "-c", PROGRAM)
    assert (done.returncode, done.stdout) == (0, "ran\n")
    line, = done.stderr.splitlines()
    assert line.startswith("memoir: nothing was recorded: python -I and -E ignore PYTHONPATH")


def test_a_file_system_that_does_not_answer_does_not_keep_the_program(tree, tmp_path):
    """Each write to the capture takes an hour, and one has begun when the program ends: it ends within a minute with one line, and nothing is lost."""
    library = tmp_path / "odd_calls.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, pathlib.Path(__file__).parent.parent / "reliability" / "odd_calls.c"], check=True)
    source = """
import ctypes, memoir, time, torch
torch.add(torch.ones(3), 1)
memoir.flush()
calls = ctypes.CDLL(None)
calls.odd_calls_write(ctypes.c_long(3600 * 10**6), 0, 0)
for _ in range(10): torch.mul(torch.ones(3), 2)
while calls.odd_calls_writes() == 0: time.sleep(0.01)
for _ in range(5): torch.sub(torch.ones(3), 2)
print("ran")
"""
    began = time.monotonic()
    capture, done = record(tree, tmp_path, source, env={**os.environ, "LD_PRELOAD": str(library)})
    assert (done.returncode, done.stdout) == (0, "ran\n") and time.monotonic() - began < 150
    line = " ".join(done.stderr.split())
    assert line.startswith(f"memoir: the end of the recording is not in the capture: nothing could be written to {capture} for 30 s"), done.stderr
    seen = counts(show(tree, capture))
    assert seen["aten::add.Tensor"] == 1 and seen["aten::mul.Tensor"] == 10 and seen["aten::sub.Tensor"] == 5
