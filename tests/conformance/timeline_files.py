"""Reads the files of `memoir export memory-timeline` as scripts read torch.profiler's, torch's own code among them."""

import base64
import re
import struct
import types
import zlib

import torch
from torch.profiler import _memory_profiler as memory

CATEGORIES = list(memory._CATEGORY_TO_COLORS)


def timeline_of(raw, device):
    """torch's MemoryProfileTimeline of a raw event list, in which each event is a separate tensor."""
    timeline, categories = [], {}
    rows = iter(raw)
    for number, (when, action, size, category) in enumerate(rows):
        key = memory.TensorKey(torch.device(device), number, memory._Storage(0, number))
        categories[key, 0] = CATEGORIES[category]
        if memory.Action(action) == memory.Action.INCREMENT_VERSION:
            categories[key, 1] = CATEGORIES[next(rows)[3]]
        timeline.append((when, memory.Action(action), (key, 0), abs(size)))
    found = object.__new__(memory.MemoryProfileTimeline)
    found.timeline, found.categories = timeline, types.SimpleNamespace(get=lambda key, version: categories[key, version])
    return found


def picture_of(page):
    """The bytes of the PNG in a page of export_memory_timeline_html."""
    assert re.search(r"<title>GPU Memory Timeline HTML</title>", page)
    found = re.fullmatch(r".*<img src='data:image/png;base64,([^']+)'>.*", page, re.S)
    return base64.b64decode(found.group(1), validate=True)


def size_of(png):
    """Width and height of a PNG that is whole: its checksums hold, and it has as many pixels as it says."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data, header = 8, b"", None
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", png[at + 8 + length : at + 12 + length])[0]
        header = struct.unpack(">IIBB", body[:10]) if kind == b"IHDR" else header
        data += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height, depth, color = header
    assert (depth, color) == (8, 2) and len(zlib.decompress(data)) == height * (1 + 3 * width)
    return width, height
