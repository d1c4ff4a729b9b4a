"""The commands that read a capture: every verb, with each of its views at least once."""

import sys

READ_NO_CAPTURE = {"run", "fit", "doctor"}
GROUPINGS = ("operator", "module", "category", "category,module", "line", "category,line", "parameter", "leaf", "range", "region", "thread", "shape", "pool",
             "rank")
OF_THE_WHOLE = ("stack", "checkpoint", "compiled", "kernel", "job")  # not at an instant
EXPORTS = ("events", "categories", "categories --rules torch", "data-flow", "memory-timeline", "tree", "tree --format torch", "collapsed", "speedscope", "pprof",
           "torch-snapshot", "perfetto", "chrome", "sqlite", "arrow", "parquet", "memory-tracker")


def commands(capture, folder):
    """(words after `memoir`, whether an honest capture may have no answer). Their files go into `folder`, where `other` is a copy of the capture."""
    def words(text):
        return [word.format(capture=capture, folder=folder) for word in text.split()]

    certain = ["report {capture} -o {folder}/report.html", "{capture}", "show --brief {capture}",
               "show --json {capture}", "show --tree {capture}", "show --over time {capture}",
               "show --over time --by category --svg {folder}/time.svg {capture}", "check {capture}", "check --json --brief {capture}", "check oom {capture}",
               "check frag {capture}", "check balance {capture}", "check leaks {capture}", "check host {capture}", "check ranks {capture}", "live --once --json {capture}",
               "summarize {capture} -o {folder}/all.memoir-summaries", "collect --ranks all {capture} -o {folder}/collected",
               "export redacted --key {folder}/key {capture} -o {folder}/redacted", "reveal --key {folder}/key {folder}/redacted"]
    certain += [f"show --by {by} {{capture}}" for by in GROUPINGS + OF_THE_WHOLE]
    certain += [f"show --at {at} --by {by} {{capture}}" for at in ("peak", "end") for by in (*GROUPINGS, "segment")]
    uncertain = ["explain {capture} 0x1000", "explain {capture} aten::empty#0", "symbolize {capture}", "show --at oom {capture}", "show --at 0s {capture}",
                 "show --steps 1:2 {capture}", "show --over operators {capture}", "diff {folder}/other {capture}",
                 "diff --by line --json {folder}/other {capture}", "report --baseline {folder}/other {capture} -o {folder}/compared.html", "report --steps 1:2 {capture} -o {folder}/part.html", "show --range step {capture}"]
    uncertain += [f"query --python {sys.executable} peak_by_category {{capture}}"]  # that Python may lack duckdb
    uncertain += [f"export {what} {{capture}} -o {{folder}}/{what.split()[0]}.json" for what in EXPORTS]
    return [(words(text), False) for text in certain] + [(words(text), True) for text in uncertain]
