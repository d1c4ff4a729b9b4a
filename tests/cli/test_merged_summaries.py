"""memoir summarize -o: the summaries of a job, or of its parts, in one file, which gives the same overview as the folder."""

import json
import os
import shutil

import pytest


@pytest.fixture
def job(samples, tmp_path):
    shutil.copytree(samples / "many_ranks", tmp_path / "job")
    return tmp_path / "job"


def merge(memoir, output, *captures):
    done = memoir("summarize", "-o", output, *captures)
    assert done.returncode == 0, done.stderr
    return done.stderr


def overview(memoir, capture):
    done = memoir("show", "--by", "job", "--json", capture)
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout), "summaries": None, "capture": None}


def odd(memoir, capture):
    done = memoir("check", "ranks", "--json", capture)
    assert done.returncode == 3, done.stderr
    found = json.loads(done.stdout)
    for one in found["odd"]:
        one.pop("program")  # it is compared only where the recordings are
    return {**found, "capture": None}


def test_says_what_the_folder_says(memoir, job, tmp_path):
    merged = tmp_path / "job.memoir-summaries"
    assert "job.memoir-summaries: 200 summaries" in merge(memoir, merged, job)
    assert not list(job.glob("*.memoir-summary")), "none is written beside the recordings"
    assert overview(memoir, merged) == overview(memoir, job) and odd(memoir, merged) == odd(memoir, job)
    text = {capture: " ".join(memoir("show", capture).stdout.replace(str(capture), "JOB").split()) for capture in (merged, job)}
    assert "from 200 summaries" in text[merged] and "without a summary" in text[job]
    assert text[merged].partition("Live at the peaks")[2] == text[job].partition("Live at the peaks")[2] != ""


def test_halves_in_any_order_are_the_whole(memoir, job, tmp_path):
    files = {name: tmp_path / f"{name}.memoir-summaries" for name in ("whole", "left", "right", "both", "glued")}
    merge(memoir, files["whole"], job)
    assert "summary written" in memoir("summarize", next(job.glob("r00007*"))).stderr, "one that is there is taken"
    parts = sorted(job.glob("*.memoir"))
    for number, name in enumerate(("left", "right")):
        half = tmp_path / name
        half.mkdir()
        for part in parts[number::2]:
            shutil.move(part, half)
        assert "100 summaries" in merge(memoir, files[name], half)
    merge(memoir, files["both"], files["right"], files["left"], files["right"])
    assert files["both"].read_bytes() == files["whole"].read_bytes()
    files["glued"].write_bytes(files["right"].read_bytes() + files["left"].read_bytes())
    assert overview(memoir, files["glued"]) == overview(memoir, files["whole"])


def test_the_recordings_are_not_spoken_of_as_if_they_were_there(memoir, job, tmp_path):
    merged = tmp_path / "job.memoir-summaries"
    merge(memoir, merged, job)
    said = memoir("check", "ranks", merged).stdout
    assert "memoir show --by line --rank" not in said and "which are not here" in said
    assert "memoir show --by line --rank 117" in memoir("check", "ranks", job).stdout
    for verb in (("show", "--by", "module"), ("check", "leaks"), ("export", "tree")):
        done = memoir(*verb, merged)
        assert done.returncode == 1 and "summaries alone, no recordings" in done.stderr, (verb, done.stderr)


def test_damage(memoir, job, tmp_path):
    merged, again = tmp_path / "job.memoir-summaries", tmp_path / "again.memoir-summaries"
    merge(memoir, merged, job)
    whole = merged.read_bytes()
    merged.write_bytes(whole[:-10])
    shown = memoir("show", "--by", "job", merged)
    assert shown.returncode == 0 and "199 processes" in shown.stdout and "rank 199 is missing" in " ".join(shown.stdout.split())
    assert "damaged, 1 or more of its summaries" in " ".join(shown.stdout.split())
    assert json.loads(memoir("check", "ranks", "--json", merged).stdout)["unreadable"]
    done = memoir("summarize", "-o", again, merged)
    assert done.returncode == 1 and "1 or more of its summaries are left out" in done.stderr and "199 summaries" in done.stderr
    (job / "r00007.a0.testhost.107.p0000.memoir").write_bytes(b"no capture")
    done = memoir("summarize", "-o", again, job)
    assert done.returncode == 1 and "r00007.a0.testhost.107" in done.stderr and "199 summaries" in done.stderr


def test_what_is_wrong_is_said(memoir, job, tmp_path):
    fine = tmp_path / "fine.memoir-summaries"
    for arguments, code, said in (((tmp_path / "job.txt", job), 2, "name it *.memoir-summaries"), ((fine, "--again", job), 2, "leave out"),
                                  ((fine, "--every", "3", job), 2, "leave out"), ((fine,), 2, "no capture given"),
                                  ((fine, tmp_path / "none"), 1, "no recording"), ((fine, tmp_path / "none.memoir-summaries"), 1, "none.memoir-summaries"),
                                  ((tmp_path / "none" / "a.memoir-summaries", job), 1, "cannot")):
        done = memoir("summarize", "-o", *arguments)
        assert done.returncode == code and said in done.stderr, (arguments, done.stderr)
    assert not fine.exists()
    done = memoir("summarize", "--own", job)
    assert done.returncode == 1 and "no recording of this host" in done.stderr
    for arguments, said in (((job, "--every", "1", "--cpu", "0"), "from 0.1 to 100"), ((job, "--cpu", "3"), "--cpu works only with --every")):
        done = memoir("summarize", *arguments)
        assert done.returncode == 2 and said in done.stderr
    merge(memoir, fine, job)
    done = memoir("summarize", fine)
    assert done.returncode == 2 and "-o FILE merges it" in done.stderr


def test_what_had_not_ended_is_said(memoir, samples, tmp_path):
    merged = tmp_path / "job.memoir-summaries"
    merge(memoir, merged, samples / "died")
    assert "had not ended then" in " ".join(memoir("show", merged).stdout.split())


def test_own_recordings_alone(memoir, job):
    own = f"r00300.a0.{os.uname().nodename}.1.p0000.memoir"
    shutil.copy(next(job.glob("r00007*")), job / own)
    done = memoir("summarize", "--own", job)
    assert "1 recording: 1 summary written" in done.stderr and [file.name for file in job.glob("*.memoir-summary")] == [own.replace("p0000.memoir", "memoir-summary")]
