"""The overview of a job from summaries of its ranks: the same numbers as from the recordings, and a note on unusable summaries."""

import json
import os
import shutil

import pytest

JOBS = ("job", "ranks", "many_ranks", "trained", "folded", "losses", "cuda")


@pytest.fixture
def job(samples, tmp_path):
    def job(name):
        folder = tmp_path / name
        shutil.copytree(samples / name, folder)
        return folder

    return job


@pytest.fixture
def overview(memoir):
    def overview(folder, *arguments):
        done = memoir("show", "--by", "job", "--json", folder, *arguments)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return overview


def numbers(shown):
    return {**shown, "summaries": None, "capture": None}


def summarize(memoir, folder, *arguments):
    done = memoir("summarize", folder, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stderr


def lacks(shown):
    return [(one["name"], one["lack"], one["why"]) for one in shown["summaries"]["lacking"]]


@pytest.mark.parametrize("name", JOBS)
def test_equal_with_and_without(memoir, overview, job, name):
    folder = job(name)
    without = overview(folder)
    assert without["summaries"]["read"] == 0
    recordings = len({file.name.rpartition(".p")[0] for file in folder.glob("*.memoir")})
    assert f"{recordings} summar" in summarize(memoir, folder) and f"{recordings} were there" in summarize(memoir, folder).replace("1 was", "1 were")
    whole = overview(folder)
    assert numbers(whole) == numbers(without) and whole["summaries"] == {"read": recordings, "lacking": [], "unreadable": []}
    assert all(file.stat().st_size <= 64 * 1024 for file in folder.glob("*.memoir-summary"))
    for file in sorted(folder.glob("*.memoir-summary"))[::2]:
        file.unlink()
    assert numbers(overview(folder)) == numbers(without)


@pytest.mark.parametrize("name", JOBS)
def test_devices_are_as_show_has_them(memoir, overview, job, name):
    folder = job(name)
    shown = json.loads(memoir("show", "--by", "rank", "--json", folder).stdout)
    pids = {index: (process["pid"], process["rank"]) for index, process in enumerate(shown["processes"])}
    mine = {(recording["pid"], device["device"]): device for recording in overview(folder)["recordings"] for device in recording["devices"]}
    keys = ("peak_allocated_bytes", "live_bytes_at_end", "allocations", "allocated_bytes", "peak_operator")
    seen = 0
    for device in shown["devices"]:
        own = mine[pids[device["process"]][0], device["device"]]
        assert {key: own[key] for key in keys} == {key: device[key] for key in keys}
        seen += 1
    assert seen > 0


def test_more_than_eight_ranks_are_an_overview(memoir, job):
    many = job("many_ranks")
    shown = memoir("show", many)
    assert "200 processes on testhost, ranks 0-199 of 200" in shown.stdout and "Peaks of 200 cpu devices" in shown.stdout
    assert "Who allocates, by operator" in memoir("show", many, "--by", "operator").stdout
    assert "Who allocates, by operator" in memoir("show", job("job")).stdout


def test_damaged_older_and_missing_ones_are_named(memoir, overview, job):
    folder = job("many_ranks")
    without = overview(folder)
    summarize(memoir, folder)
    files = sorted(folder.glob("*.memoir-summary"))
    files[0].unlink()
    files[1].write_bytes(files[1].read_bytes()[:-3])
    files[2].write_bytes(b"\x08\x07" + files[2].read_bytes()[2:])  # another version
    files[3].write_bytes(os.urandom(1 << 20))
    files[4].write_bytes(b"")
    files[5].unlink()
    files[5].mkdir()
    files[6].unlink()
    os.mkfifo(files[6])
    files[7].write_bytes(files[8].read_bytes())  # another rank's
    part = folder / files[9].name.replace(".memoir-summary", ".p0000.memoir")
    part.write_bytes(part.read_bytes() + b"\x0a\x7f")
    shown = overview(folder)
    found = {name.split(".")[0]: (lack, why) for name, lack, why in lacks(shown)}
    assert found["r00000"] == ("missing", "") and found["r00001"] == ("damaged", "damaged") and found["r00002"] == ("damaged", "of version 7")
    assert found["r00003"] == ("damaged", "larger than 64 KiB") and found["r00004"][0] == found["r00005"][0] == found["r00006"][0] == "damaged"
    assert found["r00009"] == ("older", "") and found["r00007"][0] in ("older", "damaged")
    assert len(found) == 9
    assert {**numbers(shown), "damaged_recordings": 0, "recordings": None} == {**numbers(without), "recordings": None}
    text = memoir("show", folder, COLUMNS="200").stdout
    assert "from 191 summaries; from recordings: 1 without a summary" in text and "older than the recording" in text


def test_half_of_the_summaries_alone(memoir, overview, job):
    """As `collect` brings them, without recordings; what is damaged then cannot be read at all."""
    folder = job("many_ranks")
    summarize(memoir, folder)
    whole = overview(folder)
    for file in folder.glob("*.memoir"):
        file.unlink()
    assert numbers(overview(folder)) == numbers(whole)
    for number, file in enumerate(sorted(folder.glob("*.memoir-summary"))):
        if number % 2 and number % 4 == 1:
            file.unlink()
        elif number % 2:
            file.write_bytes(b"no summary")
    shown = overview(folder)
    assert shown["summaries"]["read"] == 100 and len(shown["attempts"][0]["missing_ranks"]) == 100
    assert len(shown["summaries"]["unreadable"]) == 50 and "there is no recording either" in shown["summaries"]["unreadable"][0]
    for file in folder.glob("*.memoir-summary"):
        file.write_bytes(b"no summary")
    done = memoir("show", folder)
    assert done.returncode == 1 and "no summary in it can be read" in done.stderr


def test_another_ranks_recording_that_cannot_be_read(memoir, overview, job):
    folder = job("job")
    (folder / "r00002.a0.testhost.102.p0000.memoir").write_bytes(b"no capture")
    shown = overview(folder)
    assert shown["attempts"][0]["missing_ranks"] == [2] and shown["summaries"]["unreadable"][0].startswith("r00002.a0.testhost.102: ")
    assert "not read: r00002.a0.testhost.102" in memoir("show", "--by", "job", folder).stdout


def test_one_rank_again(memoir, job):
    folder = job("job")
    one = folder / "r00001.a0.testhost.101.p0000.memoir"
    assert "1 recording: 1 summary written" in summarize(memoir, one)
    assert [file.name for file in folder.glob("*.memoir-summary")] == ["r00001.a0.testhost.101.memoir-summary"]
    assert "0 summaries written, 1 was there" in summarize(memoir, one)
    assert "1 summary written" in summarize(memoir, one, "--again")
    left = folder / "r00001.a0.testhost.101.memoir-summary.partial-7"
    left.write_bytes(b"killed")
    summarize(memoir, one, "--again")
    assert not left.exists()


def test_until_all_have_ended(memoir, job):
    assert "9 recordings: 9 summaries written" in summarize(memoir, job("job"), "--every", "1")


def test_the_same_bytes_each_time(memoir, job):
    folder = job("trained")
    contents = []
    for _ in range(2):
        summarize(memoir, folder, "--again")
        contents.append([file.read_bytes() for file in folder.glob("*.memoir-summary")])
    assert contents[0] == contents[1]


def test_what_is_wrong_is_said(memoir, tmp_path, job):
    for arguments, code, said in ((("summarize",), 2, "no capture given"), (("summarize", tmp_path / "none"), 1, "no recording"),
                                  (("summarize", tmp_path), 1, "no recording"), (("summarize", "--every", "0", tmp_path), 2, "at least 1"),
                                  (("show", "--by", "job", "--at", "peak", tmp_path), 2, "leave out the other choices"),
                                  (("show", "--by", "job", tmp_path), 1, "without recordings or summaries"),
                                  (("show", "--by", "job", "--run", "7", job("job")), 1, "there is no run 7")):
        done = memoir(*arguments)
        assert done.returncode == code and said in done.stderr, done.stderr


def test_a_folder_that_may_not_be_written(memoir, job):
    folder = job("job")
    blocked = folder / "r00001.a0.testhost.101.memoir-summary"
    blocked.mkdir()
    done = memoir("summarize", folder)
    assert done.returncode == 1 and "cannot write" in done.stderr and "8 summaries written" in done.stderr


def test_brief(memoir, job):
    done = memoir("show", "--by", "job", job("many_ranks"), "--brief")
    assert done.returncode == 0 and len(done.stdout.encode()) <= 4096
    assert json.loads(done.stdout)["view"] == "job"


@pytest.mark.parametrize("name", JOBS)
def test_odd_ranks_are_the_same_from_summaries(memoir, job, name):
    folder = job(name)
    without = memoir("check", "ranks", "--json", folder)
    assert without.returncode in (0, 3) and json.loads(without.stdout)["view"] == "check_ranks"
    summarize(memoir, folder)
    again = memoir("check", "ranks", "--json", folder)
    assert (again.stdout, again.returncode) == (without.stdout, without.returncode)
    brief = json.loads(memoir("check", "ranks", "--brief", folder).stdout)
    assert brief["finding"] == json.loads(again.stdout)["headline"] and len(json.dumps(brief)) <= 4096
    assert memoir("check", "ranks", folder).returncode == again.returncode


def test_the_odd_one_of_many_ranks(memoir, job):
    """Rank 117 of this sample has 40 MiB, the others 8 to 12."""
    folder = job("many_ranks")
    shown = memoir("check", "ranks", folder)
    said = " ".join(shown.stdout.split())
    assert shown.returncode == 3 and "200 ranks in 1 role, by the modules that they called; 200 compared, 1 is out of line" in said
    assert "! rank 117 (testhost): peak of 40.0 MiB, 30.0 MiB more than the median of its role of 200, since step 1" in said
    found = json.loads(memoir("check", "ranks", "--json", folder).stdout)
    role, = found["roles"]
    assert role["ranks"] == list(range(200)) and role["compared"] and [one["ranks"] for one in found["odd"]] == [[117]]


def test_a_missing_rank_is_a_finding(memoir, job):
    folder = job("many_ranks")
    for file in folder.glob("r00007.*"):
        file.unlink()
    shown = memoir("check", "ranks", folder)
    assert shown.returncode == 3 and "rank 7 is missing" in " ".join(shown.stdout.split())
    assert json.loads(memoir("check", "ranks", "--json", folder).stdout)["attempts"][0]["missing_ranks"] == [7]


@pytest.mark.parametrize("options, complaint", [(["--rank", "1"], "leave out the choice of a part"), (["--fail-if", "num_ooms>0"], "leave out --fail-if"),
                                                (["--at", "end"], "leave out the choice of a part"), (["--format", "github"], "leave out --fail-if")])
def test_odd_ranks_are_of_the_whole_job(memoir, job, one_line, options, complaint):
    done = memoir("check", "ranks", *options, job("job"))
    assert done.returncode == 2 and complaint in one_line(done)


def test_odd_ranks_of_what_is_no_job(memoir, job, tmp_path, one_line):
    part = next(job("job").glob("*.memoir"))
    (tmp_path / "empty").mkdir()
    for path, complaint in ((part, "an overview needs the folder of a job"), (tmp_path / "nosuch", "no such file or folder"), (tmp_path / "empty", "without recordings")):
        done = memoir("check", "ranks", path)
        assert done.returncode == 1 and complaint in one_line(done)


def test_a_rank_that_is_missing_is_said_below_the_table_too(memoir, job):
    folder = job("many_ranks")
    next(folder.glob("r00007.*")).unlink()
    said = " ".join(memoir("check", "ranks", folder).stdout.split())
    assert "! rank 7 is missing: no recording was made, or it was not copied here" in said


def test_the_recording_of_a_rank_whose_summary_alone_is_here(memoir, job):
    folder = job("many_ranks")
    summarize(memoir, folder)
    next(folder.glob("r00007.*.memoir")).unlink()
    done = memoir("show", "--rank", "7", folder)
    assert done.returncode == 1 and "of rank 7 a summary is here, and memoir collect --ranks 7 copies the recording" in done.stderr
    done = memoir("show", "--rank", "700", folder)
    assert done.returncode == 1 and "collect" not in done.stderr


def test_two_ranks_cannot_be_compared(memoir, job, tmp_path):
    folder = tmp_path / "two"
    folder.mkdir()
    for part in sorted(job("many_ranks").glob("*.memoir"))[:2]:
        shutil.move(part, folder)
    said = " ".join(memoir("check", "ranks", folder).stdout.split())
    assert "; none can be compared with others" in said and "none is out of line" not in said
    summarize(memoir, folder)
    done = memoir("collect", "-o", tmp_path / "collected", folder)
    assert "of 2 ranks, none can be compared with others" in done.stderr
