"""Reads a capture folder with the packages protobuf and zstandard alone, and adds up what `memoir show --json` shows.

    protoc -I proto/memoir/v1 --python_out=/tmp/schema capture.proto
    PYTHONPATH=/tmp/schema python examples/read_capture.py [--json] FOLDER

Written from docs/capture_format.md, whose section "Totals" says how events are added up. Left out are checksums, which
need the package xxhash, copies of parts, and all runs of a folder but the newest.
"""

import collections
import io
import itertools
import json
import pathlib
import sys

import capture_pb2 as pb
import named_steps
import zstandard
from google.protobuf import message, proto

WRAP, ZEROS, DAMAGE = 2**64 - 1, itertools.repeat(0), (ValueError, LookupError, StopIteration, message.DecodeError, zstandard.ZstdError)
# Which kinds take which columns, of those that totals need.
BEGINS = {pb.RANGE_BEGIN_FUNCTION, pb.RANGE_BEGIN_BACKWARD, pb.RANGE_BEGIN_USER, pb.RANGE_BEGIN_DISPATCH, pb.RANGE_BEGIN_NVTX}
BLOCKS, FREED = {pb.ALLOCATE, pb.BLOCK_ALLOCATE, pb.BLOCK_FOUND}, {pb.SEGMENT_FREE, pb.SEGMENT_UNMAP}
SEGMENTS = FREED | {pb.SEGMENT_ALLOCATE, pb.SEGMENT_MAP, pb.SEGMENT_FOUND}
SIZED = BLOCKS | SEGMENTS | {pb.OUT_OF_MEMORY, pb.DRIVER_ALLOCATE, pb.DRIVER_REFUSED}
PLACED = SIZED | {pb.DEALLOCATE, pb.DEALLOCATE_COMPLETED, pb.DEVICE_STATISTICS, pb.DRIVER_FREE, pb.DEVICE_READING}
CALLS = {pb.DEVICE_CALL, pb.KERNEL_RUN}
TAKES = {"tick_delta": set(pb.EventKind.values()) - {pb.EVENT_UNKNOWN}, "name": BEGINS, "address_delta": PLACED, "serial_delta": PLACED,
         "device": PLACED | CALLS | {pb.KERNEL_LAUNCH}, "bytes": SIZED | CALLS, "level": {pb.PAUSE, pb.RESUME}}
Event = collections.namedtuple("Event", "kind tick name address serial device bytes level")   # serial 0: behind all of its address
Block, Part = collections.namedtuple("Block", "bytes serial tick"), collections.namedtuple("Part", "name info chunks damage")
NOW = {"peak_allocated_bytes": "live_bytes_at_end", "peak_active_bytes": "active_bytes_at_end", "peak_reserved_bytes": "reserved_bytes_at_end"}


def read_part(path):
    part, file = Part(path.name, pb.ProcessInfo(), [], []), io.BytesIO(path.read_bytes())
    try:
        while tag := file.read(1):
            chunk = proto.parse_length_prefixed(pb.Chunk, file) if tag == b"\n" else pb.Chunk()
            if not chunk.ByteSize() or not (part.chunks or chunk.HasField("process")):
                raise ValueError("foreign bytes")
            part.info.MergeFrom(chunk.process)
            part.chunks.append(chunk)
    except DAMAGE as error:
        part.damage.append(f"{part.name}: {error} before offset {file.tell()}")
    return part


def payload_of(chunk):
    if chunk.payload and (chunk.payload_bytes > 64 << 20 or zstandard.frame_content_size(chunk.payload) != chunk.payload_bytes):
        raise ValueError("a payload is not as large as its chunk says")
    return pb.Payload.FromString(zstandard.decompress(chunk.payload) if chunk.payload else b"")


def absolute(deltas, begin=0):
    return (value & WRAP for value in itertools.islice(itertools.accumulate(deltas, initial=begin), 1, None))


def events_of(run):
    count, columns = collections.Counter(run.kind), []
    for name, takers in TAKES.items():
        column = getattr(run, name)
        if len(column) != sum(count[kind] for kind in takers) and (column or name != "device"):
            raise ValueError("columns of a run do not match its events")
        column = absolute(column, run.first_tick * (name == "tick_delta")) if name.endswith("_delta") else column or ZEROS
        columns.append((iter(column), takers))
    return [Event(kind, *(next(column) if kind in takers else 0 for column, takers in columns)) for kind in run.kind]


