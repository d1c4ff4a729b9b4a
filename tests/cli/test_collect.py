"""memoir collect: files of a job from folders, from hosts by a command or by rsync, and from addresses; what is brought again, and what fails."""

import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def hosts(memoir, samples, tmp_path):
    """The folders of three hosts, with the recordings of a job of many ranks and their summaries, and how many ranks there are."""
    whole = tmp_path / "whole"
    shutil.copytree(samples / "many_ranks", whole)
    assert memoir("summarize", whole).returncode == 0
    ranks = sorted({file.name.split(".")[0] for file in whole.glob("*.memoir")})
    folders = [tmp_path / f"node{i}" for i in range(3)]
    for folder in folders:
        folder.mkdir()
    for file in whole.iterdir():
        if file.suffix in (".memoir", ".memoir-summary"):
            shutil.copy2(file, folders[ranks.index(file.name.split(".")[0]) % 3])
    assert len(ranks) > 8
    return folders, ranks


def names(folder, suffix):
    return sorted(file.name for file in folder.iterdir() if file.suffix == suffix)


def of_all(folders, suffix):
    return sorted(name for folder in folders for name in names(folder, suffix))


def collect(memoir, *arguments, code=0, **variables):
    done = memoir("collect", *arguments, **variables)
    assert done.returncode == code, done.stderr
    return done.stderr


def test_summaries_then_the_ranks_that_are_asked_for(memoir, hosts, tmp_path):
    folders, ranks = hosts
    job = tmp_path / "new" / "job"
    said = collect(memoir, "-o", job, "--ranks", "none", *folders)
    assert names(job, ".memoir-summary") == of_all(folders, ".memoir-summary") and names(job, ".memoir") == []
    assert "from 3 sources" in said and "more: memoir check ranks new/job" in said
    said = collect(memoir, "-o", job, "--ranks", "1,3-4", *folders)
    assert {name.split(".")[0] for name in names(job, ".memoir")} == {"r00001", "r00003", "r00004"} and "ranks 1, 3-4" in said
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in job.iterdir()) and job.stat().st_mode & 0o777 == 0o700
    assert not [file for file in job.iterdir() if file.name.startswith(".")]


def test_the_overview_is_that_of_the_whole_job(memoir, hosts, tmp_path):
    folders, _ = hosts
    collect(memoir, "-o", tmp_path / "job", "--ranks", "none", *folders)
    shown = [memoir("show", "--by", "job", "--json", folder) for folder in (tmp_path / "job", tmp_path / "whole")]
    assert shown[0].stdout.replace(str(tmp_path / "job"), "X") == shown[1].stdout.replace(str(tmp_path / "whole"), "X") and "peak" in shown[0].stdout


def test_all_and_again_only_what_has_grown(memoir, hosts, tmp_path):
    folders, _ = hosts
    job = tmp_path / "job"
    collect(memoir, "-o", job, "--ranks", "all", *folders)
    assert names(job, ".memoir") == of_all(folders, ".memoir")
    kept, grown = names(folders[0], ".memoir")[:2]
    before = (job / kept).stat().st_ino
    with (folders[0] / grown).open("ab") as file:
        file.write(b"more")
    collect(memoir, "-o", job, "--ranks", "all", *folders)
    assert (job / kept).stat().st_ino == before and (job / grown).read_bytes() == (folders[0] / grown).read_bytes()


@pytest.fixture
def rsh(tmp_path):
    """Stands in for ssh, which rsync starts: it drops the host's name."""
    program = tmp_path / "rsh"
    program.write_text('#!/bin/sh\n[ "$1" = gone ] && { echo "ssh: no route to gone" >&2; exit 255; }\nshift\nexec "$@"\n')
    program.chmod(0o755)
    return str(program)


@pytest.mark.skipif(shutil.which("rsync") is None, reason="no rsync here")
def test_hosts_by_rsync(memoir, hosts, rsh, tmp_path):
    folders, _ = hosts
    job = tmp_path / "job"
    sources = [f"{folder.name}:{folder}" for folder in folders]
    for _ in range(2):   # again: which host has which rank is known from summaries that are there already
        collect(memoir, "-o", job, "--ranks", "4,5", *sources, RSYNC_RSH=rsh)
        assert names(job, ".memoir-summary") == of_all(folders, ".memoir-summary")
        assert {name.split(".")[0] for name in names(job, ".memoir")} == {"r00004", "r00005"}
    said = collect(memoir, "-o", tmp_path / "other", *sources[:1], "gone:/x", "--ranks", "none", code=1, RSYNC_RSH=rsh)
    assert "gone:/x: its command ended with " in said and ": ssh: no route to gone" in said and "the same command copies what is missing" in said
    assert names(tmp_path / "other", ".memoir-summary") == names(folders[0], ".memoir-summary")


