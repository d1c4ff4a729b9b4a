"""memoir run --simulate: every view names the simulated device; a request that cannot be simulated is refused first."""

import json
import subprocess
import sys

import pytest

PROGRAM = '''
import torch
layer = torch.nn.Linear(256, 256).cuda()
layer(torch.randn(8, 256).cuda()).sum().backward()
print(torch.cuda.get_device_name(), torch.cuda.device_count(), torch.cuda.mem_get_info()[1])
'''
DEVICE = "NVIDIA L4 (l4) with 8.00 GiB"


def memoir(tree, *arguments):
    return subprocess.run([tree / "bin" / "memoir", *map(str, arguments)], capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def recorded(tree, tmp_path_factory):
    """(the finished run, its capture)"""
    capture = tmp_path_factory.mktemp("simulated") / "capture"
    done = memoir(tree, "run", "-o", capture, "--simulate", "l4", "--sim-memory", "8GiB", "--sim-devices", 2, "--", sys.executable, "-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    return done, capture


def test_the_program_sees_the_card(recorded):
    assert recorded[0].stdout.split() == ["NVIDIA", "L4", "2", str(8 << 30)]


def test_the_summary_of_the_run_says_so(recorded):
    assert f"on a SIMULATED GPU: {DEVICE}" in " ".join(recorded[0].stderr.replace("memoir: ", "").split())


@pytest.mark.parametrize("view", [(), ("--by", "leaf"), ("--at", "peak"), ("--over", "time"), ("--tree",)])
def test_every_view_says_so(tree, recorded, view):
    text = memoir(tree, "show", *view, recorded[1])
    assert text.returncode == 0 and "SIMULATED GPU" in text.stdout, text
    report = json.loads(memoir(tree, "show", "--json", *view, recorded[1]).stdout)
    assert [process["simulated_device"] for process in report["processes"]] == [DEVICE]


def test_exported_events_say_so(tree, recorded):
    first = memoir(tree, "export", "events", recorded[1]).stdout.splitlines()[0]
    assert json.loads(first)["simulated_device"] == DEVICE


def test_operators_are_recorded(tree, recorded):
    report = json.loads(memoir(tree, "show", "--json", recorded[1]).stdout)
    assert {"aten::linear", "aten::randn"} <= {row["name"] for row in report["operators"]}


def test_a_real_run_says_nothing(tree, tmp_path):
    done = memoir(tree, "run", "-o", tmp_path / "capture", "--", sys.executable, "-c", "import torch; torch.ones(3)")
    report = json.loads(memoir(tree, "show", "--json", tmp_path / "capture").stdout)
    assert "SIMULATED" not in done.stderr and [p["simulated_device"] for p in report["processes"]] == [""]


@pytest.mark.parametrize("options, words", [
    (("--simulate", "h10"), "--simulate: unknown card h10; did you mean h100?; known are h100, "),
    (("--sim-memory", "8GiB"), "no simulated GPU: add --simulate CARD"),
    (("--simulate", "h100", "--sim-profiles", "/no/such/file"), "--sim-profiles: cannot read /no/such/file"),
    (("--simulate", "h100", "--sim-devices", "two"), "--sim-devices=two: expected a whole number"),
    (("--simulate", "h100", "--sim-devices", "65"), "--sim-devices=65: expected 1 to 64"),
    (("--simulate", "h100", "--sim-memory", "lots"), "--sim-memory=lots: expected a size such as 512MiB, 2.4GiB or plain bytes"),
    (("--simulate", "h100", "--sim-memory", "600MiB"), "--sim-memory=600.0 MiB: expected 621.0 MiB (the context of h100 and one block) to 4.00 TiB"),
    (("--simulate", "h100", "--sim-memory", "5TiB"), "--sim-memory=5.00 TiB: expected 621.0 MiB"),
])
def test_bad_options_are_refused_before_anything_starts(tree, options, words):
    done = memoir(tree, "run", *options, "--", "echo", "started")
    assert done.returncode == 2 and done.stdout == "" and words in done.stderr.splitlines()[0], done


def test_exit_code_passes_through(tree, tmp_path):
    done = memoir(tree, "run", "-q", "-o", tmp_path / "capture", "--simulate", "t4", "--", sys.executable, "-c",
                  "import torch; torch.empty(1 << 40, dtype=torch.uint8, device='cuda')")
    assert done.returncode == 1 and "OutOfMemoryError" in done.stderr and "14.56 GiB" in done.stderr


def test_a_launcher_gets_a_device_for_each_process(tree, tmp_path):
    launcher = tmp_path / "torchrun"
    launcher.write_text('#!/bin/sh\necho "$MEMOIR_SIM_DEVICES"\n')
    launcher.chmod(0o755)
    for options, expected in [((), "4"), (("--sim-devices", 2), "2")]:
        done = memoir(tree, "run", "-o", tmp_path / "capture", "--simulate", "l4", "--sim-memory", "2.4GiB", *options, "--", launcher, "--nproc-per-node", 4, "x.py")
        assert done.stdout.strip() == expected, done


def test_the_last_line_says_how_many_devices_were_needed(tree, tmp_path):
    for simulated, words in [(1, "but 1 was simulated"), (2, "but 2 were simulated")]:
        done = memoir(tree, "run", "-o", tmp_path / "capture", "--simulate", "l4", "--sim-devices", simulated, "--", sys.executable, "-c",
                      "import torch; torch.cuda.set_device(3)")
        assert done.returncode == 1 and done.stderr.splitlines()[-1] == f"memoir: the program needs 4 GPUs, {words}; add --sim-devices 4 to memoir run", done.stderr
    assert not (tmp_path / "capture/.missing-devices").exists()
    done = memoir(tree, "run", "-o", tmp_path / "capture", "--simulate", "l4", "--", sys.executable, "-c",
                  "import os; os.environ['LOCAL_WORLD_SIZE'] = '8'; import torch; torch.cuda.set_device(1)")
    assert "add --sim-devices 8 to memoir run" in done.stderr.splitlines()[-1], done.stderr
