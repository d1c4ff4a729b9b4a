"""torch.profiler inside a recorded program reports exactly what it reports alone."""

import json
import subprocess
import sys

import pytest

PROGRAM = '''
import json, sys, torch
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
optimizer = torch.optim.AdamW(model.parameters())
before = torch.randn(8, 16)
losses = []
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True, record_shapes=True) as profile:
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(before * 2).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    del before
profile.export_chrome_trace(sys.argv[1] + ".trace")
trace = json.load(open(sys.argv[1] + ".trace"))["traceEvents"]
memory = [e["args"]["Bytes"] for e in sorted((e for e in trace if e.get("name") == "[memory]"), key=lambda e: e["args"]["Ev Idx"])]
table = [[e.key, e.count, e.cpu_memory_usage, e.self_cpu_memory_usage, str(e.input_shapes)] for e in profile.key_averages(group_by_input_shape=True)]
json.dump({"memory": memory, "table": sorted(table), "losses": losses}, open(sys.argv[1], "w"))
'''


def run(command, program, out):
    done = subprocess.run([*command, sys.executable, program, out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text())


def test_same_report(tree, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    alone = run([], program, tmp_path / "alone")
    capture = tmp_path / "capture"
    recorded = run([tree / "bin" / "memoir", "run", "-q", "-o", capture, "--"], program, tmp_path / "recorded")
    assert len(alone["memory"]) > 100 and any(size < 0 for size in alone["memory"])
    assert recorded == alone

    shown = subprocess.run([tree / "bin" / "memoir", "show", "--json", capture], capture_output=True, text=True)
    operators = {row["name"]: row for row in json.loads(shown.stdout)["operators"]}
    assert operators["aten::linear"]["count"] == 6      # and Memoir recorded the same program


MERGED = '''
import gzip, sys, time, torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
def work(name):
    with torch.profiler.record_function(name):
        model(torch.randn(8, 16)).sum().backward()
        time.sleep(0.02)
work("before")
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
    for i in range(5):
        work(f"part {i}")
work("after")
profile.export_chrome_trace(sys.argv[1])
'''


def test_merged_into_its_trace(tree, tmp_path):
    """In the merged trace, what both recorded is at one time: each range's middle of Memoir's is in the profiler's."""
    program, trace, capture = tmp_path / "program.py", tmp_path / "trace.json.gz", tmp_path / "capture"
    program.write_text(MERGED)
    memoir = tree / "bin" / "memoir"
    subprocess.run([memoir, "run", "-q", "-o", capture, "--", sys.executable, program, trace], check=True, capture_output=True)
    merged = tmp_path / "merged.json"
    subprocess.run([memoir, "export", "chrome", "--merge", trace, capture, "-o", merged], check=True, capture_output=True)
    own, begun, ranges, counters = {}, {}, {}, 0
    for event in json.loads(merged.read_text())["traceEvents"]:
        if event.get("cat") == "user_annotation" and event["name"].startswith("part "):
            own[event["name"]] = event["ts"], event["ts"] + event["dur"]
        thread = event.get("pid"), event.get("tid")
        if event["ph"] == "B":
            begun.setdefault(thread, []).append(event)
        elif event["ph"] == "E":
            begin = begun[thread].pop()
            if begin["cat"] == "user range":
                ranges[begin["name"]] = (begin["ts"] + event["ts"]) / 2
        counters += event["ph"] == "C"
    parts = [f"part {i}" for i in range(5)]
    assert sorted(own) == parts and sorted(ranges) == parts, "what was before and after the profiler is not in it"
    for name in parts:
        begin, end = own[name]
        assert begin < ranges[name] < end
    assert counters > 20
