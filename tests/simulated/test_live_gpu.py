"""memoir live on a simulated GPU that a leak fills until memory is out."""

import json
import subprocess
import sys
import time

import pytest

LEAKS = """
import time, torch
model = torch.nn.Linear(512, 512).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
kept = []
try:
    while True:
        loss = model(torch.randn(64, 512, device="cuda")).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        kept.append(torch.zeros(1 << 20, device="cuda"))
        time.sleep(0.02)
except torch.OutOfMemoryError:
    time.sleep(2)
"""


def test_a_gpu_that_fills(tree, tmp_path):
    (tmp_path / "leaks.py").write_text(LEAKS)
    capture = tmp_path / "capture"
    command = [tree / "bin" / "memoir", "run", "-q", "--simulate", "h100", "--sim-memory", "2GiB", "-o", capture, "--", sys.executable, tmp_path / "leaks.py"]
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True) as program:
        while not list(capture.glob("*.memoir")):
            assert program.poll() is None, program.stderr.read()
            time.sleep(0.02)
        watched = subprocess.run([tree / "bin" / "memoir", "live", "--json", "--interval", "0.3", capture], capture_output=True, text=True, timeout=250)
        program.communicate(timeout=250)
    assert program.returncode == 0 and watched.returncode == 0, watched.stderr
    seen = [json.loads(line)["processes"][0] for line in watched.stdout.splitlines()]
    devices = [device for process in seen for device in process["devices"] if device["device"] == "cuda:0"]
    foreseen = [device for device in devices if device["growth"]]
    # Its forecast came from the headroom: 4 MiB a step until 2 GiB are used up.
    assert foreseen[0]["growth"]["bytes_per_step"] == pytest.approx(4 << 20, rel=0.01)
    assert foreseen[0]["growth"]["steps_left"] * (4 << 20) <= 2.01 * (1 << 30)
    assert all(device["total_bytes"] == 2 << 30 and device["allocated_bytes"] <= device["reserved_bytes"] for device in devices[1:])
    last = seen[-1]
    assert last["ooms"] == 1 and last["simulated_device"].startswith("NVIDIA H100")
    assert any(finding["kind"] == "out_of_memory" and "in step" in finding["text"] for finding in last["findings"]), last["findings"]
    names = {row["name"] for device in devices for row in device["modules"]}
    assert "Linear" in names, names
