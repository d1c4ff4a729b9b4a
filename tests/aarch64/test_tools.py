"""The tools say on aarch64 what they say here, byte for byte: of samples, of recordings made here, and of rings that a recording left."""

import filecmp
import json
import shutil
import signal
import subprocess
import sys

import pytest
from conftest import emulated, qemu, run

PROGRAM = """
import sys, torch
width, device = int(sys.argv[1]), "cuda"
model = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.LayerNorm(width), torch.nn.Linear(width, 10)).to(device)
optimizer = torch.optim.AdamW(model.parameters())
for step in range(3):
    model(torch.randn(64, width, device=device)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


@pytest.fixture(scope="module")
def recordings(tree, tmp_path_factory):
    """Two recordings of a program that trains on the simulated GPU, the second with more memory and with frames of C++."""
    folder = tmp_path_factory.mktemp("recordings")
    (folder / "train.py").write_text(PROGRAM)
    for name, width, *options in (("before", 64), ("after", 512, "--stacks", "native")):
        run(tree / "bin" / "memoir", "run", "-q", "--simulate", "h100", *options, "-o", folder / name, "--", sys.executable, folder / "train.py", width)
    return folder


@pytest.fixture(scope="module")
def both(tree, aarch64_tree):
    """both(arguments...): exit code, stdout and stderr of the two; they are the same."""

    def both(*arguments, cwd=None):
        answers = []
        for program in ([tree / "bin" / "memoir"], qemu(aarch64_tree / "bin" / "memoir")):
            done = subprocess.run([*program, *arguments], capture_output=True, stdin=subprocess.DEVNULL, check=False, cwd=cwd)
            answers.append((done.returncode, done.stdout, done.stderr))
        assert answers[0] == answers[1], arguments
        return answers[0]

    return both


@pytest.mark.parametrize("arguments", [["show", "--json"], ["show"], ["show", "--json", "--by", "module"], ["check", "--json"]], ids=" ".join)
def test_of_every_sample(both, samples, arguments):
    for sample in sorted(samples.iterdir()):
        code, said, trouble = both(*arguments, sample)
        assert said or (code != 0 and trouble), sample.name


@pytest.mark.parametrize("arguments", [["show"], ["show", "--json"], ["show", "--by", "operator"], ["show", "--by", "category,module"], ["show", "--by", "line"],
                                       ["show", "--by", "stack", "--json"], ["show", "--over", "time"], ["check"], ["check", "--json"], ["check", "leaks", "--json"],
                                       ["explain", "--json", "0.weight"], ["show", "--brief"], ["export", "events"]], ids=" ".join)
def test_of_recordings(both, recordings, arguments):
    verb, *options = arguments
    subject = [options.pop()] if verb == "explain" else []
    kind = [options.pop()] if verb == "export" else []
    for name in ("before", "after"):
        code, said, _ = both(verb, *kind, *options, recordings / name, *subject)
        assert code in (0, 1) and said


@pytest.mark.parametrize("arguments", [[], ["--json"], ["--by", "category,module"], ["--by", "line", "--json"]], ids=" ".join)
def test_difference(both, recordings, arguments):
    code, said, _ = both("diff", *arguments, recordings / "before", recordings / "after")
    assert code in (0, 1) and said


@pytest.mark.parametrize("kind", ["perfetto", "pprof", "torch-snapshot", "arrow", "parquet", "sqlite"])
def test_exported_files(tree, aarch64_tree, recordings, tmp_path, kind):
    names = {"here": [tree / "bin" / "memoir"], "there": qemu(aarch64_tree / "bin" / "memoir")}
    for name, program in names.items():
        run(*program, "export", kind, recordings / "after", "-o", tmp_path / name)
    assert filecmp.dircmp(tmp_path / "here", tmp_path / "there").diff_files == [] if (tmp_path / "here").is_dir() else \
        filecmp.cmp(tmp_path / "here", tmp_path / "there", shallow=False)


def test_report(tree, aarch64_tree, recordings, tmp_path):
    pages = []
    for program in ([tree / "bin" / "memoir"], qemu(aarch64_tree / "bin" / "memoir")):
        run(*program, "report", recordings / "after", "-o", tmp_path / f"{len(pages)}.html")
        pages.append((tmp_path / f"{len(pages)}.html").read_bytes())
    assert pages[0] == pages[1]


def test_writes_the_same_samples(build, samples, tmp_path):
    emulated(build("memoir_write_samples") / "tests" / "golden" / "memoir_write_samples", tmp_path)
    files = [path.relative_to(samples) for path in samples.rglob("*") if path.is_file()]
    same, different, absent = filecmp.cmpfiles(samples, tmp_path, files, shallow=False)
    assert len(same) == len(files) > 20 and not different and not absent


KILLED = """
import os, signal, sys, torch, memoir
memoir.start(sys.argv[1], ring_dir=sys.argv[2], ring_size="2MiB")
kept = [torch.add(torch.ones(1000), 1) for _ in range(50)]
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_ring_that_was_left(tree, aarch64_tree, tmp_path):
    """memoir-drain reads the ring of a process that was killed on the other machine."""
    capture, rings = tmp_path / "capture", tmp_path / "rings"
    (tmp_path / "killed.py").write_text(KILLED)
    rings.mkdir()
    done = subprocess.run([sys.executable, tmp_path / "killed.py", capture, rings], check=False,
                          env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tree / "lib" / "memoir" / "python")})
    assert done.returncode == -signal.SIGKILL
    ring, = rings.iterdir()
    kept = tmp_path / "kept"
    shutil.copytree(capture, kept / "capture")
    shutil.copytree(rings, kept / "rings")
    answers = []
    for program in ([tree / "libexec" / "memoir" / "memoir-drain"], qemu(aarch64_tree / "libexec" / "memoir" / "memoir-drain")):
        shutil.rmtree(capture)
        shutil.copytree(kept / "capture", capture)
        shutil.copytree(kept / "rings", rings, dirs_exist_ok=True)
        before = {path.name for path in capture.rglob("*")}
        run(*program, ring)
        assert not ring.exists() and {path.name for path in capture.rglob("*")} > before
        answers.append(json.loads(run(tree / "bin" / "memoir", "show", "--json", capture)))
    assert answers[0] == answers[1]
    assert {row["name"]: row["count"] for row in answers[0]["operators"]}["aten::add.Tensor"] == 50