def test_hosts_by_a_command(memoir, hosts, tmp_path):
    folders, _ = hosts
    job = tmp_path / "a job's"
    command = "set -e; test {host} = node0; cd {folder}; for i in $(cat {patterns}); do cp -p $i {into}; done; ln -s /etc/passwd {into}/r00000.a9.x.memoir-summary; touch {into}/stranger"
    collect(memoir, "-o", job, "--ranks", "none", "--with", command, f"node0:{folders[0]}")
    assert names(job, ".memoir-summary") == names(folders[0], ".memoir-summary") == sorted(os.listdir(job))
    said = collect(memoir, "-o", job, "--with", "echo {into} {what}", "node0:/x", code=1)
    assert "{what} is none of {source}, {host}," in said
    said = collect(memoir, "-o", tmp_path / "none", "--with", "echo ${HOME} {a,b} {names} >&2; exit 7", "node0:/x", code=1)
    assert f"ended with 7: {os.environ['HOME']}" in said and "*.memoir-summary" in said


def test_addresses_by_fsspec(memoir, fake_tree, hosts, tmp_path):
    pytest.importorskip("fsspec")
    shutil.copy2(ROOT / "python" / "_torch_memoir" / "_fetch.py", fake_tree / "lib/memoir/python/_torch_memoir")
    folders, _ = hosts
    job, sources = tmp_path / "job", [f"file://{folder}" for folder in folders]
    collect(memoir, "-o", job, "--python", sys.executable, "--ranks", "2", *sources)
    assert names(job, ".memoir-summary") == of_all(folders, ".memoir-summary") and {name.split(".")[0] for name in names(job, ".memoir")} == {"r00002"}
    said = collect(memoir, "-o", job, "--python", sys.executable, f"file://{tmp_path}/nowhere", "nonsense://x", code=1)
    assert "nowhere: its command ended with 1: FileNotFoundError" in said and "nonsense://x: its command ended with 1: ValueError: Protocol not known" in said
    assert "which has not" not in said
    said = collect(memoir, "-o", job, "--python", "no-such-python", *sources, code=1)
    assert "--python no-such-python: there is no such program" in said


def test_a_host_without_summaries(memoir, hosts, tmp_path):
    folders, _ = hosts
    for file in folders[1].glob("*.memoir-summary"):
        file.unlink()
    said = collect(memoir, "-o", tmp_path / "job", "--ranks", "none", *folders, code=1)
    assert re.search(rf"{folders[1]}: no summary there; run `memoir summarize \S*{folders[1].name}`, or copy", said), said
    said = collect(memoir, "-o", tmp_path / "other", folders[1], code=1)
    assert "0 summaries from 1 source" in said
    rank = int(names(folders[1], ".memoir")[0][1:6])
    collect(memoir, "-o", tmp_path / "job", "--ranks", str(rank), *folders, code=1)   # from all sources, because no summary names the one that has it
    assert names(tmp_path / "job", ".memoir") == names(folders[1], ".memoir")[:1]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["-o", "job"], "no source given"),
        (["node0:/x"], "no folder given for the job"),
        (["-o", "job", "a", "a"], "a is named twice"),
        (["-o", "job", "a", "--ranks", "3-1"], "expected odd, none, all, or ranks such as 0,12-15"),
        (["-o", "job", "a", "--ranks", "1,,2"], "expected odd, none, all"),
        (["-o", "job", "a", "--at-once", "0"], "at least 1"),
    ],
)
def test_what_is_refused(memoir, tmp_path, arguments, message):
    assert message in collect(memoir, *arguments, code=2)


def test_folders_that_cannot_be(memoir, hosts, tmp_path):
    folders, _ = hosts
    (tmp_path / "file").write_text("")
    assert "cannot be made" in collect(memoir, "-o", tmp_path / "file", folders[0], code=1)
    assert "is JOB itself" in collect(memoir, "-o", folders[0], folders[0], code=2)
    assert "No such file or directory" in collect(memoir, "-o", tmp_path / "job", tmp_path / "nowhere", code=1)


