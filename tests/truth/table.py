"""python tests/truth/table.py [NAME...]: runs the programs of published runs (all, or those named), notes what they gave in results.json, and
writes the tables of docs/tested/truth.md and the line of README.md that quotes them. TESTED_TREE names the installed tree, else build/install.
"""

import json
import os
import pathlib
import sys
import textwrap

from truth import HERE, error, events_agree, facts, numbers_of, run

ROOT = HERE.parents[1]
RESULTS = HERE / "results.json"
CAUSES = HERE / "causes.json"
MIB = 1 << 20


def lines(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def percent(value):
    return "0" if value == 0 else f"{value:+.3%}"


def snapshot_rows(pairs, causes):
    yield "| run | card | torch there | torch here | peak allocated there | error | peak reserved there | error | events and segments | cause of what differs |"
    yield "|---|---|---|---|---:|---:|---:|---:|---|---|"
    for fact, result in pairs:
        real = fact["real"]
        errors = [percent(error(real[key], result[key])) for key in ("peak_allocated", "peak_reserved")]
        agree = "equal" if events_agree(fact, result) else f"{result['events']:,} of {real['events']:,} events"
        row = (fact["name"], fact["card"], fact["torch"], result["torch"], f"{real['peak_allocated']:,}", errors[0], f"{real['peak_reserved']:,}", errors[1],
               agree, causes.get(fact["name"], ""))
        yield "| " + " | ".join(row) + " |"


def shown(numbers):
    if not numbers:
        return ""
    names = ("asked", "free", "in use", "allocated", "cached")
    values = [numbers[0], *numbers[2:6]]
    return ", ".join(f"{name} {value / MIB:,.0f}" for name, value in zip(names, values))


def training_rows(pairs, causes):
    yield "| run | torch there | torch here | there | here | the error there, MiB | the error here, MiB | cause of what differs |"
    yield "|---|---|---|---|---|---|---|---|"
    words = {"success": "fits", "failed": "out of memory"}
    for fact, result in pairs:
        real = fact["real"]
        messages = [shown(numbers_of(message)) if message else "" for message in (real["message"], result["message"])]
        yield "| " + " | ".join((fact["name"], fact["torch"], result["torch"], words[real["ended"]], words[result["ended"]], *messages,
                                 causes.get(fact["name"], ""))) + " |"


def attention_line(fact, result):
    equal = sum(row["real_allocated_mib"] == found for row, found in zip(fact["rows"], result["allocated_mib"]))
    torches = f"{fact['gpu']}, torch {fact['torch']} there, {result['torch']} here"
    return lines(f"`attention` ({fact['phase']}; {torches}): {equal} of {len(fact['rows'])} rows equal to what was printed.")


def summary(pairs):
    snapshots = [(fact, result) for fact, result in pairs if "peak_allocated" in fact.get("real", {})]
    trainings = [(fact, result) for fact, result in pairs if fact["program"] == "train"]
    equal = [sum(fact["real"][key] == result[key] for fact, result in snapshots) for key in ("peak_allocated", "peak_reserved")]
    right = sum(fact["real"]["ended"] == result["ended"] for fact, result in trainings)
    ran_out = sum(fact["real"]["ended"] == "failed" for fact, _ in trainings)
    return lines(f"The simulated peak of allocated bytes equals the real card's, to the byte, in {equal[0]} of {len(snapshots)} published memory snapshots of A100 and H100 cards, "
                 f"the peak of reserved bytes in {equal[1]} of {len(snapshots)}.") + "\n" + lines(
                     f"Of {len(trainings)} published training runs on an A100, {ran_out} of which ran out of memory, `memoir fit` is right about {right} ([docs/tested/truth.md](docs/tested/truth.md)).")


def put_between(path, name, text):
    """Replaces what stands between the lines <!-- NAME --> and <!-- end of NAME -->."""
    content = path.read_text()
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = content.split(begin)
    path.write_text(before + begin + text.rstrip("\n") + "\n" + end + rest.split(end, 1)[1])


def render(results):
    causes = json.loads(CAUSES.read_text())
    pairs = [(fact, results[fact["name"]]) for fact in facts() if fact["name"] in results]
    snapshots = [pair for pair in pairs if "peak_allocated" in pair[0].get("real", {})]
    trainings = [pair for pair in pairs if pair[0]["program"] == "train"]
    attention = [attention_line(*pair) for pair in pairs if pair[0]["program"] == "attention"]
    tables = ["\n".join(snapshot_rows(snapshots, causes)), *attention, "\n".join(training_rows(trainings, causes))]
    return {"docs/tested/truth.md": ("tables", "\n\n".join(tables)), "README.md": ("truth", summary(pairs))}


def main(names):
    tree = pathlib.Path(os.environ.get("TESTED_TREE") or ROOT / "build" / "install")
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for fact in facts():
        if names and fact["name"] not in names:
            continue
        found = run(tree, fact)
        print(f"{fact['name']}: {found.pop('seconds'):.0f} s of processor time", flush=True)
        results[found.pop("name")] = found
        RESULTS.write_text("{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(result)}" for name, result in results.items()) + "\n}\n")
    for path, (name, text) in render(results).items():
        put_between(ROOT / path, name, text)


if __name__ == "__main__":
    main(sys.argv[1:])
