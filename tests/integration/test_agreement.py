"""The Python package, the recorder and the program each read facts of a job from the environment, without shared code: here all three get the same
environments."""

import json
import os
import subprocess
import sys

from recording import run_memoir, show
from test_jobs import ONE_OPERATOR, PLAIN

TORCHELASTIC = {"TORCHELASTIC_RUN_ID": "none"}
SPEAK = [
    {},
    {"RANK": "0"},
    {"RANK": "0", "WORLD_SIZE": "8"},
    {"OMPI_COMM_WORLD_RANK": "0"},
    {"PMI_RANK": "0", "PMI_SIZE": "2"},
    {"PMIX_RANK": "0"},
    {"SLURM_PROCID": "0", "SLURM_NTASKS": "2"},
    {"RANK": "0", "SLURM_PROCID": "3"},
    {"RANK": "", "SLURM_PROCID": "0"},
    {"RANK": "first"},
    {"RANK": "-1"},
    {"RANK": " 1"},
    {"RANK": "4294967296"},
    {"RANK": "00"},
    {"MEMOIR_RANK": "0", "RANK": "1"},
    {**TORCHELASTIC, "SLURM_PROCID": "1"},  # torchrun's agent prints the message if no process has a rank
    {**TORCHELASTIC, "RANK": "0", "SLURM_PROCID": "1", "PMIX_RANK": "1", "PMI_RANK": "1", "OMPI_COMM_WORLD_RANK": "1"},
    {"TORCHELASTIC_RUN_ID": "", "SLURM_PROCID": "0"},
]
SILENT = [
    {"RANK": "1"},
    {"RANK": "007"},
    {"OMPI_COMM_WORLD_RANK": "1", "PMI_RANK": "0"},
    {"PMI_RANK": "1"},
    {"PMIX_RANK": "2", "SLURM_PROCID": "0"},
    {"SLURM_PROCID": "1"},
    {"RANK": "x", "SLURM_PROCID": "1"},
    {"MEMOIR_RANK": "1"},
    {"MEMOIR_RANK": "2", "RANK": "0"},
    {**TORCHELASTIC, "RANK": "1", "SLURM_PROCID": "0"},
    {"TORCHELASTIC_RUN_ID": "", "SLURM_PROCID": "1"},
]

ASKED = '''
import json, os, sys, torch, memoir
from _torch_memoir.processes import _processes
plain = dict(os.environ)
for number, case in enumerate(json.loads(sys.argv[1])):
    for name in set(os.environ) - set(plain):
        del os.environ[name]
    os.environ.update(case, MEMOIR_OUTPT="unknown")
    os.mkdir(str(number))
    open(f"{number}/control", "w").write("perhaps")
    print(f"case {number} {_processes.is_reporting_process()}", file=sys.stderr, flush=True)
    memoir.start(str(number), ring_size="2MiB")
    memoir.stop()
print("case child None", file=sys.stderr, flush=True)
memoir.start("child", ring_size="2MiB", child=True)
'''


def test_who_speaks(tree, tmp_path):
    cases = SPEAK + SILENT
    environment = {**PLAIN, "PYTHONPATH": str(tree / "lib/memoir/python")}
    done = subprocess.run([sys.executable, "-c", ASKED, json.dumps(cases)], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = done.stderr.split("case ")[1:]
    assert len(said) == len(cases) + 1 and "memoir:" not in said.pop()  # a child of another reporting process
    for number, (case, text) in enumerate(zip(cases, said)):
        run = run_memoir(tree, "run", "-o", "nothing", "--", "true", cwd=tmp_path, env={**PLAIN, **case, "MEMOIR_OUTPT": "unknown"})
        answers = {
            "package": text.splitlines()[0] == f"{number} True",
            "recorder": "unknown variable MEMOIR_OUTPT" in text,
            "recorder, of the control file": "contains none of on, off, memory, snapshot and steps N" in text,
            "program": "unknown variable MEMOIR_OUTPT" in run.stderr,
            "program, of the end": "nothing was recorded" in run.stderr,
        }
        assert set(answers.values()) == {case in SPEAK}, (case, answers)


FOLDERS = {
    "memoir-slurm-71.4": {"SLURM_JOB_ID": "71", "SLURM_STEP_ID": "4", "SLURM_PROCID": "1", "SLURM_NTASKS": "2", "SLURM_RESTART_COUNT": "0"},
    "memoir-slurm-72.0.1": {"SLURM_JOB_ID": "72", "SLURM_STEP_ID": "0", "SLURM_PROCID": "0", "SLURM_RESTART_COUNT": "1"},
    "memoir-torchrun-a_b_c": {"TORCHELASTIC_RUN_ID": "a/b c", "RANK": "1", "WORLD_SIZE": "2", "TORCHELASTIC_RESTART_COUNT": "1"},
    "memoir-pmix-prterun-host-9_1": {"PMIX_NAMESPACE": "prterun-host-9@1", "PMIX_RANK": "0"},
    "memoir-torchrun-" + "x" * 64: {"TORCHELASTIC_RUN_ID": "x" * 100, "RANK": "0"},
}
UNNAMED = [
    {"RANK": "1", "WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "none", "SLURM_JOB_ID": "7"},
    {"OMPI_COMM_WORLD_RANK": "0"},
]
FOLDER = '''
import json, os, sys, torch, memoir
plain = dict(os.environ)
for case in json.loads(sys.argv[1]):
    for name in set(os.environ) - set(plain):
        del os.environ[name]
    os.environ.update(case)
    for _ in range(2):
        memoir.start(ring_size="2MiB")
        memoir.stop()
        print(os.path.basename(memoir.output_dir()))
'''


def test_the_folder_of_a_job(tree, tmp_path):
    cases = [*FOLDERS.values(), *UNNAMED]

    def programs():
        done = [run_memoir(tree, "run", "--print-env=json", cwd=tmp_path, env={**PLAIN, **case}) for case in cases]
        return [os.path.basename(json.loads(one.stdout)["MEMOIR_OUTPUT"]) for one in done]

    first = programs()
    assert first[:len(FOLDERS)] == list(FOLDERS)
    done = subprocess.run([sys.executable, "-c", FOLDER, json.dumps(cases)], cwd=tmp_path, capture_output=True, text=True,
                          env={**PLAIN, "PYTHONPATH": str(tree / "lib/memoir/python")})
    recorders = done.stdout.split()
    # Without a name both use the time at which their common parent began: this process.
    assert first[-1].startswith("memoir-20") and recorders[::2][:len(FOLDERS)] == first[:len(FOLDERS)], done.stderr
    # Rank 1 and rank 0 of the unnamed job share a folder; each takes the next one once it has left a capture there.
    assert recorders[-4:] == [first[-1], f"{first[-1]}-2"] * 2
    assert recorders[1::2] == [f"{name}-2" for name in first] and programs() == [f"{name}-3" for name in first]


def test_ranks_that_start_memoir_themselves(tree, tmp_path):
    (tmp_path / "train.py").write_text(ONE_OPERATOR)
    ranks = [subprocess.Popen([tree / "bin/memoir", "run", "--", sys.executable, "train.py"], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
                              env={**PLAIN, "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_PROCID": str(rank), "SLURM_NTASKS": "2"})
             for rank in range(2)]
    said = [rank.communicate()[1] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0, 0]
    assert said[1] == "" and " show memoir-slurm-7.0\n" in said[0] and "already holds" not in said[0]
    report = show(tree, tmp_path / "memoir-slurm-7.0")
    assert report["attempts"] == [{"restart": 0, "world_size": 2, "ranks": [0, 1], "missing_ranks": []}]
