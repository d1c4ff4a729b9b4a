"""The simulated NCCL among real processes, without torch: `python nccl_ranks.py CASE RANKS` runs a case in so many, and prints what each saw as JSON.

Every rank is a process that knows of the others nothing but the id, as with real NCCL. Buffers are the processes' own memory.
"""

import ctypes
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

INT32, FLOAT32 = 2, 7
SUM, MAX = 0, 2
CASES = {}
cuda = ctypes.CDLL(None)


class UniqueId(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]

    def text(self):
        return bytes(self).hex()


def case(function):
    CASES[function.__name__] = function
    return function


def ints(*values):
    return (ctypes.c_int * len(values))(*values)


def size(count):
    return ctypes.c_size_t(count)


class Communicator:
    def __init__(self, handle):
        self.handle = handle

    def call(self, name, *arguments):
        return getattr(cuda, name)(*arguments, self.handle, None)

    def gather(self, value):
        ranks = ctypes.c_int()
        cuda.ncclCommCount(self.handle, ctypes.byref(ranks))
        every = ints(*[0] * ranks.value)
        error = self.call("ncclAllGather", ints(value), every, size(1), INT32)
        return list(every) if error == 0 else f"error {error}"

    def part(self, name, *arguments):
        made = ctypes.c_void_p()
        error = getattr(cuda, name)(self.handle, *arguments[:2], ctypes.byref(made), None, *arguments[2:])
        return Communicator(made) if error == 0 and made else None


def join(ranks, rank, text, device=None):
    cuda.cudaSetDevice(rank if device is None else device)
    handle = ctypes.c_void_p()
    error = cuda.ncclCommInitRank(ctypes.byref(handle), ranks, UniqueId.from_buffer_copy(bytes.fromhex(text)), rank)
    return Communicator(handle) if error == 0 else f"error {error}"


@case
def collectives(ranks, rank, text):
    all_, seen = join(ranks, rank, text), {}
    out = ints(0, 0)
    all_.call("ncclAllReduce", ints(rank + 1, 10 * rank), out, size(2), INT32, SUM)
    seen["all_reduce"] = list(out)
    all_.call("ncclBroadcast", ints(rank, 7 * rank), out, size(2), INT32, 1)
    seen["broadcast"] = list(out)
    out = ints(-1)
    all_.call("ncclReduce", ints(rank + 5), out, size(1), INT32, MAX, 2)
    seen["reduce"] = list(out)
    out = ints(0)
    all_.call("ncclReduceScatter", ints(*[10 * rank + i for i in range(ranks)]), out, size(1), INT32, SUM)
    seen["reduce_scatter"] = list(out)
    seen["all_gather"] = all_.gather(rank * rank)
    out = ints(*[0] * ranks)
    all_.call("ncclAlltoAll", ints(*[10 * rank + i for i in range(ranks)]), out, size(1), INT32)
    seen["all_to_all"] = list(out)
    out = ints(*[-1] * ranks)
    all_.call("ncclGather", ints(rank), out, size(1), INT32, 0)
    seen["gather"] = list(out)
    out = ints(0)
    all_.call("ncclScatter", ints(*range(100, 100 + ranks)), out, size(1), INT32, 0)
    seen["scatter"] = list(out)
    return seen


@case
def many_in_a_row(ranks, rank, text):
    """More than the board holds, with the ranks at different speeds."""
    all_ = join(ranks, rank, text)
    sums = []
    for step in range(50):
        out = ints(*[0] * 1000)
        all_.call("ncclAllReduce", ints(*[step * rank] * 1000), out, size(1000), INT32, SUM)
        sums.append(out[999])
        if step % 10 == rank:
            time.sleep(0.01)
    return sums


@case
def sends(ranks, rank, text):
    """In a group, more of them than a lane holds, in both directions: none may wait for another."""
    all_ = join(ranks, rank, text)
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    given, got = [ints(100 * rank + i) for i in range(9)], [ints(0) for _ in range(9)]
    cuda.ncclGroupStart()
    for one in given:
        all_.call("ncclSend", one, size(1), INT32, right)
    for one in got:
        all_.call("ncclRecv", one, size(1), INT32, left)
    cuda.ncclGroupEnd()
    return [one[0] for one in got]


@case
def what_is_only_given_waits_for_nobody(ranks, rank, text):
    all_, out = join(ranks, rank, text), ints(0)
    sent = pathlib.Path(tempfile.gettempdir(), f"nccl-sent-{hashlib.sha256(text.encode()).hexdigest()}")
    if rank == 0:
        all_.call("ncclSend", ints(5), size(1), INT32, 1)
        sent.touch()
    else:
        while not sent.exists():  # for ever, did the sender wait for who receives
            time.sleep(0.01)
        sent.unlink()
        all_.call("ncclRecv", out, size(1), INT32, 0)
    return out[0]


