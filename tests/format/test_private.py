"""The facts about a program in its recording: nothing of its arguments and environment but the list in docs/security.md, readable only by the owner."""

import json
import os
import subprocess
import sys

import pytest

from rewritten import chunks_of, payload_of

PROGRAM = '''
import os, stat, sys, torch
layer = torch.nn.Linear(8, 8)
layer(torch.ones(1, 8)).sum().backward()
rings = [path for path in os.listdir("/dev/shm") if path.startswith(f"memoir-ring-{os.getpid()}-")]
print(*(oct(stat.S_IMODE(os.stat("/dev/shm/" + ring).st_mode)) for ring in rings))
'''
SECRETS = ("argument-4f1c", "variable-9b2e")


def everything(schema, capture):
    """All bytes of a capture, with those inside the frames of zstd."""
    for part in capture.glob("*.memoir"):
        yield part.name.encode() + part.read_bytes()
        yield from (payload_of(schema, chunk).SerializeToString() for chunk in chunks_of(schema, part) if chunk.payload)


@pytest.fixture
def recorded(tree, tmp_path):
    """The capture and the finished process of a program with secrets, under a umask that would show them to all."""
    (tmp_path / "program.py").write_text(PROGRAM)
    argument, variable = SECRETS
    environment = {**os.environ, "API_TOKEN": variable, "MEMOIR_RING_DIR": "/dev/shm"}
    command = [tree / "bin" / "memoir", "run", "-q", "-o", "capture", "--", sys.executable, "program.py", "--token", argument]
    done = subprocess.run(command, cwd=tmp_path, env=environment, umask=0, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return tmp_path / "capture", done


def test_no_argument_and_no_variable_is_recorded(schema, recorded):
    found = b"".join(everything(schema, recorded[0]))
    assert b"program.py" in found and b"aten::linear" in found   # it is looked at where it would be
    assert not [secret for secret in SECRETS if secret.encode() in found]
    assert b"API_TOKEN" not in found and b"--token" not in found


def test_a_redacted_recording_tells_nothing_of_its_program(schema, recorded, tree, tmp_path):
    done = subprocess.run([tree / "bin" / "memoir", "export", "redacted", recorded[0], "-o", tmp_path / "redacted", "--key", tmp_path / "key"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = b"".join(everything(schema, tmp_path / "redacted"))
    assert b"aten::linear" in found and b"site-packages/torch/nn/modules/linear.py" in found
    assert not [secret for secret in (b"program.py", os.uname().nodename.encode(), str(tmp_path).encode()) if secret in found]


def test_what_is_made_is_for_its_owner_alone(recorded):
    capture, done = recorded
    assert done.stdout.split() == ["0o600"], "the ring, while the program ran"
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in capture.iterdir()}
    assert modes and set(modes.values()) == {"0o600"} and capture.stat().st_mode & 0o777 == 0o700, modes


def test_the_ring_goes_with_its_program(recorded):
    names = [name for name in os.listdir("/dev/shm") if name.startswith("memoir-ring-")]
    left = [name for name in names if str(recorded[0]).encode() in open(f"/dev/shm/{name}", "rb").read(1 << 16)]
    assert not left, "a ring that names the capture"


def test_a_variable_of_a_launcher_shows_where_it_is_no_rank(schema, tree, tmp_path):
    """The one text of the environment in a capture, on the list of docs/security.md."""
    capture = tmp_path / "capture"
    done = subprocess.run([tree / "bin" / "memoir", "run", "-q", "-o", capture, "--", sys.executable, "-c", "import torch; torch.ones(1)"],
                          env={**os.environ, "RANK": "not-a-number", "WORLD_SIZE": "2", "MASTER_ADDR": "secret-host"}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0
    found = b"".join(everything(schema, capture))
    assert b"not-a-number" in found and b"secret-host" not in found


# Variables that programs like to keep secrets in, and those that torch, CUDA, launchers and Memoir look at.
WATCHED = ("AWS_SECRET_ACCESS_KEY AZURE_CLIENT_SECRET HF_TOKEN WANDB_API_KEY OPENAI_API_KEY GITHUB_TOKEN SSH_AUTH_SOCK LD_CANARY PYTHON_CANARY LOGNAME MAIL "
           "MASTER_ADDR MASTER_PORT LOCAL_RANK GROUP_RANK NCCL_DEBUG_CANARY NCCL_SOCKET_IFNAME TORCH_CANARY TORCHELASTIC_CANARY SLURM_JOB_NAME SLURM_JOB_USER "
           "SLURM_NODELIST PMIX_CANARY OMPI_CANARY RAY_CANARY KUBERNETES_SERVICE_HOST CUDA_CANARY NVIDIA_CANARY PYTORCH_CANARY MEMOIR_CANARY HOSTNAME").split()


def test_doctor_lists_what_is_told_and_nothing_else_is(schema, tree, tmp_path):
    """Each variable has a unique value: the values in a capture are on doctor's list, and every fact of that list is in the capture."""
    rings = tmp_path / "rings-canary"
    rings.mkdir()
    told = {"RANK": "3", "WORLD_SIZE": "8", "SLURM_PROCID": "is-canary-of-slurm", "TORCHELASTIC_RESTART_COUNT": "2", "MEMOIR_RING_DIR": str(rings),
            "SLURM_JOB_ID": "job-canary", "SLURM_STEP_ID": "step-canary"}
    canaries = {name: f"canary-of-{name.lower()}" for name in WATCHED}
    environment = {**os.environ, **canaries, **told}
    doctor = subprocess.run([tree / "bin" / "memoir", "doctor", "--json", "--python", sys.executable], env=environment, capture_output=True, text=True)
    lines = {check["subject"]: check["finding"] for check in json.loads(doctor.stdout)["checks"]}
    listed, unset = lines["told: variables"].split("; recorded if set: ")
    assert all(f"{name}={value}" in listed for name, value in told.items()), listed
    assert not any(name in lines["told: variables"].replace(",", " ").replace("=", " ").split() for name in WATCHED)
    assert os.uname().nodename in lines["told: host"]
    (tmp_path / "script.py").write_text("import os, sys, torch; torch.ones(4)")
    done = subprocess.run([tree / "bin" / "memoir", "run", "-q", "-o", tmp_path / "capture", "--", sys.executable, tmp_path / "script.py", "canary-of-argv"],
                          env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = b"".join(everything(schema, tmp_path / "capture"))
    assert b"script.py" in found and str(rings).encode() in found and b"is-canary-of-slurm" in found and b"slurm-job-canary.step-canary/" in found and os.uname().nodename.encode() in found
    assert not [name for name, value in canaries.items() if value.encode() in found]
    assert b"canary-of-argv" not in found
    mine = {**dict.fromkeys(WATCHED, ""), **told}
    others = [name for name, value in os.environ.items() if len(value) > 12 and name not in mine and value.encode() in found and not value.startswith("/")]
    assert not others, others
