"""docs/json.md names every key that the program prints, and no key that it does not have."""

import json
import pathlib
import re
import subprocess

from conftest import PROGRAM

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "json.md"
SHOW = ("Every `show` document", "`processes[]`", "`memoir show --json`: the summary", "`devices[]`", "With `--max-size`", "Rows", "`memoir check oom --json`")
AT_AND_OVER = "`--at`, `--over`, `--tree`"
GROUPINGS = ("operator", "module", "category", "line", "category,line", "parameter", "leaf", "range", "region", "shape", "pool", "rank")
CHECKS = ("oom", "frag", "balance", "leaks", "host", "ranks")
# Words after `memoir`, and the page's sections that describe the document in addition to SHOW.
DOCUMENTS = [
    *((f"show --by {by}", ()) for by in GROUPINGS),
    *((f"show --at peak --by {by}", (AT_AND_OVER,)) for by in ("operator", "line")),
    ("show --at peak --by segment", ("`memoir show --at T --by segment --json`",)),
    *((f"show --by {by}", (f"`memoir show --by {by} --json`",)) for by in ("checkpoint", "kernel", "compiled", "stack")),
    ("show --by job", ("`memoir show --by job --json`", "`memoir check ranks --json`")),
    *((f"show {view}", (AT_AND_OVER,)) for view in ("--over time --by category", "--over operators", "--tree")),
    ("explain aten::empty#0", ("`memoir explain --json`",)),
    *((f"check {check}", ("`memoir check --json`", f"`memoir check {check} --json`")) for check in CHECKS),
    ("check", ("`memoir check --json`", *(f"`memoir check {check} --json`" for check in CHECKS))),
]


def sections(page):
    """{heading: words in its code}."""
    parts = re.split(r"^##+ (.+)$", page, flags=re.M)
    return {heading: {word for code in re.findall(r"`([^`]+)`", text) for word in re.findall(r"\w+", code)} for heading, text in zip(parts[1::2], parts[2::2])}


def keys(document):
    """All keys of a document, without the keys of `phases`, which are names of phases."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield key
            yield from keys(list(value.values()) if key == "phases" else value)
    elif isinstance(document, list):
        for value in document:
            yield from keys(value)


def documents(program, capture):
    """(words of the command, sections that describe it, keys of what it prints)."""
    def ran(*words):
        return subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=120).stdout

    for words, own in DOCUMENTS:
        verb, *options = words.split()
        which, options = (options[:1], options[1:]) if verb == "check" else ([], options)
        if printed := ran(verb, *which, "--json", capture, *options):
            yield words, (*SHOW, *own), set(keys(json.loads(printed)))
    for export in ("events", "tree"):
        yield f"export {export}", (f"`memoir export {export}`", *((AT_AND_OVER,) if export == "tree" else ())), {
            key for line in ran("export", export, capture).splitlines() for key in keys(json.loads(line))}
    other = capture.parent / ("cuda" if capture.name == "driver" else "driver")
    if printed := ran("diff", "--json", other, capture):   # not of a job, or of a capture without events
        yield "diff", (*SHOW, "`memoir diff --json`"), set(keys(json.loads(printed)))


def unknown_keys(program, captures, page):
    """(words of the command, key) of each key that the page does not have."""
    words_of = sections(page)
    for capture in captures:
        for words, headings, printed in documents(program, capture):
            yield from ((words, key) for key in sorted(printed - set().union(*(words_of[heading] for heading in headings))))


def lost_keys(page, sources):
    """Words in the first columns of the page's tables that no source has as a string."""
    columns = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| `")]
    words = {word for column in columns for code in re.findall(r"`([^`]+)`", column) for word in re.findall(r"\w+", code)}
    strings = set(re.findall(r'"(\w+)\\?"', sources))
    return sorted(words - strings)


def sources():
    return "\n".join(path.read_text() for kind in ("*.cc", "*.h", "*.def") for path in (ROOT / "tools").rglob(kind) if "node_modules" not in path.parts)


def test_each_key_is_on_the_page(samples):
    captures = [folder for folder in sorted(samples.iterdir()) if folder.is_dir()]
    assert captures
    assert sorted(set(unknown_keys(PROGRAM, captures, PAGE.read_text()))) == []


def test_each_key_of_the_page_is_in_the_code():
    assert lost_keys(PAGE.read_text(), sources()) == []


def test_both_checks_can_fail(samples):
    page = PAGE.read_text()
    assert set(unknown_keys(PROGRAM, [samples / "trained"], page.replace("`cut_off`", "what is cut off"))) == {("show --by checkpoint", "cut_off")}
    assert lost_keys(page.replace("| `own`,", "| `owned`,"), sources()) == ["owned"]
