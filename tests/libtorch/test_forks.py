"""A program that forks: its children are recorded once they train, as processes of the same capture."""

from recording import events, run_memoir, show


def test_children_that_train_are_recorded(tree, built, clean, tmp_path, device):
    name, _, options = device
    done = run_memoir(tree, "run", "-q", "-o", tmp_path / "capture", *options, "--", built("libtorch_forks"), name, env=clean())
    assert (done.returncode, done.stdout) == (0, "1 1 1\n"), done.stderr
    assert "the newest events of process" in done.stderr and "were merged from" in done.stderr and done.stderr.count("\n") == 1, done.stderr  # the child that calls _exit
    report = show(tree, tmp_path / "capture", "--by", "category")
    parent, = [process["pid"] for process in report["processes"] if process["forked_from"] is None]
    assert [process["forked_from"] for process in report["processes"]] == [None, parent, parent]
    recorded = [[event for event in events(tree, tmp_path / "capture") if event.get("process") == number] for number in range(3)]
    steps = [sum(event["event"] == "step" for event in process) for process in recorded]
    marks = [[event["name"] for event in process if event["event"] == "mark"] for process in recorded]
    before = ["before"] if name == "cpu" else []
    assert sorted(zip(marks, steps, strict=True)) == sorted([([*before, "parent"], len(before) + 4), (["child"], 2), (["child without an end"], 3)])
    states = {row["name"]: row["allocated_bytes"] for row in report["categories"]}
    assert report["dropped_events"] == 0 and report["lost_records"] == 0 and states["optimizer state"] > 0
