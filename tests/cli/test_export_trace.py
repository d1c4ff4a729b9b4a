"""memoir export perfetto and chrome: the nodes of memoir export tree as slices, and what devices hold as counters. Perfetto's is read with the published protos."""

import collections
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


@pytest.mark.parametrize("sample", SAMPLES)
def test_slices_are_the_trees_nodes(memoir, samples, sample):
    nodes = [json.loads(line) for line in memoir("export", "tree", "--no-memory", samples / sample).stdout.splitlines()]
    begins = [event for event in chrome(memoir, samples / sample) if event["ph"] == "B"]
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