def blocks_of(live):   # by device and address
    blocks = map(Block, live.bytes, absolute(live.serial_delta), absolute(live.tick_delta or ZEROS))
    return dict(zip(zip(live.device or ZEROS, absolute(live.address_delta)), blocks))


class Recording:
    def __init__(self, parts):
        self.info, self.names, self.sums, self.counters = parts[-1].info, {0: "cpu"}, collections.Counter(), pb.Counters()
        self.devices, self.waiting, self.next_record, self.run_end = collections.defaultdict(collections.Counter), [], {}, {}
        self.blocks, self.freeing, self.early = {}, {}, {}   # by device and address
        last, self.from_start = None, parts[0].chunks[0].sequence == 0   # last: numbers of part and chunk
        # Whether the next keyframe says the state, and whether also sums, because parts before it were removed.
        self.resync = self.removed = not self.from_start
        for part in parts:
            self.operators, self.stretches = set(), {}   # dictionaries end with their part
            for chunk in part.chunks if last or self.from_start else itertools.dropwhile(lambda c: not c.has_keyframe, part.chunks):
                gap, missing = (chunk.sequence - last[1] - 1, part.info.part - last[0] - 1) if last else (0, 0)
                last = part.info.part, chunk.sequence
                try:
                    if gap > 0:
                        self.pass_gap(gap, missing, [chunk for chunk in parts[-1].chunks if chunk.payload][-1])
                    self.take_chunk(chunk)
                except DAMAGE as error:
                    part.damage.append(f"{part.name}: {error} in chunk {chunk.sequence}")
                    self.resync, last = True, (part.info.part, part.chunks[-1].sequence)
                    break
            self.show()
        self.sums.update(events=self.counters.folded_events, dropped_events=self.counters.dropped_records + self.counters.lost_events)

    def pass_gap(self, chunks, parts, newest):
        self.show()
        self.resync = True
        if 0 < parts <= payload_of(newest).counters.folded_parts:
            self.removed, self.from_start, self.next_record, self.run_end = True, False, {}, {}
        else:
            self.sums["lost_chunks"] += chunks

    def take_chunk(self, chunk):
        payload = payload_of(chunk)
        runs = [(run, events_of(run)) for run in payload.runs]
        self.operators |= {name.id for name in payload.names if name.kind == pb.NameDef.OPERATOR}
        self.names.update({d.id: d.type if d.type in ("cpu", "pinned") else f"{d.type}:{d.index}" for d in payload.devices})
        self.counters = payload.counters if payload.HasField("counters") else self.counters
        if payload.HasField("keyframe") and self.resync:
            self.take_keyframe(payload.keyframe)
        self.waiting += (repeated := named_steps.events_of(payload, self.stretches, events_of))   # before runs' events of the same tick
        self.sums["events"] += len(repeated) + sum(len(events) for _, events in runs)
        for run, events in runs:
            known = self.next_record.get(run.thread, 0 if self.from_start else run.first_record)
            behind = self.run_end.get(run.thread, run.first_record * (run.repeated_before > 0 and not self.from_start))   # evicted: not known
            self.sums["lost_records"] += max(0, run.first_record - max(known, behind + run.repeated_before))
            self.run_end[run.thread], self.next_record[run.thread] = (end := run.first_record + run.record_count), max(end, known)
            self.waiting += events if end > known or not run.record_count else []   # else they stand there twice
        self.next_record.update({done.thread: max(done.end_record, self.next_record.get(done.thread, 0)) for done in payload.repeated_records})
        self.show(chunk.complete_until_tick or WRAP)

    def show(self, until=WRAP):
        self.waiting = collections.deque(sorted(self.waiting, key=lambda event: event.tick))
        while self.waiting and self.waiting[0].tick <= until:
            self.take(self.waiting.popleft())

    def take_keyframe(self, frame):
        self.show()
        self.restart(blocks_of(frame.live), blocks_of(frame.freeing), zip(frame.segments.device, frame.segments.bytes), not self.removed)
        for totals, name in itertools.product(frame.devices if self.removed else (), ("allocations", "allocated_bytes", *NOW)):
            device, its_name = self.devices[totals.device], name if name != "peak_allocated_bytes" else "peak_bytes"
            device[name] = max(device[name], getattr(totals, its_name))
        self.sums["operator_calls"] = max(self.sums["operator_calls"], sum(totals.count for totals in frame.operators) * self.removed)
        self.resync = self.removed = False

    def restart(self, blocks, freeing, segments, counts):
        known, self.blocks, self.freeing = self.blocks, blocks, freeing
        for device in self.devices.values():
            device.update({now: -device[now] for now in NOW.values()})
        for key, block in blocks.items():
            self.add(key[0], counts and (key not in known or known[key].serial != block.serial), allocated=block.bytes, active=block.bytes)
        for (device, _), block in freeing.items():
            self.add(device, active=block.bytes)
        for device, size in segments:
            self.add(device, reserved=size)

    def add(self, device, is_allocation=False, allocated=0, active=0, reserved=0):
        sums = self.devices[device]
        sums.update(allocations=int(is_allocation), allocated_bytes=allocated * is_allocation)
        sums.update(live_bytes_at_end=allocated, active_bytes_at_end=active, reserved_bytes_at_end=reserved)
        sums.update({peak: max(0, sums[now] - sums[peak]) for peak, now in NOW.items()})

    def take(self, event):
        kind, device, size, key = event.kind, event.device, event.bytes, (event.device, event.address)
        there, freeing = self.blocks.get(key), self.freeing.get(key)
        if kind in BEGINS:
            self.sums["operator_calls"] += event.name in self.operators
        elif kind in BLOCKS:
            late = (there.serial if there else self.early.pop(key, 0)) > event.serial > 0   # its end came first
            if there and not late:   # its end was lost
                self.add(device, allocated=-there.bytes, active=-there.bytes)
            self.add(device, kind != pb.BLOCK_FOUND, allocated=size, active=size)
            if late:
                self.add(device, allocated=-size, active=-size)
            self.blocks.update({} if late else {key: Block(size, event.serial, event.tick)})
        elif kind == pb.DEALLOCATE and there is None:
            self.early[key] = event.serial
        elif kind == pb.DEALLOCATE and (there.serial < event.serial or not event.serial):
            self.freeing[key] = self.blocks.pop(key)._replace(serial=event.serial)
            self.add(device, allocated=-there.bytes)
        elif kind == pb.DEALLOCATE_COMPLETED and freeing and (freeing.serial <= event.serial or not event.serial):
            self.add(device, active=-self.freeing.pop(key).bytes)
        elif kind in SEGMENTS:
            self.add(device, reserved=-size if kind in FREED else size)
        elif kind in TAKES["level"] and event.level >> 2 == pb.LEVEL_OFF:   # what became of blocks before it is not known
            self.restart({key: block for key, block in self.blocks.items() if block.tick >= event.tick}, {}, (), False)


