"""Folders that are full, slow, taken away, or other people's."""

import errno
import os

from faults import fault
from lab import NOBODY, NotHere


def need_root():
    if os.geteuid() != 0:
        raise NotHere("becoming another user takes root")


def on_full(lab, name, kib, **case):
    folder = lab.new_folder()
    lab.mount(folder / "full", kib)
    (folder / "full" / name).mkdir()
    if name == "ring":
        (folder / "ring").rmdir()
    (folder / name).symlink_to(f"full/{name}")
    return lab.run(folder=folder, **case)


@fault("the capture's file system is full, after 4 KiB to 16 MiB")
def full_capture(lab, long):
    for kib in (4, 8, 16, 64, 256, 1024, 16384) if long else (4, 64):
        yield on_full(lab, "capture", kib, program="shapes", arguments=[40_000])
        yield on_full(lab, "capture", kib, program="shapes", arguments=[40_000], during=[["fill", "../full"]])


@fault("the ring's file system is full, after 4 KiB to 16 MiB")
def full_ring(lab, long):
    for kib in (4, 64, 1024, 4096, 8192, 16384) if long else (64, 2048):
        yield on_full(lab, "ring", kib)
        yield on_full(lab, "ring", kib, before=[["deny", "fallocate", errno.EOPNOTSUPP]])
        yield on_full(lab, "ring", kib, during=[["fill", "../full"]])


@fault("writes to the capture take 1 to 50 ms")
def slow(lab, long):
    for milliseconds in (1, 5, 20, 50) if long else (5,):
        yield lab.run(program="shapes", arguments=[40_000], before=[["odd_writes", milliseconds * 1000, 0, 0]])


@fault("a file system in another process (FUSE), without fallocate, that takes 1 to 20 ms for each operation")
def far(lab, long):
    for milliseconds in (1, 5, 20) if long else (2,):
        with lab.far_files(milliseconds) as (folder, _):
            yield lab.run(folder=folder, keep=True, program="shapes", arguments=[20_000])


@fault("the FUSE file system does not answer while 20,000 calls are recorded, then does again")
def far_and_silent(lab, long):
    for _ in range(5 if long else 1):
        with lab.far_files(0) as (folder, process):
            yield lab.run(folder=folder, keep=True, during=[["signal_process", process.pid, "SIGSTOP"]], arguments=[20_000],
                          after=[["signal_process", process.pid, "SIGCONT"]])


@fault("the FUSE file system is gone while recording (ENOTCONN)")
def far_and_gone(lab, long):
    for _ in range(5 if long else 1):
        with lab.far_files(0) as (folder, process):
            yield lab.run(folder=folder, keep=True, during=[["signal_process", process.pid, "SIGKILL"]], arguments=[20_000])


@fault("each second or third write is interrupted, or takes only a half")
def in_parts(lab, long):
    for interrupted, part in ((2, 0), (3, 0), (0, 1), (0, 2), (3, 2)) if long else ((2, 0), (0, 1)):
        yield lab.run(program="shapes", arguments=[20_000], before=[["odd_writes", 0, interrupted, part]])


@fault("part files, capture folder, ring file or ring folder removed while recording")
def removed(lab, long):
    for _ in range(5 if long else 1):
        for what in ("parts", "folder", "ring file", "ring folder"):
            yield lab.run(during=[["remove", what]])


@fault("part files, capture folder, ring file or ring folder removed, then SIGKILL")
def removed_and_killed(lab, long):
    for _ in range(5 if long else 1):
        for what in ("parts", "folder", "ring file", "ring folder"):
            yield lab.run(during=[["remove", what]], arguments=[1_000_000_000], kill_at=lab.random.randrange(200, 20_000), ends=["signal 9"])


@fault("capture's or ring's folder renamed while recording")
def renamed(lab, long):
    for _ in range(5 if long else 1):
        for what in ("capture", "ring"):
            yield lab.run(during=[["rename", what]])


@fault("setuid to another user while recording, with eviction and without")
def other_user(lab, long):
    need_root()
    for _ in range(5 if long else 1):
        for size in ("0", "256KiB"):
            yield lab.run(during=[["user", NOBODY]], program="shapes", arguments=[40_000], options={"ring_size": "4MiB", "max_size": size})


@fault("umask 0, 077, 0777, as another user than root")
def masks(lab, long):
    need_root()
    for bits in (0, 0o077, 0o777):
        folder = lab.new_folder()
        result = lab.run(before=[["user", NOBODY], ["umask", bits]], folder=folder, keep=True)
        if result.verdict == "whole":
            modes = {oct(path.stat().st_mode & 0o777) for path in (folder / "capture").glob("*.memoir")} | {oct((folder / "capture").stat().st_mode & 0o777)}
            if modes != {"0o700", "0o600"}:
                result.verdict, result.words = "wrong", f"modes {modes}"
        lab.remove(folder)
        yield result


@fault("permission for the capture's folder taken away while recording")
def without_permission(lab, long):
    need_root()
    for size in ("0", "256KiB"):
        yield lab.run(before=[["user", NOBODY]], during=[["no_permission", "capture"]], program="shapes", arguments=[40_000],
                      options={"ring_size": "4MiB", "max_size": size})


@fault("another user's symbolic links on the ring's names, 1 to 100 of them")
def other_users_links(lab, long):
    need_root()
    for count in (1, 5, 100):
        folder = lab.new_folder()
        (folder / "theirs").write_bytes(b"theirs")
        yield lab.run(folder=folder, before=[["links", str(folder / "theirs"), count]])
