"""memoir show --tree and memoir export tree: what they refuse, what they leave out, and names of any kind."""

import json

import pytest


@pytest.mark.parametrize("arguments, message", [(["--thread", "1"], "work only with --tree; add that"),
                                                (["--grep", "x"], "work only with --tree; add that"),
                                                (["--tree", "--from", "noon"], "--from noon: expected a time such as 1.5s"),
                                                (["--tree", "--to", "peak"], "--to peak: expected a time"),
                                                (["--tree", "--from", "2s", "--to", "1s"], "--to is not later than --from"),
                                                (["--tree", "--to", "1s", "--steps", "0:1"], "give one")])
def test_show_refuses(memoir, samples, arguments, message, one_line):
    done = memoir("show", samples / "training", *arguments)
    assert done.returncode == 2 and message in one_line(done)


@pytest.mark.parametrize("arguments, message", [(["events", "--format", "torch"], "work only with tree"),
                                                (["torch-snapshot", "--from", "1s"], "torch-snapshot exports a whole recording"),
                                                (["tree", "--format", "torhc"], "did you mean torch?"),
                                                (["tree", "--format", "torch", "--thread", "1"], "--thread works only with --format json")])
def test_export_refuses(memoir, samples, arguments, message, one_line):
    done = memoir("export", *arguments, samples / "training")
    assert done.returncode == 2 and message in one_line(done)


def test_a_thread_that_is_not_there(memoir, samples, one_line):
    for verb in (["show", "--tree"], ["export", "tree"]):
        done = memoir(*verb, "--thread", "worker", samples / "training")
        assert done.returncode == 1 and done.stdout == ""
        assert "no thread 'worker'" in one_line(done) and "1 (MainThread), 2 (autograd)" in done.stderr


def test_says_what_is_cut_and_how_to_see_it(memoir, samples):
    whole = memoir("show", "--tree", "--depth", "0", "--top", "0", samples / "many").stdout
    assert "are not shown" not in whole
    cut = memoir("show", "--tree", "--depth", "1", "--top", "2", samples / "many").stdout
    nodes = json.loads(memoir("show", "--tree", "--json", samples / "many").stdout)
    assert f"{nodes['all_nodes'] - 2} of {nodes['all_nodes']} nodes are not shown: --depth 0 --top 0 shows all" in " ".join(cut.split())


def test_json_lines_have_each_node_behind_its_parent(memoir, samples):
    for sample in ("training", "odd_names", "modules", "cuda", "driver", "ranks", "losses", "folded", "paused", "empty"):
        done = memoir("export", "tree", samples / sample)
        assert done.returncode == 0, done.stderr
        known = 0
        for line in done.stdout.splitlines():
            node = json.loads(line)
            assert node["parent"] is None or node["parent"] < known
            if node["kind"] != "memory":
                assert node["node"] == known
                known += 1
        assert known > 0 or sample == "empty"
        without = memoir("export", "tree", "--no-memory", samples / sample).stdout
        assert len(without.splitlines()) == known


def test_sums_of_both_forms_are_the_same(memoir, samples):
    for sample in ("training", "modules", "cuda", "ranks"):
        root = json.loads(memoir("show", "--tree", "--json", samples / sample).stdout)["root"]
        lines = [json.loads(line) for line in memoir("export", "tree", samples / sample).stdout.splitlines()]
        for key, action in (("allocated_bytes", "allocate"), ("freed_bytes", "free")):
            assert sum(abs(node["bytes"]) for node in lines if node.get("action") == action) == root[key] > 0
        top = sum(node["allocated_bytes"] for node in lines if node["parent"] is None and node["kind"] != "memory")
        loose = sum(node["bytes"] for node in lines if node["parent"] is None and node.get("action") == "allocate")
        assert top + loose == root["allocated_bytes"]


def test_names_of_any_kind(memoir, samples):
    for arguments in (["show", "--tree"], ["export", "tree"], ["export", "tree", "--format", "torch"], ["show", "--tree", "--json"]):
        done = memoir(*arguments, samples / "odd_names")
        assert done.returncode == 0
        assert not [c for c in done.stdout if c != "\n" and (ord(c) < 32 or 0x7f <= ord(c) < 0xa0 or c == "\u202e")]


def test_grep_finds_in_any_case(memoir, samples):
    found = memoir("show", "--tree", "--grep", "ADDMM", samples / "training").stdout
    assert "aten::addmm" in found and "aten::relu" not in found
    nothing = memoir("show", "--tree", "--grep", "no such name", samples / "training")
    assert nothing.returncode == 0 and "are not shown" in " ".join(nothing.stdout.split())


def test_no_modules(memoir, samples):
    """A recording without calls of modules has a tree all the same, in every form."""
    text = memoir("export", "tree", "--format", "torch", samples / "training").stdout.splitlines()
    assert "  aten::linear" in text and "    aten::addmm" in text
    assert '"kind":"module"' not in memoir("export", "tree", samples / "training").stdout
