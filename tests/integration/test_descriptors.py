"""Programs that close descriptors which they did not open (os.closerange, daemons) and get the numbers for files of their own: those
files stay as the program wrote them, and the recording is whole.
"""

from recording import counts, record, run_explicit, show

# What both programs do: `take` puts a file of the program's on every number that Memoir had, and on the lowest ones.
COMMON = '''
import json, os, resource, signal, sys, torch
torch.set_num_threads(1)
a = torch.ones(4)
def add(times):
    for _ in range(times): torch.add(a, a)
def numbers():
    names = {fd: os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{fd}")}
    found = [int(fd) for fd, name in names.items() if name.endswith((".memoir", ".ring"))]
    assert len(found) == 2, names
    return found
def take(path, on):
    os.closerange(3, 65536)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    assert file == 3, file
    for number in [4, 5, *on]: os.dup2(file, number)
    return [file, 4, 5, *on]
def still_open(files):
    return [os.fstat(file).st_ino for file in files] == [os.stat(files[0]).st_ino] * len(files)
'''

JOB = COMMON + '''
folder = sys.argv[1]
w = torch.ones(4, requires_grad=True)
add(100)
had = numbers()
daemon = os.fork()
if daemon == 0:
    os.setsid()
    log = take(folder + "/log", had)
    os.write(log[0], b"begun\\n")
    (w * 2).sum().backward()                       # from here on it records
    for step in range(20_000):
        torch.mul(a, a)
        if step % 1000 == 0: os.write(log[step // 1000 % len(log)], b"step %d\\n" % step)
    import memoir
    memoir.stop()
    os.write(log[-1], b"ended\\n")
    os._exit(0 if still_open(log) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(daemon, 0)[1]) == 0
files = take(folder + "/checkpoint", had)
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
part = [name for name in map(os.path.realpath, (f"/proc/self/fd/{n}" for n in numbers())) if name.endswith(".memoir")][0]
files = take(folder + "/data", numbers())
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
