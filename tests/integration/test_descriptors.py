"""Programs that close descriptors which they did not open (os.closerange, daemons) and get the numbers for files of their own: those
files stay as the program wrote them, and the recording is whole.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

import pytest
from recording import counts, record, run_explicit, run_memoir, show

# `take` puts a file of the program's on many numbers. Memoir's files have the same numbers, in their table.
COMMON = '''
import json, os, resource, signal, sys, torch
torch.set_num_threads(1)
a = torch.ones(4)
def add(times):
    for _ in range(times): torch.add(a, a)
def numbers():
    names = {fd: os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{fd}")}
    return [int(fd) for fd, name in names.items() if name.endswith((".memoir", ".ring"))]
def take(path):
    os.closerange(3, 65536)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    assert file == 3, file
    for number in range(4, 20): os.dup2(file, number)
    return [*range(3, 20)]
def still_open(files):
    return [os.fstat(file).st_ino for file in files] == [os.stat(files[0]).st_ino] * len(files)
'''

JOB = COMMON + '''
folder = sys.argv[1]
w = torch.ones(4, requires_grad=True)
add(100)
assert numbers() == []
daemon = os.fork()
if daemon == 0:
    os.setsid()
    log = take(folder + "/log")
    os.write(log[0], b"begun\\n")
    (w * 2).sum().backward()                       # from here on it records
    for step in range(20_000):
        torch.mul(a, a)
        if step % 1000 == 0: os.write(log[step // 1000 % len(log)], b"step %d\\n" % step)
    assert numbers() == []
    import memoir
    memoir.stop()
    os.write(log[-1], b"ended\\n")
    os._exit(0 if still_open(log) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(daemon, 0)[1]) == 0
files = take(folder + "/checkpoint")
os.write(files[0], b"c" * 135)
add(30_000)
import memoir
memoir.stop()
assert still_open(files)
'''


def test_a_program_and_its_daemon_keep_their_files(tree, tmp_path):
    capture, done = record(tree, tmp_path, JOB, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "checkpoint").read_bytes() == b"c" * 135
    steps = "".join(f"step {step}\n" for step in range(0, 20_000, 1000))
    assert (tmp_path / "log").read_text() == f"begun\n{steps}ended\n"
    report = show(tree, capture)
    assert counts(report)["aten::add.Tensor"] == 30_100 and counts(report)["aten::mul.Tensor"] >= 20_000
    assert [process["end"] for process in report["processes"]] == ["stopped"] * 2
    assert report["dropped_events"] == 0


LIMITED = COMMON + '''
import memoir
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder = sys.argv[1]
memoir.start(folder + "/capture")
add(100)
memoir.flush()
part, = [entry.path for entry in os.scandir(folder + "/capture") if entry.name.endswith(".memoir")]
files = take(folder + "/data")
os.write(files[0], b"d" * 5_000_000)
resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(part) + 100, resource.RLIM_INFINITY))
add(5_000)
memoir.flush()
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
memoir.stop()
assert still_open(files)
'''


def test_a_failed_write_cuts_no_file_of_the_programs(tree, tmp_path):
    done = run_explicit(tree, tmp_path, LIMITED, tmp_path)
    assert done.returncode == 0, done.stderr
    line, = done.stderr.splitlines()
    assert line.startswith("memoir: ") and " events could not be written: " in line and "File too large" in line
    assert (tmp_path / "data").read_bytes() == b"d" * 5_000_000
    report = show(tree, tmp_path / "capture")
    assert counts(report)["aten::add.Tensor"] >= 100 and report["processes"][0]["lost_events"] > 0


# One thread closes every descriptor that is not its own and opens files, again and again, while the other runs operators, for so many
# rounds and seconds at least. With more arguments, the kernel refuses system calls as an older one does (seccomp: BPF_LD of the number, BPF_JEQ, BPF_RET).
CLOSING = '''
import ctypes, os, struct, sys, threading, time
folder, least, seconds, *refused = sys.argv[1], *map(int, sys.argv[2:])
if refused:
    steps = [(0x20, 0, 0, 0)] + [step for call in refused for step in ((0x15, 0, 1, call), (0x06, 0, 0, 0x00050000 | 38))] + [(0x06, 0, 0, 0x7fff0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    class Program(ctypes.Structure): _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, ctypes.byref(Program(len(steps), ctypes.addressof(code)))) == 0
import memoir, torch
memoir.Capture       # memoir.stop() imports it. All imports come before the thread runs, because Python itself opens files for them.
torch.set_num_threads(1)
a, done, wrong, rounds = torch.ones(4), threading.Event(), [], 0
def close_and_open():
    global rounds
    while not done.is_set():
        os.closerange(3, 4096)
        files = [os.open(f"{folder}/{i}", os.O_RDWR | os.O_CREAT | os.O_TRUNC) for i in range(12)]
        for i, file in enumerate(files): os.write(file, b"%d" % i * 100)
        time.sleep(0)
        for i, file in enumerate(files):
            try:
                if os.fstat(file).st_ino != os.stat(f"{folder}/{i}").st_ino: wrong.append(f"{i}: another file")
                if os.pread(file, 10**6, 0) != b"%d" % i * 100: wrong.append(f"{i}: other bytes")
            except OSError as error: wrong.append(f"{i}: {error}")
        rounds += 1
closer = threading.Thread(target=close_and_open)
closer.start()
end, times = time.monotonic() + seconds, 0
while time.monotonic() < end or rounds < least:
    for _ in range(1000): torch.add(a, a)
    times += 1000
memoir.stop()
done.set()
closer.join()
assert wrong == [], (rounds, len(wrong), wrong[:5])
print(times, rounds)
'''
CLOSE_RANGE, UNSHARE = 436, 272


@pytest.mark.parametrize("refused", [(), (CLOSE_RANGE,)], ids=["close_range", "unshare"])
def test_a_thread_that_closes_all_descriptors_and_opens_files_keeps_them(tree, tmp_path, refused):
    files = tmp_path / "files"
    files.mkdir()
    capture, done = record(tree, tmp_path, CLOSING, files, 200, 3, *refused)
    assert (done.returncode, done.stderr) == (0, "")
    times, _ = map(int, done.stdout.split())
    report = show(tree, capture)
    assert counts(report)["aten::add.Tensor"] == times
    assert report["dropped_events"] == 0 and report["processes"][0]["lost_events"] == 0
    assert report["processes"][0]["end"] == "stopped"


NOBODY = 65534
# With the right to read everything, because Python may be in a folder of root's.
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]


@pytest.fixture
def folder_of_nobody():
    """A folder that belongs to another user, outside of the folders of pytest, which are root's."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root runs a program as another user, with setpriv")
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, NOBODY, NOBODY)
        tried = subprocess.run([*AS_NOBODY, sys.executable, "-c", "import os; print(os.getuid(), os.geteuid())"], capture_output=True, text=True, cwd="/")
        if tried.stdout.split() != [str(NOBODY)] * 2:
            pytest.skip(f"no Python that another user may run: {tried.stdout}{tried.stderr}")
        yield pathlib.Path(folder)


