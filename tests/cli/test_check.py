"""memoir check: what it finds, its exit codes, and what it refuses."""

import json
import re

import pytest


def test_an_error_is_a_finding(memoir, samples):
    done = memoir("check", "oom", samples / "cuda")
    assert done.returncode == 3 and "aten::linear in layers.0 (Linear), forward, step 1 asked for 60.0 MiB" in " ".join(done.stdout.split())
    assert f"more: memoir show --at oom --by module {samples / 'cuda'}" in done.stdout
    report = json.loads(memoir("check", "oom", "--json", samples / "cuda").stdout)
    assert report["view"] == "check_oom" and report["out_of_memory"][0]["cause"] == "too_large" and report["devices"][0]["num_ooms"] == 1


def test_a_printed_command_starts_this_program(memoir, samples, fake_tree, tmp_path):
    """By its name where PATH leads to it, or to the script that handed over to it (its argv[0]); else by its path. Each can be pasted."""
    other, link, script = (tmp_path / name for name in ("other", "link", "script"))
    for folder in (other, link, script):
        folder.mkdir()
    (other / "memoir").write_text("#!/bin/sh\nexit 9\n")
    (link / "memoir").symlink_to(fake_tree / "bin/memoir")
    (script / "memoir").write_text(f"#!/bin/bash\nexec -a \"$0\" {fake_tree / 'bin/memoir'} \"$@\"\n")
    for file in (other / "memoir", script / "memoir"):
        file.chmod(0o755)
    for folders, program, shown in (([fake_tree / "bin"], fake_tree / "bin/memoir", "memoir"), ([link, other], link / "memoir", "memoir"), ([script, other], "memoir", "memoir"),
                                    ([], fake_tree / "bin/memoir", fake_tree / "bin/memoir"), ([other, fake_tree / "bin"], fake_tree / "bin/memoir", fake_tree / "bin/memoir")):
        path = ":".join(map(str, [*folders, "/usr/bin", "/bin"]))
        done = memoir("-c", f"{program} check oom {samples / 'cuda'}", program="/bin/sh", PATH=path)
        commands = [line.removeprefix("more: ") for line in done.stdout.splitlines() if line.startswith("more: ")]
        assert done.returncode == 3 and commands and all(command.startswith(f"{shown} ") for command in commands), done
        for command in commands:
            pasted = memoir("-c", command, program="/bin/sh", PATH=path)
            assert pasted.returncode in (0, 3) and not pasted.stderr, pasted


def test_nothing_found_is_one_line(memoir, samples):
    done = memoir("check", "oom", samples / "training")
    assert done.returncode == 0 and done.stdout == "no out-of-memory error: no allocation of torch's CUDA allocator is recorded\n"
    assert json.loads(memoir("check", "oom", "--json", samples / "training").stdout)["out_of_memory"] == []


@pytest.mark.parametrize("check", [[], ["oom"], ["frag"]])
def test_what_is_lost_is_said_where_nothing_is_found(memoir, samples, tmp_path, check):
    (part,) = (samples / "training").glob("*.memoir")
    (tmp_path / part.name).write_bytes(part.read_bytes() + part.read_bytes()[:40])  # a chunk that is cut
    done = memoir("check", *check, tmp_path)
    assert done.returncode == 0 and "! damaged: " in " ".join(done.stdout.split()), done.stdout


def test_several_captures(memoir, samples):
    done = memoir("check", "oom", samples / "training", samples / "cuda")
    assert done.returncode == 3 and f"{samples / 'training'}:\n" in done.stdout and f"\n{samples / 'cuda'}:\n" in done.stdout


@pytest.mark.parametrize("arguments, message", [([], "nothing to check"), (["oom"], "no capture given"), (["oon", "x"], "checks are: oom, frag, balance, leaks, host, ranks; did you mean oom?"), (["nosuch"], "'nosuch' is no check, nor is a capture of that name here"),
                                                (["oom", "--json", "a", "b"], "--json takes one capture"), (["oom", "x", "--top", "b"], "--top b: expected a whole number")])
def test_refuses(memoir, arguments, message, one_line):
    done = memoir("check", *arguments)
    assert done.returncode == 2 and message in one_line(done)


def test_no_capture_there(memoir, one_line):
    done = memoir("check", "oom", "nowhere")
    assert done.returncode == 1 and "nowhere" in one_line(done)


def test_segments_are_of_an_instant(memoir, samples, one_line):
    done = memoir("show", "--by", "segment", samples / "cuda")
    assert done.returncode == 2 and "--by segment shows one instant" in one_line(done)
    text = memoir("show", "--by", "segment", "--at", "peak", samples / "cuda").stdout
    assert "0x1000000   20.0 MiB █" in text and "~ freed" in text


