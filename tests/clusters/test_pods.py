"""The installed tree in the pods of examples/cluster, whose environment is reproduced here: the capture is right, or one line gives the reason."""

import json
import pathlib
import subprocess
import time

import pods
import pytest
from manifests import EXAMPLES, documents, templates

PROGRAM = """
import os, sys, torch
kept = [torch.ones(250_000) for _ in range(4)]
for _ in range(10):
    torch.add(kept[0], 1)
print(f"ran {os.getuid()}\\n", end="", flush=True)
"""
LAYER = """
import torch
layer = torch.nn.Linear(256, 256)
optimizer = torch.optim.AdamW(layer.parameters())
for _ in range(3):
    layer(torch.ones(64, 256)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print("trained")
"""
SHM = 64 << 20  # Docker's and containerd's /dev/shm, where a pod names no other
ONE_MIB = 1 << 20


def pod_of(name):
    return next(templates(documents(EXAMPLES / name)))


@pytest.fixture(scope="module", autouse=True)
def _containers_are_possible(tmp_path_factory):
    done = pods.run(tmp_path_factory.mktemp("probe"), {"image": pods.IMAGE, "environment": {}, "command": ["/usr/bin/true"], "filter": str(pods.SECCOMP)})
    if done.returncode == 125:
        pytest.skip(f"no containers without an engine here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "train.py").write_text(PROGRAM)
    return {"path": "/workspace", "from": str(folder), "read_only": True}


@pytest.fixture
def memoir(tree):
    """The tree where an init container would have put it."""
    return {"path": "/memoir", "from": str(tree), "read_only": True}


@pytest.fixture
def bare(tmp_path, memoir, workspace):
    """bare(mounts, **more of the specification): the program under `memoir run` in a container without a manifest; its capture is in tmp_path/captures."""
    captures = {"path": "/captures", "from": str(pods.volume_folder(tmp_path / "captures"))}

    def bare(mounts, command=(), **more):
        command = command or ["/memoir/bin/memoir", "run", "-q", "-o", "/captures/train", "--", str(pods.PYTHON), "/workspace/train.py"]
        return pods.run(tmp_path, {"image": pods.IMAGE, "filter": str(pods.SECCOMP), "environment": {"PATH": "/usr/bin"}, "command": command,
                                   "mounts": [memoir, workspace, captures, *mounts], **more})

    return bare


def shown(tree, capture):
    done = subprocess.run([tree / "bin" / "memoir", "show", "--json", capture], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def is_right(tree, capture):
    """The capture has PROGRAM's operators and peak."""
    report = shown(tree, capture)
    counts = {row["name"]: row["count"] for row in report["operators"]}
    assert (counts["aten::ones"], counts["aten::add.Tensor"]) == (4, 10)
    peak, = (device["peak_allocated_bytes"] for device in report["devices"])
    return 5_000_000 <= peak < 5_000_100  # numbers are tensors of a few bytes


PROOF = """
import ctypes, os, pathlib, pwd
status = dict(line.split(":\\t", 1) for line in pathlib.Path("/proc/self/status").read_text().splitlines() if ":\\t" in line)
def refused(function, *arguments):
    try:
        function(*arguments)
    except (OSError, KeyError) as problem:
        return type(problem).__name__
libc = ctypes.CDLL(None, use_errno=True)
print(os.getuid(), os.getpid(), [status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp")])
print([refused(pwd.getpwuid, os.getuid()), refused(open, "/file", "w"), refused(open, "/usr/file", "w"), refused(open, "/memoir/file", "w"),
       refused(open, "/proc/self/mem", "r+b"), refused(open, "/proc/sys/vm/swappiness", "w"), refused(os.listdir, "/home")])
print(libc.unshare(0x10000000), ctypes.get_errno(), libc.syscall(298, None, 0, -1, -1, 0), ctypes.get_errno())   # perf_event_open
print(os.statvfs("/dev/shm").f_blocks * os.statvfs("/dev/shm").f_frsize, "HOME" in os.environ)
"""


def test_the_container_is_what_it_says(bare):
    """Proves that the other tests test something: more rights than a restricted pod's are refused here."""
    done = bare([{"path": "/dev/shm", "size": SHM}], [str(pods.PYTHON), "-c", PROOF], writes=["/captures", "/dev"])
    no_capabilities = "'0000000000000000', " * 5
    assert done.stdout.splitlines() == [f"10001 1 [{no_capabilities}'1', '2']", str(["KeyError", *["OSError"] * 3, "PermissionError", "OSError", "FileNotFoundError"]),
                                        "-1 1 -1 1", f"{SHM} False"], done


def test_the_job_as_it_is_written(tree, workspace, tmp_path):
    """Init container, then training with an optimizer, with the variables, volumes and user of job.yaml."""
    pathlib.Path(workspace["from"], "train.py").write_text(LAYER)
    pod = pods.Pod(tmp_path, pod_of("job.yaml"))
    copied = pod.run("memoir", mounts=[{"path": "/opt/memoir", "from": str(tree), "read_only": True}])
    assert (copied.returncode, copied.stderr) == (0, "")
    done = pod.run("train", mounts=[workspace])
    assert (done.returncode, done.stdout) == (0, "trained\n"), done.stderr
    assert all(line.startswith("memoir: ") for line in done.stderr.splitlines()) and "lower it" not in done.stderr
    assert done.stderr.startswith("memoir: train.py, torch ") and "3 optimizer steps" in done.stderr
    categories = shown(tree, tmp_path / "captures" / "train")
    assert {row["name"]: row["count"] for row in categories["operators"]}["aten::linear"] == 3


def test_all_limits_at_once(tree, bare, tmp_path):
    """64 MiB of shared memory, few descriptors, no locked memory, 6 GiB of addresses, and no write to /proc, so not to /proc/self/mem either."""
    done = bare([{"path": "/dev/shm", "size": SHM}, {"path": "/tmp", "size": ONE_MIB}], writes=["/captures", "/dev", "/dev/shm", "/tmp"],
                limits={"NOFILE": 64, "MEMLOCK": 0, "AS": 6 << 30, "CORE": 0})
    assert (done.returncode, done.stdout, done.stderr) == (0, "ran 10001\n", "")
    assert is_right(tree, tmp_path / "captures" / "train")


def test_neither_shared_memory_nor_proc(tree, bare, tmp_path):
    """The ring is in /tmp; torch's cpuinfo complains about /proc, Memoir does not."""
    done = bare([{"path": "/tmp", "size": SHM}], proc=False)
    assert (done.returncode, done.stdout) == (0, "ran 10001\n")
    assert "memoir" not in done.stderr
    assert is_right(tree, tmp_path / "captures" / "train")


ONE_LINE = {
    "nowhere to put the ring": ([], {}, "memoir: not recording: no folder for the ring: "),
    "files of a MiB": ([{"path": "/dev/shm", "size": SHM}], {"limits": {"FSIZE": ONE_MIB}}, "memoir: not recording: no folder for the ring: "),
    "captures that cannot be written": ([{"path": "/captures", "size": SHM, "read_only": True}, {"path": "/dev/shm", "size": SHM}], {},
                                        "memoir: cannot record into /captures/train: Read-only file system; "),
}


@pytest.mark.parametrize("mounts, more, says", ONE_LINE.values(), ids=ONE_LINE)
def test_one_line_and_the_program_runs(bare, mounts, more, says):
    done = bare(mounts, **more)
    assert (done.returncode, done.stdout) == (0, "ran 10001\n"), done.stderr
    line, = done.stderr.splitlines()
    assert line.startswith(says)


def test_two_ranks_in_64_mib(tree, bare, tmp_path):
    """The second ring does not fit into the rest: it is smaller, or in /tmp."""
    ranks = "for rank in 0 1; do RANK=$rank WORLD_SIZE=2 \"$@\" & done; wait"
    done = bare([{"path": "/dev/shm", "size": SHM}, {"path": "/tmp", "size": SHM}],
                ["/memoir/bin/memoir", "run", "-o", "/captures/train", "--", "/bin/sh", "-c", ranks, "ranks", str(pods.PYTHON), "/workspace/train.py"])
    assert (done.returncode, done.stdout) == (0, "ran 10001\n" * 2), done.stderr
    assert "ranks 0-1 of 2" in done.stderr
    counts = {row["name"]: row["count"] for row in shown(tree, tmp_path / "captures" / "train")["operators"]}
    assert counts["aten::add.Tensor"] == 20


def test_two_pods_record_into_one_folder(tree, workspace, memoir, tmp_path):
    """Process numbers are the same in both, host names are not."""
    pods.volume_folder(tmp_path / "captures" / "train")
    for process in range(1, 20):  # as if it tried at this very moment whether it may write there
        for name in (".probe-", ".memoir-probe-"):
            (tmp_path / "captures" / "train" / f"{name}{process}").touch()
    processes = []
    for rank in range(2):
        (tmp_path / f"pod{rank}").mkdir()
        pod = pods.Pod(tmp_path / f"pod{rank}", pod_of("pytorchjob.yaml"), hostname=f"train-worker-{rank}")
        pod.volumes["captures"] = {"from": str(pods.volume_folder(tmp_path / "captures"))}
        pod.volumes["memoir"] = {"from": memoir["from"]}
        container = pod.container("pytorch")
        specification = pod.specification("pytorch", [workspace], {"RANK": str(rank), "WORLD_SIZE": "2"}, [*container["command"], "python", "/workspace/train.py"])
        processes.append(pods.start(tmp_path / f"pod{rank}", specification))
    done = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], done
    assert [output for output, _ in done] == ["ran 10001\n"] * 2
    assert "cannot record" not in done[0][1] and done[1][1] == "", "only rank 0 writes to the terminal"
    report = shown(tree, tmp_path / "captures" / "train")
    assert {process["rank"]: process["host"] for process in report["processes"]} == {0: "train-worker-0", 1: "train-worker-1"}


def test_a_container_that_is_killed_and_started_again(tree, workspace, memoir, tmp_path):
    """As at the limit of memory: all processes die at once; the next container of the pod finds the ring, and merges it."""
    pathlib.Path(workspace["from"], "train.py").write_text(PROGRAM + "import time; time.sleep(600)\n")
    pod = pods.Pod(tmp_path, pod_of("job.yaml"), kept=["ring"])
    pod.volumes["memoir"] = {"from": memoir["from"]}
    process = pods.start(tmp_path, pod.specification("train", [workspace]))
    assert process.stdout.readline() == "ran 10001\n", process.stderr.read()
    time.sleep(0.2)
    pods.kill(process)
    assert list((tmp_path / "ring").iterdir())
    done = pod.run("train", command=["/memoir/bin/memoir", "show", "--json", "/captures/train"])
    assert done.returncode == 0, done.stderr
    assert not list((tmp_path / "ring").iterdir())
    assert is_right(tree, tmp_path / "captures" / "train")


def test_a_pod_that_is_deleted(tree, workspace, memoir, tmp_path):
    """SIGTERM reaches process 1 of the container, which is `memoir run`: it passes the signal on, and all events are in the capture."""
    pathlib.Path(workspace["from"], "train.py").write_text(PROGRAM + "import time; time.sleep(600)\n")
    pod = pods.Pod(tmp_path, pod_of("job.yaml"))
    pod.volumes["memoir"] = {"from": memoir["from"]}
    process = pods.start(tmp_path, pod.specification("train", [workspace]))
    assert process.stdout.readline() == "ran 10001\n", process.stderr.read()
    process.terminate()
    _, errors = process.communicate(timeout=300)
    said = " ".join(errors.split())
    assert process.returncode == 128 + 15 and "the newest events of process" in said and "were merged from" in said and "memoir: train.py, torch " in errors, errors
    assert is_right(tree, tmp_path / "captures" / "train")
