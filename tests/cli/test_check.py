"""memoir check: what it finds, its exit codes, and what it refuses."""

import json

import pytest


def test_an_error_is_a_finding(memoir, samples):
    done = memoir("check", "oom", samples / "cuda")
    assert done.returncode == 3 and "aten::linear in layers.0 (Linear), forward, step 1 asked for 60.0 MiB" in " ".join(done.stdout.split())
    assert f"more: memoir show --at oom --by module {samples / 'cuda'}" in done.stdout
    report = json.loads(memoir("check", "oom", "--json", samples / "cuda").stdout)
    assert report["view"] == "check_oom" and report["out_of_memory"][0]["cause"] == "too_large" and report["devices"][0]["num_ooms"] == 1


def test_nothing_found_is_one_line(memoir, samples):
    done = memoir("check", "oom", samples / "training")
    assert done.returncode == 0 and done.stdout == "no out-of-memory error: no allocation of torch's CUDA allocator is recorded\n"
    assert json.loads(memoir("check", "oom", "--json", samples / "training").stdout)["out_of_memory"] == []


def test_several_captures(memoir, samples):
    done = memoir("check", "oom", samples / "training", samples / "cuda")
    assert done.returncode == 3 and f"{samples / 'training'}:\n" in done.stdout and f"\n{samples / 'cuda'}:\n" in done.stdout


@pytest.mark.parametrize("arguments, message", [([], "nothing to check"), (["oom"], "no capture given"), (["oon", "x"], "'oon' is no check; there are: oom, frag"),
                                                (["oom", "--json", "a", "b"], "--json is of one capture"), (["oom", "x", "--top", "b"], "--top b: expected a whole number")])
def test_refuses(memoir, arguments, message, one_line):
    done = memoir("check", *arguments)
    assert done.returncode == 2 and message in one_line(done)


def test_no_capture_there(memoir, one_line):
    done = memoir("check", "oom", "nowhere")
    assert done.returncode == 1 and "nowhere" in one_line(done)


def test_segments_are_of_an_instant(memoir, samples, one_line):
    done = memoir("show", "--by", "segment", samples / "cuda")
    assert done.returncode == 2 and "--by segment is of an instant" in one_line(done)
    text = memoir("show", "--by", "segment", "--at", "peak", samples / "cuda").stdout
    assert "0x1000000   20.0 MiB █" in text and "~ given back" in text


def test_little_is_no_finding(memoir, samples):
    done = memoir("check", "frag", samples / "cuda")
    assert done.returncode == 0 and "cuda:0: at most " in done.stdout
    assert memoir("check", "frag", samples / "training").stdout == "no allocation of torch's CUDA allocator is recorded\n"