def test_little_is_no_finding(memoir, samples):
    done = memoir("check", "frag", samples / "cuda")
    assert done.returncode == 0 and "cuda:0: at most " in done.stdout
    assert memoir("check", "frag", samples / "training").stdout == "no allocation of torch's CUDA allocator is recorded\n"


def test_the_balance_names_who_holds_what(memoir, samples):
    done = memoir("check", "balance", samples / "driver")
    assert done.returncode == 0 and "libforeign.so" in done.stdout and "100.00% explained" in done.stdout
    report = json.loads(memoir("check", "balance", "--json", samples / "driver").stdout)
    device = report["devices"][0]
    assert report["view"] == "check_balance" and device["unexplained_bytes"] == 0
    assert {row["name"]: row["bytes"] >> 20 for row in device["rows"]}["libforeign.so"] == 37
    assert sum(row["bytes"] for row in device["rows"]) == device["used_bytes"]
    assert device["host"]["pinned_asked_bytes"] == 3 << 20 and device["host"]["pinned_taken_bytes"] == 4 << 20


def test_what_is_not_explained_is_a_finding(memoir, samples):
    done = memoir("check", "balance", "--at", "end", samples / "driver")
    assert done.returncode == 0 and "unexplained 100.0 MiB" in " ".join(done.stdout.split())
    assert memoir("check", "balance", "--at", "end", "--fail-if", "unexplained>99MiB", samples / "driver").returncode == 3


def test_a_capture_without_readings_says_so(memoir, samples):
    done = memoir("check", "balance", samples / "cuda")
    assert done.returncode == 0 and "used memory not known" in done.stdout
    assert "no GPU memory is recorded" in memoir("check", "balance", samples / "training").stdout


def test_refusals_past_torch_are_errors(memoir, samples):
    done = memoir("check", "oom", samples / "driver")
    text = " ".join(done.stdout.split())
    assert done.returncode == 3 and "NCCL could not create a communicator of 3.91 GiB, in c10d::broadcast_" in text
    assert "torch reserves 11.7 GiB of 22.0 GiB, of which 2.93 GiB is cache" in text
    assert "asked for 62.5 GiB of pinned host memory" in text and "pinned by this process: libtorch_cuda.so 4.0 MiB" in text
    errors = json.loads(memoir("check", "oom", "--json", samples / "driver").stdout)["out_of_memory"]
    assert [error["kind"] for error in errors] == ["communicator", "host_allocate"]


def test_all_checks_run_without_a_name(memoir, samples):
    fine = memoir("check", samples / "training")
    assert fine.returncode == 0 and [line.split()[0] for line in fine.stdout.splitlines() if line[0] != " "] == ["oom", "frag", "balance", "leaks", "host"]
    assert memoir("check", samples / "driver").returncode == 3
    report = json.loads(memoir("check", "--json", samples / "driver").stdout)
    assert report["view"] == "check" and report["found"] and report["balance"]["view"] == "check_balance"


@pytest.mark.parametrize("condition, code", [("peak_reserved>11GiB", 3), ("peak_reserved>12GiB", 0), ("num_ooms==0", 0), ("unexplained>=1%", 0),
                                             ("least_free<2GiB", 3), ("outside_torch<=1GiB", 0),
                                             ("peak_reserved > 11 GiB", 3), ("peak_reserved > 11811 MB", 3), ("peak_reserved >= 99 gb", 0), ("unexplained > 1 %", 0)])
def test_fail_if(memoir, samples, condition, code):
    done = memoir("check", "frag", "--fail-if", condition, samples / "driver")
    said = re.search(re.escape(f"--fail-if {condition}: ") + r"(FAILED|passed), it is (\d[\d.]*( [KMG]iB)?%?)$", done.stdout, re.MULTILINE)
    assert said and said[1] == ("FAILED" if code == 3 else "passed"), done.stdout
    if code == 3:
        assert done.returncode == 3


@pytest.mark.parametrize("condition, message", [
    ("unexplaned>1GiB", "'unexplaned' is no figure; there are: peak_allocated"), ("unexplained>1GiB2", "expected a unit"), ("num_ooms>1GiB", "a count has no unit"),
    ("x > 100 MB", "'x' is no figure"), ("peak_reserved > 100 XB", "'XB' is no unit; expected a unit: 64MiB"), ("peak_reserved > many MB", "expected a number instead of 'many MB'"),
    ("peak_reserved>20%", "no whole"), ("peak_reserved=>1GiB", "'=>' is no comparison"), ("peak_reserved", "expected FIGURE>VALUE"), ("peak_reserved>x", "expected a number"),
])
def test_fail_if_refuses(memoir, samples, one_line, condition, message):
    done = memoir("check", "--fail-if", condition, samples / "driver")
    assert done.returncode == 2 and message in one_line(done)


