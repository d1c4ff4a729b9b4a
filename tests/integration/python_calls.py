"""Shared by the tests of calls of Python functions: how calls nest, by the lines of `memoir export events`."""

CALLS = ("--stacks", "calls")


def calls_of_threads(found):
    """By thread and in order, the function of each call that begins, and "end" of each that ends."""
    calls = {}
    for event in found:
        if event["event"] in ("call_begin", "call_end"):
            calls.setdefault(event["thread"], []).append(event.get("function", "end"))
    return calls


def inside(names):
    """The calls from begin() to end_here(), which are functions of the program."""
    first = names.index("begin")
    last = len(names) - 1 - names[::-1].index("end_here")
    return names[first:last]


def assert_balanced(found):
    """A call that begins has the innermost open call as its parent, and a call that ends was open."""
    depths = {}
    for event in found:
        if event["event"] in ("call_begin", "call_end"):
            thread, begins = (event["process"], event["thread"]), event["event"] == "call_begin"
            assert event["around"] <= depths.get(thread, 0) - (not begins), event
            depths[thread] = event["around"] + begins


def nested(found, file="program.py"):
    """Calls of the program's own functions as (depth, function), from `main` on; builtins too."""
    open_calls, lines = {}, []
    for event in found:
        if event["event"] not in ("call_begin", "call_end"):
            continue
        stack = open_calls.setdefault(event["thread"], [])
        del stack[event["around"]:]
        if event["event"] == "call_begin":
            stack.append(event["function"])
            if "main" in stack and (event["file"] or file).endswith(file):
                lines.append((len(stack) - 1 - stack.index("main"), event["function"]))
    return lines
