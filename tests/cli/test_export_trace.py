"""memoir export perfetto and chrome: the nodes of memoir export tree as slices, and what devices hold as counters. Perfetto's is read with the published protos."""

import collections
import gzip
import json

import pytest

try:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2
except ImportError:
    perfetto_trace_pb2 = None

SAMPLES = ["training", "empty", "one_operator", "odd_names", "ranks", "losses", "folded", "trained", "cuda_unknown", "cuda_lost", "driver", "calls", "kernels"]
needs_protos = pytest.mark.skipif(perfetto_trace_pb2 is None, reason="the package perfetto, which has the published protos, is not installed")


def chrome(memoir, sample, *options):
    done = memoir("export", "chrome", *options, sample)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["traceEvents"]


def perfetto(memoir, tmp_path, sample):
    """As (phase, process, thread, ns, name, bytes): what chrome's events are as well."""
    path = tmp_path / "trace.pftrace"
    done = memoir("export", "perfetto", sample, "-o", path)
    assert done.returncode == 0, done.stderr
    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(path.read_bytes())
    # All fields are known, so that writing it again gives the same number of bytes.
    assert trace.ByteSize() == path.stat().st_size
    kinds = {1: "B", 2: "E", 3: "i", 4: "C"}
    tracks, names, found = {}, {}, []
    for packet in trace.packet:
        if packet.HasField("profile_packet"):
            continue
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in tracks and (not track.parent_uuid or track.parent_uuid in tracks)
            tracks[track.uuid] = track
            continue
        names.update({entry.iid: entry.name for entry in packet.interned_data.event_names})
        event = packet.track_event
        track = tracks[event.track_uuid]
        process = track.thread.pid or tracks[track.parent_uuid].process.pid
        name = track.name if event.type == 4 else names[event.name_iid] if event.type in (1, 3) else ""
        found.append((kinds[event.type], process, track.thread.tid, packet.timestamp, name, event.counter_value))
    return found


def plain(event):
    count = event["args"]["bytes"] if event["ph"] == "C" else 0
    return (event["ph"], event["pid"], event["tid"], round(event["ts"] * 1000), event.get("name", ""), count)


def of_steps(events):
    """Tracks of steps, as (process, thread)."""
    return {(event["pid"], event["tid"]) for event in events if event.get("cat") == "step"}


@pytest.mark.parametrize("sample", SAMPLES)
def test_slices_are_the_trees_nodes(memoir, samples, sample):
    nodes = [json.loads(line) for line in memoir("export", "tree", "--no-memory", samples / sample).stdout.splitlines()]
    begins = [event for event in chrome(memoir, samples / sample) if event["ph"] == "B" and event["cat"] != "step"]
    assert len(begins) == len(nodes)
    for event, node in zip(begins, nodes, strict=True):
        assert round(event["ts"] * 1000) >= node["begin_ns"]
        if node["kind"] == "device_call":
            expected = (node["device"], node.get("stream", "0x0"), node.get("bytes", 0))
            assert (event["args"]["device"], event["args"]["stream"], event["args"]["bytes"]) == expected
            assert event["cat"] == ("kernel launch" if "kernel" in node else "cuda call")
            continue
        assert (event["args"]["allocated_bytes"], event["args"]["freed_bytes"]) == (node["allocated_bytes"], node["freed_bytes"])
        if node["kind"] == "call":
            file = (node["file"] or "").rpartition("/")[2]
            assert event["name"] == (node["function"] or "(unknown function)") + (f" ({file})" if file else "")
        else:
            assert node["kind"] == "module" or event["name"] == (node["name"] or "(unnamed)")


@pytest.mark.parametrize("sample", SAMPLES)
def test_slices_are_inside_each_other(memoir, samples, sample):
    open_slices, latest = collections.Counter(), collections.Counter()
    for event in chrome(memoir, samples / sample):
        if event["ph"] in "BE":
            thread = event["pid"], event["tid"]
            assert event["ts"] >= latest[thread]
            latest[thread] = event["ts"]
            open_slices[thread] += 1 if event["ph"] == "B" else -1
            assert open_slices[thread] >= 0
    assert not any(open_slices.values())


