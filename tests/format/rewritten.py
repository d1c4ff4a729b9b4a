"""Captures written anew by what docs/capture_format.md says, with something changed: what another version of Memoir would write."""

import struct

import zstandard

WRAP = 2**64 - 1
PRIMES = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)


def _turned(value, bits):
    return (value << bits | value >> (64 - bits)) & WRAP


def _mixed(lane, into=0):
    return _turned((into + lane * PRIMES[1]) & WRAP, 31) * PRIMES[0] & WRAP


def xxh64(data):
    """With seed 0; the package xxhash is no need of the tests."""
    first, second, third, fourth, fifth = PRIMES
    whole, value = len(data) & ~31, fifth
    if whole:
        lanes = [(first + second) & WRAP, second, 0, -first & WRAP]
        for four in struct.iter_unpack("<4Q", data[:whole]):
            lanes = [_mixed(lane, into) for lane, into in zip(four, lanes)]
        value = sum(_turned(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & WRAP
        for lane in lanes:
            value = ((value ^ _mixed(lane)) * first + fourth) & WRAP
    value, rest = (value + len(data)) & WRAP, data[whole:]
    while len(rest) >= 8:
        value, rest = (_turned(value ^ _mixed(int.from_bytes(rest[:8], "little")), 27) * first + fourth) & WRAP, rest[8:]
    if len(rest) >= 4:
        value, rest = (_turned(value ^ int.from_bytes(rest[:4], "little") * first & WRAP, 23) * second + third) & WRAP, rest[4:]
    for byte in rest:
        value = _turned(value ^ byte * fifth & WRAP, 11) * first & WRAP
    for shift, factor in ((33, second), (29, third), (32, 1)):
        value = (value ^ value >> shift) * factor & WRAP
    return value


def varint(value):
    encoded = b""
    while value > 127:
        encoded, value = encoded + bytes([value & 127 | 128]), value >> 7
    return encoded + bytes([value])


def delimited(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


UNKNOWN = delimited(1000, b"later") + varint(1001 << 3) + varint(7)   # two fields that no message has


def with_unknown(message):
    """The message, and fields of a later version in it."""
    return type(message).FromString(message.SerializeToString() + UNKNOWN)


def chunks_of(schema, part):
    return list(schema.Part.FromString(part.read_bytes()).chunk)


def payload_of(schema, chunk):
    return schema.Payload.FromString(zstandard.decompress(chunk.payload))


def set_payload(chunk, payload):
    encoded = payload.SerializeToString()
    chunk.payload, chunk.payload_bytes = zstandard.ZstdCompressor(level=19).compress(encoded), len(encoded)
    chunk.checksum = xxh64(chunk.payload)


def encoded_chunk(chunk, early=False):
    """As it stands in a part. Early versions wrote neither `recording` nor `header_checksum`."""
    header = type(chunk).FromString(chunk.SerializeToString())
    for field in ("payload", "index", "chunk_bytes", "header_checksum") + (("recording",) if early else ()):
        header.ClearField(field)
    encoded = header.SerializeToString()
    if not early:
        encoded += b"\x61" + struct.pack("<Q", xxh64(encoded))
    return delimited(1, encoded + (delimited(5, chunk.payload) if chunk.payload else b""))


def write_part(path, chunks, early=False):
    """Omits the index, which contains nothing that the chunks lack."""
    path.write_bytes(b"".join(encoded_chunk(chunk, early) for chunk in chunks if chunk.payload))
