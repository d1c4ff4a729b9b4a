"""The programs of server.py's recorded child. Each reports how often it called torch.add: in the shared page after each call, or as its result."""

import os
import struct
import threading
import time

import torch


def count_into(page, count):
    page[:8] = struct.pack("<q", count)


def adds(page, count, times):
    """`count` were done before."""
    a = torch.ones(1)
    for count in range(count + 1, count + times + 1):
        torch.add(a, a)
        count_into(page, count)
    return count


def shapes(page, count, times, held=100 << 20):
    """The same with tensors of many shapes, while `held` bytes live."""
    kept = torch.empty(held, dtype=torch.uint8)
    for count in range(count + 1, count + times + 1):
        a = torch.empty(1 + count % 997, 1 + count % 13)
        torch.add(a, a)
        count_into(page, count)
    del kept
    return count


def steps(page, count, times, odd_each):
    """Steps of ten calls with results of three sizes; in one of so many steps every call has another size."""
    import memoir

    usual, end, step = [torch.ones(n) for n in (1, 100, 1000)], count + times, 0
    while count < end:
        memoir.step()
        step += 1
        operands = usual if step % odd_each else [torch.ones(1 + step % 997)]
        for i in range(10):
            operand = operands[i % len(operands)]
            torch.add(operand, operand)
            count += 1
            count_into(page, count)
    return count


def names(page, count, times):
    """A new range and a new shape for each call."""
    for count in range(count + 1, count + times + 1):
        with torch.autograd.profiler.record_function(f"name {count}"):
            a = torch.empty(1 + count % 1000, count // 1000 + 1, 0)
            torch.add(a, a)
        count_into(page, count)
    return count


def threads(page, count, times, each=10):
    """`times` threads that all live at once."""
    threading.stack_size(256 << 10)
    a = torch.ones(1)
    go, arrived, room = threading.Event(), [], threading.BoundedSemaphore(times)

    def run():
        for _ in range(each):
            torch.add(a, a)
        arrived.append(1)
        go.wait()

    started = []
    for _ in range(times):
        thread = threading.Thread(target=run)
        try:
            thread.start()
        except RuntimeError:
            break
        started.append(thread)
    go.set()
    for thread in started:
        thread.join()
    count += len(arrived) * each
    count_into(page, count)
    return count


def children(page, count, times, each=10):
    """Children, one after another, that train and end by os._exit."""
    w = torch.ones(3, requires_grad=True)
    a = torch.ones(1)
    for _ in range(times):
        child = os.fork()
        if child == 0:
            (w * 2).sum().backward()
            for _ in range(each):
                torch.add(a, a)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        count += each
    count_into(page, count)
    return count


def forks_beside_threads(page, count, times):
    """Children that end at once, made while other threads start others again and again, each of which calls torch.add once."""
    a = torch.ones(1)
    stop, counts = threading.Event(), []

    def run():
        done = 0
        while not stop.is_set():
            thread = threading.Thread(target=torch.add, args=(a, a))
            thread.start()
            thread.join()
            done += 1
        counts.append(done)

    running = [threading.Thread(target=run) for _ in range(4)]
    for thread in running:
        thread.start()
    for _ in range(times):
        child = os.fork()
        if child == 0:
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    stop.set()
    for thread in running:
        thread.join()
    count += sum(counts)
    count_into(page, count)
    return count


def short_threads(page, count, times):
    """Threads of one call each, one after another."""
    a = torch.ones(1)
    for count in range(count + 1, count + times + 1):
        thread = threading.Thread(target=torch.add, args=(a, a))
        thread.start()
        thread.join()
        count_into(page, count)
    return count


def daemon(page, count, times):
    """A daemon that closes what it inherited, opens a log on those numbers, trains, and stops its recording. Waits for it."""
    import memoir

    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
        os.dup2(writer, 2000)
        os.closerange(3, 2000)
        log = os.open("../theirs", os.O_RDWR | os.O_CREAT | os.O_APPEND)
        for number in range(log + 1, 40):
            os.dup2(log, number)
        os.write(log, b"the")
        w = torch.ones(3, requires_grad=True)
        (w * 2).sum().backward()
        adds(page, count, times)
        memoir.stop()
        os.write(log, b"irs")
        os._exit(0)
    os.close(writer)
    os.wait()
    os.read(reader, 1)
    return count + times


def resident():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmRSS:"))


def steady(page, count, times):
    """Steps of a training, a few hundred a second, for `times` seconds. Fails where the process grows after the first tenth."""
    w = torch.ones(64, 64, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=1e-3, momentum=0.9)
    begin, before = time.monotonic(), None
    while (passed := time.monotonic() - begin) < times:
        for _ in range(10):
            torch.add(w.detach(), 1)
            count += 1
        (w * 2).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        count_into(page, count)
        time.sleep(0.005)
        before = resident() if before is None and passed > times / 10 else before
    assert resident() - before < 16 << 20, f"{before} bytes were resident, now {resident()}"
    return count