@pytest.mark.parametrize("sample", SAMPLES)
def test_counters_reach_the_peak(memoir, samples, sample):
    most = collections.defaultdict(int)
    for event in chrome(memoir, samples / sample):
        if event["ph"] == "C":
            most[event["pid"], event["name"]] = max(most[event["pid"], event["name"]], event["args"]["bytes"])
    peaks = sorted(device["peak_allocated_bytes"] for device in json.loads(memoir("show", "--json", samples / sample).stdout)["devices"])
    found = sorted(bytes for (_, name), bytes in most.items() if name.endswith(" allocated"))
    assert [peak for peak in peaks if peak] == [peak for peak in found if peak]


@needs_protos
@pytest.mark.parametrize("sample", SAMPLES)
def test_perfetto_has_the_same(memoir, samples, tmp_path, sample):
    events = [plain(event) for event in chrome(memoir, samples / sample) if event["ph"] != "M"]
    assert sorted(perfetto(memoir, tmp_path, samples / sample)) == sorted(events)


def test_calls_of_cuda_are_slices_in_their_operator(memoir, samples):
    events, open_slices, found = chrome(memoir, samples / "kernels"), [], collections.Counter()
    for event in events:
        if event["ph"] == "E":
            ended = open_slices.pop()
            if ended["name"] == "cudaDeviceSynchronize":
                assert event["ts"] - ended["ts"] == 90, "microseconds"
        elif event["ph"] == "B":
            if event["cat"] == "kernel launch":
                found[event["name"], open_slices[-1]["name"]] += 1
            open_slices.append(event)
    assert found["at::native::vectorized_elementwise_kernel<...>", "aten::add"] == 4
    assert found["triton_poi_fused_add_0", "custom::op"] == 1
    assert found["cuLaunchKernel", "custom::op"] == 1, "one whose kernel is not known"


def test_ranks_are_processes(memoir, samples):
    events = chrome(memoir, samples / "ranks")
    names = {event["pid"]: event["args"]["name"] for event in events if event.get("name") == "process_name"}
    assert len(names) == 2 and sorted(name[:7] for name in names.values()) == ["rank 0:", "rank 1:"]
    assert {event["pid"] for event in events} == set(names)


def test_a_part_of_it(memoir, samples):
    everything, part = chrome(memoir, samples / "training"), chrome(memoir, samples / "training", "--thread", "1")
    assert 0 < len(part) < len(everything)


@pytest.mark.parametrize("what", ["perfetto", "chrome"])
def test_a_full_disk_is_said(memoir, samples, what):
    done = memoir("export", what, samples / "training", "-o", "/dev/full")
    assert done.returncode == 1 and "cannot write /dev/full" in done.stderr


def test_what_ran_is_on_a_track_of_its_stream(memoir, samples, tmp_path):
    """With --kernels times: under the kernel's name, as long as it ran; not what ran for a call that is not recorded."""
    events = chrome(memoir, samples / "kernel_times")
    track, = {(event["pid"], event["tid"]) for event in events if event["ph"] == "M" and event["args"].get("name") == "cuda:0 stream 7"}
    ran, begun = [], None
    for event in events:
        if (event["pid"], event["tid"]) != track or event["ph"] not in "BE":
            continue
        if event["ph"] == "B":
            begun = event
        else:
            ran.append((begun["name"].split("<")[0].rpartition("::")[2], begun["cat"], round((event["ts"] - begun["ts"]) * 1000)))
    add = "vectorized_elementwise_kernel"
    assert ran == [("cudaMemcpyAsync", "copy", 310_000), *((add, "kernel", 2_000 + i) for i in (2, 3, 4)), ("reduce_kernel", "kernel", 81_000), (add, "kernel", 3_000)]