folder, groups = pathlib.Path(sys.argv[-1]), collections.defaultdict(list)
parts = [read_part(path) for path in sorted(folder.glob("*.memoir"))]
for part in sorted((part for part in parts if part.chunks), key=lambda part: part.chunks[0].sequence):
    group = groups[part.info.start.realtime_ns, part.info.host, part.info.pid]
    if group and group[-1].chunks[-1].sequence + 1 == part.chunks[0].sequence:
        group[-1].damage.clear()   # its process was killed, and the next part has what was cut
    group.append(part)
if not groups or any(part.info.format_version > 2 for part in parts):
    sys.exit(f"{folder}: not a capture, or written by a newer Memoir")
recordings = [Recording(group) for group in groups.values() if group[0].info.run == groups[max(groups)][0].info.run]
totals = {name: sum(recording.sums[name] for recording in recordings) for name in ("events", "operator_calls", "dropped_events", "lost_records", "lost_chunks")}
devices = [{"device": recording.names.get(number, "unknown"), "rank": recording.info.rank, "pid": recording.info.pid,
            **{name: sums[name] for name in sums if sums["peak_reserved_bytes"] or not ("active" in name or "reserved" in name)}}
           for recording in recordings for number, sums in sorted(recording.devices.items()) if any(sums.values())]
text = (damage := [line for part in parts for line in part.damage]) + [", ".join(f"{name} {value}" for name, value in row.items()) for row in [*devices, totals]]
print(json.dumps({**totals, "damage": damage, "devices": devices}) if "--json" in sys.argv else "\n".join(text))