@case
def large_ones_move_nothing(ranks, rank, text):
    all_ = join(ranks, rank, text)
    big = (ctypes.c_char * (1 << 21))()
    errors = [all_.call("ncclAllReduce", big, big, size(1 << 19), FLOAT32, SUM)] if rank == 0 else []
    return [errors, all_.gather(rank)]


@case
def device_memory(ranks, rank, text):
    all_, block, back = join(ranks, rank, text), ctypes.c_void_p(), ints(9, 9)
    cuda.cudaMalloc(ctypes.byref(block), size(1 << 20))
    cuda.cudaMemcpy(block, ints(rank, 1), size(8), 1)
    all_.call("ncclAllReduce", block, block, size(1 << 18), INT32, SUM)
    cuda.cudaMemcpy(back, block, size(8), 2)
    return list(back)


def free():
    left, total = ctypes.c_size_t(), ctypes.c_size_t()
    cuda.cudaMemGetInfo(ctypes.byref(left), ctypes.byref(total))
    return left.value >> 20


@case
def buffers(ranks, rank, text):
    """NCCL's memory on the card at a first collective, a second, a first exchange; and that it is freed."""
    all_, steps = join(ranks, rank, text), [free()]
    for _ in range(2):
        all_.gather(rank)
        steps.append(free())
    cuda.ncclGroupStart()
    all_.call("ncclSend", ints(1), size(1), INT32, 1 - rank)
    all_.call("ncclRecv", ints(1), size(1), INT32, 1 - rank)
    cuda.ncclGroupEnd()
    steps.append(free())
    cuda.ncclCommDestroy(all_.handle)
    return [steps[0] - left for left in steps[1:] + [free()]]


@case
def no_room_for_buffers(ranks, rank, text):
    return join(ranks, rank, text).gather(rank)


@case
def parts(ranks, rank, text):
    """By parity, the higher ranks first; without a colour; without rank 1."""
    all_ = join(ranks, rank, text)
    halves = all_.part("ncclCommSplit", rank % 2, -rank)
    upper = all_.part("ncclCommSplit", 5 if rank >= 2 else -1, 0)
    left = all_.part("ncclCommShrink", ints(1), 1, 0) if rank != 1 else None
    return [part and part.gather(rank) for part in (halves, upper, left)]


@case
def one_ends(ranks, rank, text):
    all_ = join(ranks, rank, text)
    if rank == 1:
        return "ended"
    return [all_.gather(rank), all_.gather(rank)]


@case
def one_does_not_come(ranks, rank, text):
    """The short time in which the other is to come begins once both are there: its start may take longer."""
    there = pathlib.Path(tempfile.gettempdir(), f"nccl-there-{hashlib.sha256(text.encode()).hexdigest()}")
    if rank == 1:
        there.touch()
    while rank == 0 and not there.exists():
        time.sleep(0.01)
    all_ = join(ranks, rank, text)
    there.unlink(missing_ok=True)
    if rank == 1:
        sys.stdin.read()  # until the parent is done
        return "was elsewhere"
    return all_.gather(rank)


@case
def not_all_join(ranks, rank, text):
    if rank == 1:
        sys.stdin.read()
        return "was elsewhere"
    return join(ranks, rank, text)


@case
def one_device(ranks, rank, text):
    return join(ranks, rank, text, device=0)


@case
def one_device_each(ranks, rank, text):
    ctypes.CDLL(None).setenv(b"CUDA_VISIBLE_DEVICES", str(3 - rank).encode(), 1)
    return join(ranks, rank, text, device=0).gather(rank)


@case
def calls_differ(ranks, rank, text):
    all_ = join(ranks, rank, text)
    out = ints(*[0] * 4)
    return all_.call("ncclAllReduce", ints(1, 1, 1, 1), out, size(4 if rank == 0 else 3), INT32, SUM)


@case
def a_foreign_id(ranks, rank, text):
    return join(ranks, rank, "00" * 128)


@case
def too_many(ranks, rank, text):
    return join(65, rank, text)


def main(name, ranks, rank=None, text=None):
    ranks = int(ranks)
    if rank is not None:
        print(json.dumps(CASES[name](ranks, int(rank), text)))
        return
    made = UniqueId()
    cuda.ncclGetUniqueId(ctypes.byref(made))
    others = [subprocess.Popen([sys.executable, __file__, name, str(ranks), str(other), made.text()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
              for other in range(1, ranks)]
    seen = [CASES[name](ranks, 0, made.text())]
    print(json.dumps(seen + [json.loads(other.communicate()[0]) for other in others]))


if __name__ == "__main__":
    main(*sys.argv[1:])