def test_steps_and_marks(memoir, samples):
    """Steps equal --steps, one after the other; a mark has the time of show --json."""
    events = chrome(memoir, samples / "training")
    track, = of_steps(events)
    on_track = [event for event in events if (event["pid"], event["tid"]) == track and event["ph"] in "BE"]
    assert [event["ph"] for event in on_track] == ["B", "E"] * (len(on_track) // 2)
    for ended, begun in zip(on_track[1::2], on_track[2::2], strict=False):
        assert ended["ts"] == begun["ts"]
    shown = json.loads(memoir("show", "--json", samples / "training").stdout)
    names = [event["name"] for event in on_track if event["ph"] == "B"]
    assert len(names) == shown["step_count"] > 1 and names == [f"step {i}" for i in range(len(names))]
    second, = (event for event in on_track if event.get("name") == "step 1")
    in_step = chrome(memoir, samples / "training", "--steps", "1:2")
    assert [event["name"] for event in in_step if event.get("cat") == "step"] == ["step 1"]
    assert min(event["ts"] for event in in_step if event["ph"] == "C") >= second["ts"]

    marks = json.loads(memoir("show", "--json", samples / "training").stdout)["marks"]
    found = [event for event in chrome(memoir, samples / "training") if event["ph"] == "i" and event["name"] != "out of memory"]
    assert len(marks) == 2 and [(event["name"], round(event["ts"] * 1000)) for event in found] == [(mark["name"], mark["time_ns"]) for mark in marks]


@needs_protos
@pytest.mark.parametrize("sample", ["training", "odd_names", "ranks", "losses"])
def test_who_holds_the_peak_is_a_heap(memoir, samples, tmp_path, sample):
    """Each device's heap holds its peak, by the stacks, or modules and operators, that export collapsed has."""
    path = tmp_path / "trace.pftrace"
    assert memoir("export", "perfetto", samples / sample, "-o", path).returncode == 0
    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(path.read_bytes())
    named = [packet.track_descriptor.process for packet in trace.packet if packet.track_descriptor.process.pid]
    ranks = {process.pid: int(process.process_name.partition(":")[0].removeprefix("rank ")) for process in named}
    heaps = [packet for packet in trace.packet if packet.HasField("profile_packet")]
    devices = {(row["rank"], row["device"]): row for row in json.loads(memoir("show", "--json", samples / sample).stdout)["devices"] if row["peak_allocated_bytes"]}
    assert len(heaps) == len(devices) > 0
    for packet in heaps:
        dump, = packet.profile_packet.process_dumps
        rank = ranks[dump.pid]
        device = devices.pop((rank, dump.heap_name))
        assert sum(sample.self_allocated - sample.self_freed for sample in dump.samples) == device["peak_allocated_bytes"]
        assert packet.timestamp == dump.timestamp == device["peak_time_ns"]
        names = {entry.iid: entry.str.decode() for entry in packet.interned_data.function_names}
        frames = {frame.iid: names[frame.function_name_id] for frame in packet.interned_data.frames}
        mappings = {mapping.iid for mapping in packet.interned_data.mappings}
        assert {frame.mapping_id for frame in packet.interned_data.frames} <= mappings
        stacks = {stack.iid: tuple(frames[frame] for frame in stack.frame_ids) for stack in packet.interned_data.callstacks}
        held = {stacks[sample.callstack_id]: sample.self_allocated - sample.self_freed for sample in dump.samples}
        collapsed = memoir("export", "collapsed", "--device", dump.heap_name, "--rank", rank, samples / sample).stdout.splitlines()
        assert sorted(size for size in held.values() if size) == sorted(int(line.rpartition(" ")[2]) for line in collapsed)


def kineto(base_ns, *events):
    return json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "totalGlobalMem": 5}], "baseTimeNanoseconds": base_ns,
                       "traceEvents": list(events), "traceName": "a ] } \" name"}, indent=2)


