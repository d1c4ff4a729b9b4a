"""Faults for a process before or while it is recorded. They run in the forked child of server.py; `[name, arguments...]` in a case."""

import ctypes
import os
import resource
import shutil
import signal
import struct
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)

# x86-64, aarch64
NUMBERS = {"fallocate": (285, 47), "ftruncate": (77, 46), "clone3": (435, 435), "process_vm_readv": (310, 270), "madvise": (28, 233),
           "fchmod": (91, 52), "fcntl": (72, 25), "prctl": (157, 167), "getdents64": (217, 61), "uname": (63, 160), "memfd_create": (319, 279),
           "sched_getaffinity": (204, 123), "clock_nanosleep": (230, 115), "mprotect": (10, 226), "fsync": (74, 82)}


def status(field):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith(field + ":"))


def limit(name, extra):
    """As much as this process has already, and `extra` (negative: exactly so much)."""
    which = getattr(resource, "RLIMIT_" + name)
    had = {"DATA": lambda: status("VmData"), "AS": lambda: status("VmSize"), "FSIZE": lambda: 0, "NPROC": lambda: 1,
           "NOFILE": lambda: max(map(int, os.listdir("/proc/self/fd"))), "CORE": lambda: 0}[name]()
    bound = had + extra
    resource.setrlimit(which, (bound, resource.getrlimit(which)[1]))


def default_action(name):
    signal.signal(getattr(signal, name), signal.SIG_DFL)


def deny(name, error):
    """A seccomp filter under which the system call fails with `error`."""
    machine = os.uname().machine
    number = NUMBERS[name][{"x86_64": 0, "aarch64": 1}[machine]]
    statements = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | error), (0x06, 0, 0, 0x7FFF0000)]
    program = b"".join(struct.pack("HBBI", *statement) for statement in statements)
    buffer = ctypes.create_string_buffer(program, len(program))
    filter = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(statements), ctypes.addressof(buffer)), 16)
    assert libc.prctl(38, 1, 0, 0, 0) == 0, "no_new_privs"
    assert libc.prctl(22, 2, filter) == 0, "no seccomp filters here"


def user(number):
    os.setgroups([])
    os.setgid(number)
    os.setuid(number)


def umask(bits):
    os.umask(bits)


def odd_writes(microseconds, each_interrupted, each_in_part):
    ctypes.CDLL(None).odd_calls_write(ctypes.c_long(microseconds), ctypes.c_long(each_interrupted), ctypes.c_long(each_in_part))


def clock(mode):
    ctypes.CDLL(None).odd_calls_clock(mode)


def alarms(microseconds):
    """SIGALRM again and again, in whichever thread takes it."""
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, microseconds / 1e6, microseconds / 1e6)


def user_signals():
    """SIGUSR1 to every thread of this process, from another process, as fast as possible."""
    signal.signal(signal.SIGUSR1, lambda *_: None)
    victim = os.getpid()
    if os.fork() == 0:
        libc.prctl(1, signal.SIGKILL, 0, 0, 0)  # ends with its parent
        while os.getppid() == victim:
            for thread in os.listdir(f"/proc/{victim}/task"):
                libc.syscall(234 if os.uname().machine == "x86_64" else 131, victim, int(thread), signal.SIGUSR1)
            time.sleep(0)
        os._exit(0)


def remove(what):
    """The files of the capture or the ring, or its folder."""
    if what in ("parts", "ring file"):
        folder = "../capture" if what == "parts" else "../ring"
        for name in os.listdir(folder):
            if name.endswith((".memoir", ".ring")):
                os.remove(f"{folder}/{name}")
    else:
        shutil.rmtree("../capture" if what == "folder" else "../ring")


def rename(what):
    os.rename(f"../{what}", f"../{what}-elsewhere")


def no_permission(what):
    """Taken from the folder, for a process without root's privileges."""
    os.chmod(f"../{what}", 0)


def broken_stderr():
    """A pipe without a reader, and the signal that ends its writer."""
    reader, writer = os.pipe()
    os.close(reader)
    os.dup2(writer, 2)
    os.close(writer)
    default_action("SIGPIPE")


def full_stderr():
    """A file that may grow no more, and a signal that ends who tries."""
    file = os.open("../log", os.O_WRONLY | os.O_CREAT)
    os.dup2(file, 2)
    os.close(file)
    default_action("SIGXFSZ")
    limit("FSIZE", 0)


def real_time():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def lock_memory(mib):
    """Limits later mappings to this much, because all of them are locked; root has no limit."""
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (mib << 20, mib << 20))
    user(65534)
    libc.mlockall(2)  # MCL_FUTURE


def environment(name, value):
    os.environ[name] = value


def signal_process(process, name):
    os.kill(process, getattr(signal, name))


def close_descriptors():
    """All but the streams; the numbers are taken by a file of the program's, which only the program may write to."""
    os.closerange(3, 65536)
    file = os.open("../theirs", os.O_RDWR | os.O_CREAT | os.O_APPEND)
    for number in range(file + 1, 40):
        os.dup2(file, number)
    os.write(file, b"theirs")


def links(target, count):
    """Symbolic links of another user's on the names that this process's ring may take."""
    with open("/proc/self/stat") as line:
        start = line.read().rsplit(")", 1)[1].split()[19]
    names = [f"memoir-ring-{os.getpid()}-{start}.ring"] + [f"memoir-ring-{os.getpid()}-{start}.{i}.ring" for i in range(1, count)]
    for name in names:
        os.symlink(target, f"../ring/{name}")
        os.lchown(f"../ring/{name}", 65534, 65534)


def fill(folder):
    """Until there is no byte left."""
    with open(folder + "/filling", "wb", buffering=0) as file:
        size = 1 << 20
        while size:
            try:
                file.write(bytes(size))
            except OSError:
                size //= 2


def beside(name, seconds):
    """Does it on another thread, in a while."""
    threading.Timer(seconds, globals()[name]).start()
