"""--brief: of every verb with --json an answer of at most 4 KiB, with a next command that runs."""

import json
import os
import shlex
import shutil
import subprocess

import pytest

MOST = 4096
VIEWS = (["show"], ["show", "--by", "category,module"], ["show", "--by", "category"], ["show", "--by", "line"], ["show", "--by", "module"],
         ["show", "--by", "parameter"], ["show", "--by", "rank"], ["show", "--by", "range"], ["show", "--by", "checkpoint"], ["show", "--by", "compiled"],
         ["show", "--by", "kernel"], ["show", "--by", "stack"], ["show", "--tree"], ["show", "--over", "time"], ["show", "--over", "operators"],
         ["show", "--at", "peak"], ["show", "--at", "end", "--by", "category"], ["show", "--at", "oom"], ["show", "--at", "peak", "--by", "segment"],
         ["check"], ["check", "oom"], ["check", "leaks"], ["check", "frag"], ["check", "balance"], ["check", "host"], ["check", "--fail-if", "peak_allocated>0B"])
HOSTILE = ["x" * 200, "\x1b[31m" * 40, "\u202e" * 60, "'; rm -rf $HOME #", "\"\\" * 50, "🔥" * 40, "-n"]


@pytest.fixture
def run_next(memoir, fake_tree, tmp_path):
    """Runs an answer's next command through a shell, as it stands there."""

    def run_next(answer):
        assert answer["next"].startswith("memoir "), answer
        environment = {**os.environ, "PATH": f"{fake_tree / 'bin'}:{os.environ['PATH']}"}
        return subprocess.run(["sh", "-c", answer["next"]], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60)

    return run_next


def brief(done):
    assert len(done.stdout.encode()) <= MOST, len(done.stdout.encode())
    answer = json.loads(done.stdout)
    assert answer["brief"] is True and answer["finding"] and isinstance(answer["evidence"], list) and answer["left_out"] >= 0, answer
    return answer


def test_every_view_of_every_sample(memoir, samples, run_next):
    tried, followed = 0, {}
    for capture in sorted(path for path in samples.iterdir() if any(path.glob("*.memoir"))):
        for view in VIEWS:
            whole = memoir(*view, "--json", capture)
            done = memoir(*view, "--brief", capture)
            assert done.returncode == whole.returncode and (done.stdout == "") == (whole.stdout == ""), (capture, view, done)
            if not done.stdout:
                continue
            answer = brief(done)
            assert answer["view"] == json.loads(whole.stdout)["view"]
            assert answer["evidence"] or not has_rows(json.loads(whole.stdout)), (capture, view, answer)
            tried += 1
            if answer["next"] not in followed:
                followed[answer["next"]] = run_next(answer)
                assert followed[answer["next"]].returncode in (0, 3), (capture, view, answer["next"], followed[answer["next"]])
                assert brief(followed[answer["next"]])["next"]
    assert tried > 300 and len(followed) > 60


def has_rows(document):
    return any(isinstance(row, dict) for key, value in document.items() if isinstance(value, list) and key not in ("processes", "attempts", "damage", "marks")
               for row in value)


def test_what_it_says(memoir, samples):
    answer = brief(memoir("check", "--brief", samples / "cuda"))
    assert answer["found"] is True and answer["finding"].startswith("out of memory on cuda:0: 60.0 MiB asked for in aten::linear")
    assert answer["next"].startswith("memoir check oom --brief ") and answer["evidence"][0]["of"] == "out_of_memory"
    answer = brief(memoir("show", "--brief", samples / "training"))
    whole = json.loads(memoir("show", "--json", samples / "training").stdout)
    assert answer["evidence"][0]["peak_allocated_bytes"] == whole["devices"][0]["peak_allocated_bytes"]
    assert answer["finding"].startswith("cpu: peak 10.0 MiB allocated, in aten::mm; the largest: ")
    assert "incomplete" not in answer and brief(memoir("show", "--brief", samples / "losses"))["incomplete"]["dropped_events"] > 0


def test_the_next_command_is_of_the_same_part(memoir, samples, run_next):
    answer = brief(memoir("show", "--brief", "--steps", "0:2", "--device", "cpu", "--rank", "0", samples / "training"))
    assert "--steps 0:2 --device cpu --rank 0" in answer["next"] and run_next(answer).returncode == 0
    answer = brief(memoir("show", "--brief", "--range", "forward", "--by", "line", samples / "training"))
    assert answer["next"].startswith("memoir check ") and run_next(answer).returncode in (0, 3)


def test_explain_diff_and_doctor(memoir, samples, run_next):
    blocks = json.loads(memoir("export", "categories", samples / "trained").stdout)["blocks"]
    for address in sorted({block["address"] for block in blocks}):
        answer = brief(memoir("explain", "--brief", samples / "trained", address))
        assert "of category" in answer["finding"] and run_next(answer).returncode == 0
    for by in ("module", "operator", "category", "line", "category,module"):
        answer = brief(memoir("diff", "--brief", "--by", by, samples / "modules", samples / "training"))
        assert answer["finding"].startswith("-7.0 MiB at the peak of cpu")
        done = run_next(answer)
        assert done.returncode == 0 and brief(done)
    done = memoir("doctor", "--brief")
    assert done.returncode in (0, 3) and brief(done)["next"] == "memoir doctor"
    assert run_next(json.loads(done.stdout)).returncode in (0, 3)


def test_hostile_names_keep_the_bound(memoir, samples, run_next, tmp_path):
    """The sample odd_names has them inside; here they are the capture's own, and a path that alone is longer than the answer."""
    for name in HOSTILE:
        shutil.copytree(samples / "odd_names", tmp_path / name)
        for view in (["show"], ["check"], ["show", "--by", "module"], ["show", "--tree"]):
            done = memoir(*view, "--brief", tmp_path / name)
            answer = brief(done)
            assert run_next(answer).returncode in (0, 3), answer
    deep = os.path.join(*["d" * 250] * 14)
    (tmp_path / deep).parent.mkdir(parents=True)
    shutil.copytree(samples / "training", tmp_path / deep)
    answer = brief(memoir("show", "--brief", tmp_path / deep))
    assert answer["next"].endswith(" CAPTURE") and "stand for" in answer["note"]
    answer["next"] = answer["next"].replace("CAPTURE", shlex.quote(str(tmp_path / deep)))
    assert run_next(answer).returncode == 0


def test_brief_is_json_and_excludes_other_forms(memoir, samples):
    assert memoir("show", "--brief", samples / "training").stdout == memoir("show", "--json", "--brief", samples / "training").stdout
    assert memoir("check", "--brief", "--format", "markdown", samples / "training").returncode == 2
    assert memoir("check", "--brief", samples / "training", samples / "cuda").returncode == 2
    for verb in ("show", "check", "diff", "fit", "explain", "doctor"):
        assert "--brief" in memoir(verb, "--help").stdout