def test_a_longer_recording_is_never_replaced(memoir, hosts, tmp_path):
    """Whether a source was cut, or its command fails after a part of each file."""
    folders, _ = hosts
    job, name = tmp_path / "job", names(folders[0], ".memoir")[0]
    collect(memoir, "-o", job, "--ranks", "all", *folders)
    whole = {file.name: file.read_bytes() for file in job.iterdir()}
    cut = "cd {folder}; for i in *.memoir*; do head -c 100 $i > {into}/$i; done; exit 1"
    said = collect(memoir, "-o", job, "--ranks", "all", "--with", cut, f"a:{folders[0]}", code=1)
    assert "ended with 1" in said and {file.name: file.read_bytes() for file in job.iterdir()} == whole
    (folders[0] / name).write_bytes(b"")
    said = collect(memoir, "-o", job, "--ranks", "all", folders[0], code=1)
    assert f"{name}: shorter than what was collected before" in said and (job / name).read_bytes() == whole[name]


def test_what_is_not_compared_is_said(memoir, hosts, tmp_path):
    folders, _ = hosts
    names_of = names(folders[0], ".memoir-summary")
    (folders[0] / names_of[0]).write_bytes(b"")
    (folders[0] / names_of[1]).write_bytes(bytes(100_000))
    said = collect(memoir, "-o", tmp_path / "job", *folders, code=1).replace("\nmemoir:", "")
    assert f"1 summary cannot be read (the first: {names_of[0].removesuffix('.memoir-summary')}" in said and f"{names_of[1]}: larger than any summary" in said
    said = collect(memoir, "-o", tmp_path / "job", "--ranks", "99990", *folders, code=1)
    assert "no source has a recording of rank 99990" in said


def test_an_attempt_without_a_summary_comes_with_its_rank(memoir, hosts, tmp_path):
    folders, _ = hosts
    first = names(folders[0], ".memoir")[0]
    other = first.replace(".a0.", ".a1.")
    shutil.copy2(folders[0] / first, folders[2] / other)
    collect(memoir, "-o", tmp_path / "job", "--ranks", str(int(first[1:6])), *folders)
    assert names(tmp_path / "job", ".memoir") == [first, other]


def test_what_had_come_stays_when_it_is_interrupted(fake_tree, hosts, tmp_path):
    folders, _ = hosts
    command = "case {host} in hangs) sleep 1000;; esac; cp -p {folder}/*.memoir-summary {into}"
    started = subprocess.Popen([fake_tree / "bin/memoir", "collect", "-o", tmp_path / "job", "--with", command, f"a:{folders[0]}", "hangs:/x"],
                               stderr=subprocess.PIPE, text=True)
    # Until the end each source's files are in a folder of their own.
    wanted = {file.name: file.stat().st_size for file in folders[0].glob("*.memoir-summary")}
    end = time.monotonic() + 120
    while {file.name: file.stat().st_size for file in (tmp_path / "job").glob(".collect-*/*/*.memoir-summary")} != wanted:
        assert started.poll() is None and time.monotonic() < end, "the first host's have not come"
        time.sleep(0.05)
    started.terminate()
    said = started.communicate(timeout=300)[1]
    assert started.returncode == 128 + signal.SIGTERM and "run the same command to continue" in said
    assert sorted(os.listdir(tmp_path / "job")) == names(folders[0], ".memoir-summary")


def test_the_command_for_pods(memoir, hosts, tmp_path):
    """The command in docs/ranks.md, with a stand-in for kubectl."""
    folders, _ = hosts
    page = (ROOT / "docs" / "ranks.md").read_text()
    command = re.search(r"memoir collect -o job --with (.*) \\\n", page)[1]
    stand_in = tmp_path / "bin" / "kubectl"
    stand_in.parent.mkdir()
    stand_in.write_text('#!/bin/sh\nshift 3\nexec "$@"\n')
    stand_in.chmod(0o755)
    collect(memoir, "-o", tmp_path / "job", "--ranks", "3", "--with", shlex.split(command)[0], f"worker-0:{folders[0]}", PATH=f"{stand_in.parent}:{os.environ['PATH']}")
    assert names(tmp_path / "job", ".memoir-summary") == names(folders[0], ".memoir-summary") and names(tmp_path / "job", ".memoir")[0].startswith("r00003.")
