"""far_files.py FOLDER MILLISECONDS: mounts a file system in FOLDER that is kept in this process, and takes its time for each operation.

It stands for a network's: slow, without fallocate, and gone (ENOTCONN) when this process is. It says "ready" and serves until it is killed. Linux's
FUSE protocol (include/uapi/linux/fuse.h, 7.31) without a library; files and folders only.
"""

import ctypes
import errno
import itertools
import os
import stat
import struct
import sys
import time

ENTRY, ATTR, OPEN = struct.Struct("<QQQQII"), struct.Struct("<6Q10I"), struct.Struct("<QII")
SET_MODE, SET_SIZE = 1, 8


class Node:
    numbers = itertools.count(1)

    def __init__(self, mode):
        self.number, self.mode, self.data, self.names = next(Node.numbers), mode, bytearray(), {}
        nodes[self.number] = self

    def attributes(self):
        return ATTR.pack(self.number, len(self.data), -(-len(self.data) // 512), 0, 0, 0, 0, 0, 0, self.mode, 1, 0, 0, 0, 4096, 0)

    def entry(self):
        return ENTRY.pack(self.number, 0, 0, 0, 0, 0) + self.attributes()


nodes = {}
Node(stat.S_IFDIR | 0o777)


def name_in(body):
    return body.split(b"\0", 1)[0]


def child(folder, name):
    if name not in folder.names:
        raise FileNotFoundError(errno.ENOENT, "")
    return folder.names[name]


def init(node, body):
    return struct.pack("<4I2H2I2H8I", 7, 31, 1 << 17, 0, 16, 12, 1 << 17, 1, 32, 0, *[0] * 8)


def lookup(node, body):
    return child(node, name_in(body)).entry()


def get_attributes(node, body):
    return struct.pack("<QII", 0, 0, 0) + node.attributes()


def set_attributes(node, body):
    which, = struct.unpack_from("<I", body)
    if which & SET_MODE:
        node.mode = stat.S_IFMT(node.mode) | stat.S_IMODE(struct.unpack_from("<I", body, 68)[0])
    if which & SET_SIZE:
        size, = struct.unpack_from("<Q", body, 16)
        node.data[:] = node.data[:size].ljust(size, b"\0")
    return get_attributes(node, body)


def make_folder(node, body):
    mode, _ = struct.unpack_from("<2I", body)
    made = node.names[name_in(body[8:])] = Node(stat.S_IFDIR | mode)
    return made.entry()


def create(node, body):
    _, mode = struct.unpack_from("<2I", body)
    made = node.names[name_in(body[16:])] = Node(mode)
    return made.entry() + OPEN.pack(0, 0, 0)


def remove(node, body):
    child(node, name_in(body))
    del node.names[name_in(body)]
    return b""


def rename(node, body, names_at=8):
    to, = struct.unpack_from("<Q", body)
    old, new = body[names_at:].split(b"\0")[:2]
    nodes[to].names[new] = child(node, old)
    del node.names[old]
    return b""


def rename_too(node, body):
    return rename(node, body, 16)


def opened(node, body):
    return OPEN.pack(0, 0, 0)


def read(node, body):
    _, at, size = struct.unpack_from("<QQI", body)
    return bytes(node.data[at:at + size])


def write(node, body):
    _, at, size = struct.unpack_from("<QQI", body)
    node.data[at:at + size] = body[40:40 + size]
    return struct.pack("<II", size, 0)


def read_folder(node, body):
    _, after, size = struct.unpack_from("<QQI", body)
    entries = b""
    for number, (name, one) in list(enumerate(node.names.items(), 1))[after:]:
        entry = struct.pack("<QQII", one.number, number, len(name), one.mode >> 12) + name
        entry += bytes(-len(entry) % 8)
        if len(entries) + len(entry) > size:
            break
        entries += entry
    return entries


def statistics(node, body):
    return struct.pack("<5Q4I24x", 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 4096, 255, 4096, 0)


def nothing(node, body):
    return b""


FORGET, INTERRUPT, FORGET_MANY = 2, 36, 42  # these have no answer
OPERATIONS = {1: lookup, 3: get_attributes, 4: set_attributes, 9: make_folder, 10: remove, 11: remove, 12: rename, 14: opened, 15: read, 16: write, 17: statistics,
              18: nothing, 20: nothing, 25: nothing, 26: init, 27: opened, 28: read_folder, 29: nothing, 35: create, 45: rename_too}


def answer(operation, number, body):
    try:
        return 0, OPERATIONS[operation](nodes.get(number), body)
    except KeyError:
        return -errno.ENOSYS, b""
    except OSError as problem:
        return -problem.errno, b""


def serve(device, seconds):
    while True:
        try:
            request = os.read(device, 1 << 18)
        except OSError as problem:
            if problem.errno == errno.ENODEV:  # not mounted any more
                return
            raise
        _, operation, unique, number = struct.unpack_from("<IIQQ", request)
        if operation in (FORGET, INTERRUPT, FORGET_MANY):
            continue
        if operation != 26:
            time.sleep(seconds)
        problem, result = answer(operation, number, request[40:])
        os.write(device, struct.pack("<IiQ", 16 + len(result), problem, unique) + result)


def main(folder, milliseconds):
    device = os.open("/dev/fuse", os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if libc.mount(b"far", os.fsencode(folder), b"fuse", 0, options) != 0:
        raise OSError(ctypes.get_errno(), "mount")
    print("ready", flush=True)
    serve(device, float(milliseconds) / 1000)


main(*sys.argv[1:])
