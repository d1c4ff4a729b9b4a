"""A Python TorchDispatchMode is the reference for --ops dispatch. If both watch the same run, their lists are equal: names with overloads, order on each
thread, storage bytes of results. A mode changes the program that it watches, so the list of an unwatched run differs; each difference is in a table here (and,
with its reason, in docs/tree.md), and every entry of the tables is used. The programs' results are bit-equal to the results of a bare run."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = ["transformer", "checkpoint", "lstm", "autocast", "indexing", "inference_mode", "python_function", "cpp_function", "functorch",
            "wrapper_subclass", "sparse_and_nested", "threads"]

# Operators that only a mode sees: torch reads a property of a Python object's tensor without the dispatcher.
ASKED_OF_PYTHON = {"aten::dim"}
# (Operator under a mode, operator without): under a mode, torch and its formulas avoid in-place operators and aliases, because a mode may hide a tensor subclass.
REPLACED = {
    ("aten::add.Tensor", "aten::add_.Tensor"),
    ("aten::view", "aten::_reshape_alias"),
    ("aten::scatter_add", "aten::scatter_add_"),
    ("aten::index_put", "aten::_index_put_impl_"),
}
# A mode sees more of these calls: each shallow copy of a tensor, such as an output that autograd saves and unpacks, is made through the mode.
# A mode also sees fewer of them: torch hides one call for each nn.Parameter from modes.
MORE_OR_FEWER = "aten::detach"
# If the fallback's dispatch key comes after Python's (torch 2.15), the fallback sees the operators that the subclasses of these programs call inside, not the
# operators that are called on the subclasses.
WITH_SUBCLASSES = {"wrapper_subclass", "sparse_and_nested"}


@pytest.fixture(scope="module")
def runs(tree, tmp_path_factory):
    """Runs the programs bare, recorded, and recorded with a Python mode. Returns their outputs, the recordings, and the modes' lists."""
    folder = tmp_path_factory.mktemp("dispatch")
    memoir = [tree / "bin" / "memoir", "run", "-q", "--ops", "dispatch"]
    results = {"bare": run([]), "alone": run([*memoir, "-o", folder / "alone", "--"]),
               "watched": run([*memoir, "-o", folder / "watched", "--"], "--seen", folder / "seen.json")}
    seen = json.loads((folder / "seen.json").read_text())
    return {"results": results, "seen": seen["programs"], "opaque": seen["subclasses_are_opaque"],
            "alone": recorded(tree, folder / "alone"), "watched": recorded(tree, folder / "watched")}


def run(launcher, *arguments):
    programs = [sys.executable, "-W", "ignore", HERE / "dispatch_programs.py", "--library", os.environ["CPP_FUNCTION"]]
    done = subprocess.run([*launcher, *programs, *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def recorded(tree, capture):
    """Returns, for each program and thread, [operator, storage bytes of results] in order, as the fallback recorded them between the program's marks."""
    export = subprocess.run([tree / "bin" / "memoir", "export", "events", capture], capture_output=True, text=True, timeout=300)
    assert export.returncode == 0, export.stderr
    programs, threads, running = {}, {}, {}
    for event in map(json.loads, export.stdout.splitlines()):
        assert event["event"] != "lost"
        if event["event"] == "mark":
            name, what = event["name"].split()
            threads = {}
            if what == "begins":
                programs[name] = threads
        elif event["event"] == "range_begin":
            assert event["source"] in ("dispatch", "backward", "user"), event
            if event["source"] == "dispatch":
                running[event["call"]] = [event["name"], None]
                threads.setdefault(event["thread"], []).append(running[event["call"]])
        elif event["event"] == "range_end" and event["call"] in running:
            running.pop(event["call"])[1] = [tensor["storage_bytes"] for tensor in event["tensors"]]
    return {name: by_thread(threads.values()) for name, threads in programs.items()}


def by_thread(lists):
    """In an order that does not depend on the threads' names."""
    return sorted(map(list, lists), key=json.dumps)


def of_dispatcher(rows):
    """Returns the rows of a mode whose operators went through the dispatcher."""
    return [[name, sizes] for name, sizes, *_ in rows if name not in ASKED_OF_PYTHON]


def is_part(part, whole):
    """Whether `whole` contains the rows of `part` in this order."""
    rest = iter(whole)
    return all(row in rest for row in part)


@pytest.mark.parametrize("program", PROGRAMS)
def test_equals_what_a_mode_sees_in_the_same_run(runs, program):
    seen = by_thread(map(of_dispatcher, runs["seen"][program]))
    assert sum(map(len, seen)) >= 10
    if runs["opaque"] or program not in WITH_SUBCLASSES:
        assert runs["watched"][program] == seen
    else:
        (rows,), (found,) = runs["seen"][program], runs["watched"][program]
        plain = [[name, sizes] for name, sizes, _, on_subclass in rows if not on_subclass]
        assert 0 < len(plain) < len(rows) and is_part(plain, found) and len(found) > len(plain)


def test_what_a_subclass_is_asked_or_asks(runs):
    """The wrapper passes each operator on to the tensor inside, so the fallback sees the same names on either side of the subclass."""
    (seen,), (found,) = runs["seen"]["wrapper_subclass"], runs["watched"]["wrapper_subclass"]
    assert [row[0] for row in found] == [row[0] for row in seen]


def shown_beside(runs, program):
    """Returns the rows that a mode sees on the fallback's side of tensor subclasses."""
    transparent = not runs["opaque"] and program in WITH_SUBCLASSES
    return runs["watched"][program] if transparent else list(map(of_dispatcher, runs["seen"][program]))


def differences(runs, program):
    """Returns the pairs (operator under a mode, operator without) in which an unwatched run differs from a mode's rows. Ignores aten::detach."""
    under = [[name for name, _ in rows if name != MORE_OR_FEWER] for rows in shown_beside(runs, program)]
    without = [[name for name, _ in rows if name != MORE_OR_FEWER] for rows in runs["alone"][program]]
    without, under = sorted(without, key=len), sorted(under, key=len)
    assert list(map(len, without)) == list(map(len, under))
    return {(a, b) for mode, alone in zip(under, without) for a, b in zip(mode, alone) if a != b}


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_unwatched_run_differs_only_as_listed(runs, program):
    assert differences(runs, program) <= REPLACED


def detaches(rows):
    return sum(row[0] == MORE_OR_FEWER for thread in rows for row in thread)


def test_no_difference_is_listed_in_vain(runs):
    assert set.union(*(differences(runs, program) for program in PROGRAMS)) == REPLACED
    seen = [row for threads in runs["seen"].values() for rows in threads for row in rows]
    if runs["opaque"]:  # torch 2.15 reads no property in this way
        assert {row[0] for row in seen if row[0] in ASKED_OF_PYTHON} == ASKED_OF_PYTHON
    assert any(not shown for _, _, shown, _ in seen), "a parameter's detach is hidden from modes"
    assert detaches(runs["alone"]["cpp_function"]) < detaches(runs["seen"]["cpp_function"]), "saved outputs are copied through a mode"
    assert all(detaches(runs["alone"][program]) <= detaches(shown_beside(runs, program)) for program in PROGRAMS)


def test_results_are_bit_equal(runs):
    results = runs["results"]
    assert set(results["bare"]) == set(PROGRAMS) and len(set(results["bare"].values())) == len(PROGRAMS)
    assert results["alone"] == results["bare"] and results["watched"] == results["bare"]