# From 1970 to 2065: samples begin a second after 1970.
ALWAYS = [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 7, "tid": 7, "ts": -1e12, "dur": 3e15, "args": {"pid": 99, "shape": [[2, 2], []]}},
          {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "ts": 0, "args": {"name": "python"}}]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("sample", ["training", "ranks", "odd_names"])
def test_a_trace_of_the_profiler_gets_it_besides(memoir, samples, tmp_path, sample, packed):
    """The profiler's part is unchanged; Memoir's part has times of its clock since 1970, and separate processes."""
    trace = tmp_path / ("trace.json.gz" if packed else "trace.json")
    base_ns = 1_000_000_000_000_000
    text = kineto(base_ns, *ALWAYS).encode()
    trace.write_bytes(gzip.compress(text) if packed else text)
    done = memoir("export", "chrome", "--merge", trace, samples / sample)
    assert done.returncode == 0, done.stderr
    merged = json.loads(done.stdout)
    assert merged["traceName"] == "a ] } \" name" and merged["traceEvents"][:len(ALWAYS)] == ALWAYS
    added, alone = merged["traceEvents"][len(ALWAYS):], chrome(memoir, samples / sample)
    assert len(added) == len(alone) > 0
    shifts = {round((event["ts"] - before["ts"]) * 1000) for event, before in zip(added, alone, strict=True)}
    most, least = max(shifts), min(shifts)
    assert most - least < 1000, "a double has parts of a microsecond of such times"
    assert least == pytest.approx(10**9 - base_ns, abs=1000), "samples begin a second after 1970"
    assert 7 not in {event["pid"] for event in added}
    assert all(event["args"]["name"].startswith("Memoir, ") for event in added if event.get("name") == "process_name")


def test_a_trace_without_events(memoir, samples, tmp_path, one_line):
    trace = tmp_path / "trace.json"
    missing = one_line(memoir("export", "chrome", "--merge", trace, samples / "training"))
    assert f"cannot read {trace}: No such file or directory" in missing
    assert f"cannot read {tmp_path}: Is a directory" in one_line(memoir("export", "chrome", "--merge", tmp_path, samples / "training"))
    trace.write_text(kineto(0, *ALWAYS))
    assert "is the trace to merge: give another file" in one_line(memoir("export", "chrome", "--merge", trace, samples / "training", "-o", trace))
    assert trace.read_text() == kineto(0, *ALWAYS)
    trace.write_text(kineto(0))
    assert "it has no event with a time" in one_line(memoir("export", "chrome", "--merge", trace, samples / "training"))


@pytest.mark.parametrize("text, expected", [
    ("", "invalid JSON at byte"),
    ("{", "invalid JSON at byte"),
    ("[1, 2]", 'it has no "traceEvents"'),
    ('{"traceEvents": [{"ph": "X", "pid": 7, "ts": 12}]}', "does not contain the time at which it was made"),
    (kineto(10**18, {"ph": "X", "pid": 7, "ts": 5.5, "dur": 1}), "which has no event in its time: merge a trace of the same run"),
    (kineto(4 * 10**18, {"ph": "X", "pid": 7, "ts": 5.5, "dur": 1}), "which has no event in its time: merge a trace of the same run"),
    (kineto(-5, {"ph": "X", "pid": -7, "ts": -1e300, "dur": 1e300}), "it has no event with a time"),
    ("\x1f\x8b\x08", "end too early"),
    ("[" * 100_000, "invalid JSON at byte"),
], ids=range(9))
def test_what_is_no_trace_of_the_run_is_refused(memoir, samples, tmp_path, one_line, text, expected):
    trace, out = tmp_path / "trace.json", tmp_path / "merged.json"
    trace.write_bytes(text.encode("latin-1"))
    done = memoir("export", "chrome", "--merge", trace, samples / "training", "-o", out)
    assert done.returncode == 1 and expected in one_line(done)
    assert not out.exists()
    assert "--merge works only with chrome" in one_line(memoir("export", "perfetto", "--merge", trace, samples / "training", "-o", out))