@pytest.mark.parametrize("refused", [(), (CLOSE_RANGE,)], ids=["close_range", "unshare"])
def test_a_program_of_another_user_than_root_keeps_its_files(tree, folder_of_nobody, refused):
    program, files, capture = folder_of_nobody / "program.py", folder_of_nobody / "files", folder_of_nobody / "capture"
    program.write_text(CLOSING)
    files.mkdir()
    os.chown(files, NOBODY, NOBODY)
    arguments = map(str, (files, 200, 3, *refused))
    done = subprocess.run([*AS_NOBODY, tree / "bin" / "memoir", "run", "-q", "-o", capture, "--", sys.executable, program, *arguments],
                          capture_output=True, text=True, timeout=300, cwd="/")
    assert (done.returncode, done.stderr) == (0, "")
    times, _ = map(int, done.stdout.split())
    assert {path.stat().st_uid for path in (capture, *capture.iterdir(), *files.iterdir())} == {NOBODY}
    report = show(tree, capture)
    assert counts(report)["aten::add.Tensor"] == times
    assert report["dropped_events"] == 0 and report["processes"][0]["lost_events"] == 0
    assert report["processes"][0]["end"] == "stopped"


# Memoir's files are in the program's table, on high numbers: the program closes those once.
SHARED = CLOSING.replace("while not done.is_set():", "for once in range(1):").replace("closerange(3,", "closerange(900,")


def test_without_a_table_of_its_own_the_recording_goes_on_with_the_next_part(tree, tmp_path):
    files = tmp_path / "files"
    files.mkdir()
    capture, done = record(tree, tmp_path, SHARED, files, 1, 4, CLOSE_RANGE, UNSHARE)
    assert done.returncode == 0, done.stderr
    times, _ = map(int, done.stdout.split())
    report = show(tree, capture)
    process = report["processes"][0]
    assert process["end"] == "stopped" and len(list(capture.glob("*.memoir"))) == 2
    assert times / 3 < counts(report)["aten::add.Tensor"] <= times


FEW = COMMON + '''
import memoir
memoir.start(sys.argv[1])
usual = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, usual[1]))
add(1000)
memoir.flush()
resource.setrlimit(resource.RLIMIT_NOFILE, usual)
memoir.stop()
'''


def test_the_program_may_lower_its_limit_to_three_descriptors(tree, tmp_path):
    done = run_explicit(tree, tmp_path, FEW, tmp_path / "capture")
    assert (done.returncode, done.stderr) == (0, "")
    report = show(tree, tmp_path / "capture")
    assert counts(report)["aten::add.Tensor"] == 1000 and report["processes"][0]["end"] == "stopped"


# A snapshot is made, and reported, by the thread that has the files.
SNAPSHOT = '''
import os, sys, time, torch, memoir
open(sys.argv[1], "w").write("snapshot")
made, end = os.path.join(memoir.output_dir(), "snapshots"), time.monotonic() + 200
while not (os.path.isdir(made) and os.listdir(made)) and time.monotonic() < end:
    torch.ones(4)
    time.sleep(0.01)
'''


def test_lines_reach_a_standard_error_that_is_a_socket(tree, tmp_path):
    program, control = tmp_path / "program.py", tmp_path / "control"
    program.write_text(SNAPSHOT)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        running = subprocess.Popen([tree / "bin" / "memoir", "run", "-o", tmp_path / "capture", "--control", control, "--",
                                    sys.executable, program, control], stderr=theirs, stdout=subprocess.DEVNULL)
        theirs.close()
        assert running.wait(300) == 0
        said = b"".join(iter(lambda: ours.recv(65536), b"")).decode()
    assert "memoir: snapshot (control file): memoir " in said
    assert run_memoir(tree, "show", next((tmp_path / "capture" / "snapshots").iterdir())).returncode == 0
