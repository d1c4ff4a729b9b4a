"""The processor time and memory of `memoir live`: live_cost.py [--memoir PATH] [--seconds 120] [--percent 2]

Each program trains a transformer under `memoir run` while `memoir live --json` watches it; figures are the watching process's.

  paced    a CPU program of 10 steps a second
  cpu      the same as fast as it goes
  gpu      on a simulated H100, as fast as it goes: no kernel computes, so there are more events a second than on a card
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """
import sys, time, torch
device, seconds, pause = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
torch.set_num_threads(1)
layers = [torch.nn.TransformerEncoderLayer(128, 4, 256, batch_first=True) for _ in range(4)]
model = torch.nn.Sequential(torch.nn.Embedding(1000, 128), *layers, torch.nn.Linear(128, 1000)).to(device)
optimizer = torch.optim.AdamW(model.parameters())
end = time.time() + seconds
while time.time() < end:
    x = torch.randint(0, 1000, (8, 64)).to(device)
    loss = torch.nn.functional.cross_entropy(model(x).reshape(-1, 1000), x.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(pause)
"""
PROGRAMS = {"paced": ("cpu", "0.07", ()), "cpu": ("cpu", "0", ()), "gpu": ("cuda", "0", ("--simulate", "h100"))}


def watched(memoir, name, seconds, percent):
    device, pause, options = PROGRAMS[name]
    with tempfile.TemporaryDirectory(prefix="memoir-benchmark-") as folder:
        capture = pathlib.Path(folder, "capture")
        program = subprocess.Popen([memoir, "run", "-q", *options, "-o", capture, "--", sys.executable, "-c", PROGRAM, device, str(seconds), pause])
        while not list(capture.glob("*.memoir")) and program.poll() is None:
            pass
        with open(pathlib.Path(folder, "lines"), "w+") as lines:
            live = subprocess.Popen([memoir, "live", "--json", "--cpu", str(percent), capture], stdout=lines)
            _, status, used = os.wait4(live.pid, 0)
            program.wait()
            assert status == 0 and program.returncode == 0, name
            lines.seek(0)
            pictures = [json.loads(line)["processes"][0] for line in lines]
    last = pictures[-1]
    rows = [device["rows_step"] for picture in pictures for device in picture["devices"] if device["rows_step"] is not None]
    cpu = used.ru_utime + used.ru_stime
    return {
        "events_per_second": round(last["events"] / last["runs_seconds"]),
        "percent_of_a_core": round(100 * cpu / last["runs_seconds"], 2),
        "ns_per_event": round(1e9 * cpu / last["events"], 1),
        "peak_rss_mib": round(used.ru_maxrss / 1024, 1),
        "read_in_full": last["read_in_full"],
        "steps": last["steps"],
        "steps_with_rows": len(set(rows)),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--memoir", default=ROOT / "build" / "install" / "bin" / "memoir")
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--percent", type=float, default=2)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    arguments = parser.parse_args()
    print(json.dumps({name: watched(arguments.memoir, name, arguments.seconds, arguments.percent) for name in arguments.programs.split(",")}, indent=2))