@pytest.mark.parametrize("sample", ["cuda_unknown", "cuda_lost"])
def test_memory_that_was_not_recorded_is_not_known(memoir, samples, sample):
    done = memoir("check", samples / sample)
    lines = dict(line.split(None, 1) for line in re.sub("\n +", " ", done.stdout).splitlines() if line.split()[0] in ("oom", "frag", "balance"))
    assert done.returncode == 0 and len(lines) == 3 and "nothing" not in done.stdout, done.stdout
    assert all("not known" in line or "as far as recorded" in line for line in lines.values()), done.stdout
    for check in ("oom", "frag"):
        assert "CUDA memory is not known from " in " ".join(memoir("check", check, samples / sample).stdout.split())
    (process,) = json.loads(memoir("check", "--json", samples / sample).stdout)["oom"]["processes"]
    assert [(span["what"], span["end_ns"]) for span in process["unrecorded"]] == [("cuda_memory", None)]
    figure = memoir("check", "--fail-if", "peak_reserved<1GiB", "--fail-if", "num_ooms>0", samples / sample)
    if sample == "cuda_unknown":
        assert figure.returncode == 1 and figure.stderr.count("not known: CUDA memory is not known") == 2, figure
    else:
        assert "in what was recorded: CUDA memory is not known" in " ".join(figure.stdout.split()), figure


def test_a_figure_that_is_not_known_is_no_pass(memoir, samples, one_line):
    done = memoir("check", "--fail-if", "unexplained>1GiB", samples / "training")
    assert done.returncode == 1 and "--fail-if unexplained>1GiB: not known: no GPU memory is recorded" in one_line(done)


def test_a_figure_that_is_not_known_hides_no_finding(memoir, samples, one_line):
    done = memoir("check", "--fail-if", "unexplained>1GiB", "--fail-if", "num_ooms>0", samples / "cuda")
    assert done.returncode == 1 and "unexplained>1GiB: not known: no sample of the device is recorded" in one_line(done)
    assert "out of memory" in done.stdout and "--fail-if num_ooms>0: FAILED, it is 1" in done.stdout
    report = json.loads(memoir("check", "oom", "--json", "--fail-if", "unexplained>1GiB", "--fail-if", "num_ooms>0", samples / "cuda").stdout)
    assert [condition["holds"] for condition in report["fail_if"]] == [None, True] and report["out_of_memory"]


@pytest.mark.parametrize("condition", ["num_ooms>0", "peak_reserved>1MiB", "unexplained>1GiB"])
def test_figures_of_gpus_are_of_no_other_device(memoir, samples, condition, one_line):
    done = memoir("check", "--device", "cpu", "--fail-if", condition, samples / "driver")
    assert done.returncode == 1 and "it is a figure of GPUs, and --device cpu is no GPU" in one_line(done)


@pytest.mark.parametrize("condition, holds", [("peak_reserved > 11GiB", True), (" peak_reserved  <= 11GiB ", False)])
def test_spaces_around_a_comparison(memoir, samples, condition, holds):
    done = memoir("check", "frag", "--fail-if", condition, samples / "driver")
    assert ("FAILED" in done.stdout) == holds and not done.stderr, done.stderr


def test_a_capture_that_cannot_be_read_silences_no_other(memoir, samples, one_line):
    done = memoir("check", "oom", "nowhere", samples / "cuda", samples / "training")
    assert done.returncode == 1 and "nowhere" in one_line(done)
    assert "asked for 60.0 MiB" in " ".join(done.stdout.split()) and f"{samples / 'training'}:\nno out-of-memory error" in done.stdout


@pytest.mark.parametrize("arguments, code, message", [(["balance", "--at", "noon"], 2, "--at noon: expected peak, start"), (["balance", "--at", ""], 2, "--at '': expected peak, start"), (["oom", "--at", "peak"], 2, "--at belongs to memory accounting"),
                                                      (["balance", "--at", "mark:none"], 1, "no mark 'none'"), (["balance", "--at", "900s"], 1, "the recording ends at")])
def test_the_moment_must_exist(memoir, samples, one_line, arguments, code, message):
    done = memoir("check", *arguments, samples / "driver")
    assert done.returncode == code and message in one_line(done)
