"""The conventions of docs/hacking.md that a program can check in every file."""

import re

from sources import Rule, cxx_sources, sources

MAX_ROOM_LINES = 400
MAX_FUNCTION_LINES = 80
MAX_COLUMNS = 120
MAX_FOLDER_SOURCES = 25
# Folders with more sources. They are flat: each file is one call, or a few calls, of NVIDIA's libraries.
LARGE_FOLDERS = {
    "interpose/cuda": 43,
    "simcuda/api": 40,
}


def guards_match_paths(tree):
    """tools/read/part.h is guarded by TOOLS_READ_PART_H_."""
    for source in cxx_sources(tree):
        if source.suffix not in (".h", ".hpp"):
            continue
        guard = re.sub(r"\W", "_", source.path).upper() + "_"
        ends = (f"#endif  // {guard}", f"#endif /* {guard} */")
        if f"#ifndef {guard}\n#define {guard}\n" not in source.text or not source.text.rstrip().endswith(ends):
            yield f"{source.path}: its guard is not {guard}"


def lines_fit(tree):
    """As .clang-format has them. Letters are counted, not bytes: pictures are drawn with lines."""
    for source in cxx_sources(tree):
        if source.suffix == ".def":
            continue  # tables
        for number, line in enumerate(source.lines, 1):
            if len(line) > MAX_COLUMNS:
                yield f"{source.path}:{number}: {len(line)} columns, more than {MAX_COLUMNS}"


def no_drawers(tree):
    """A file named util collects code that fits nowhere."""
    for source in sources(tree):
        words = re.split(r"[/_.\-]", source.path)
        drawers = {"util", "utils", "helper", "helpers", "common", "manager", "misc"} & set(words)
        if drawers:
            yield f"{source.path}: '{drawers.pop()}' says nothing about what is inside"


def rooms_are_small(tree):
    """A header and its source together, or any other file with code, stay within MAX_ROOM_LINES. In tests each file by itself."""
    rooms = {}
    for source in sources(tree):
        if source.suffix in (".h", ".hpp", ".cc", ".py", ".cmake", ".sh") or source.path == "dev":
            room = source.path if source.path.startswith("tests/") else f"{source.folder}/{source.stem}".lstrip("/")
            rooms[room] = rooms.get(room, 0) + len(source.lines) - 1
    yield from (f"{room}: {lines} lines, more than {MAX_ROOM_LINES}" for room, lines in rooms.items() if lines > MAX_ROOM_LINES)


def folders_are_small(tree):
    """A folder of the product shows its structure: more than MAX_FOLDER_SOURCES sources and headers are a list, not a room."""
    found = {}
    for source in sources(tree):
        if source.suffix in (".h", ".hpp", ".cc", ".py") and source.path.startswith(("interpose/", "proto/", "python/", "simcuda/", "tools/", "tracker/")):
            found[source.folder] = found.get(source.folder, 0) + 1
    for folder, number in found.items():
        most = LARGE_FOLDERS.get(folder, MAX_FOLDER_SOURCES)
        if number > most:
            yield f"{folder}: {number} sources and headers, more than {most}"


def functions(source):
    """(first line, lines) of each function body: a block opened by a line that ends a parameter list at namespace or class level.

    Works on the indentation that the formatter gives: a body ends at the first `}` as deep as its opening line.
    """
    opening = None
    for number, line in enumerate(source.code_lines, 1):
        if opening is None:
            match = re.match(r"( {0,4})[\w~:<>].*\)[^;=]*\{\s*$", line)
            if match and not re.match(r"\s*(if|for|while|switch|namespace|else|extern)\b", line):
                opening = (number, match.group(1))
        elif line.rstrip() in (opening[1] + "}", opening[1] + "};", opening[1] + "});"):
            yield opening[0], number - opening[0] + 1
            opening = None


def functions_are_short(tree):
    """50 lines are a smell; MAX_FUNCTION_LINES are an error."""
    for source in cxx_sources(tree):
        for number, lines in functions(source):
            if lines > MAX_FUNCTION_LINES:
                yield f"{source.path}:{number}: a function of {lines} lines, more than {MAX_FUNCTION_LINES}"


def comments_say_something(tree):
    """No banners, no code that was commented out: the history keeps what was."""
    statement = re.compile(r"(?:[\w:<>,*& ]+\s)?[\w.:>\-]+\(.*\);$|return\b.*;$|[\w.\[\]>\-]+ [-+]?= .*;$|(if|for|while) ?\(.*\{$|\}$")
    for source in sources(tree):
        is_cxx = source.suffix in (".h", ".hpp", ".cc", ".def", ".proto")
        if not is_cxx and source.suffix not in (".py", ".cmake", ".txt", ".sh") and source.path != "dev":
            continue
        for number, line in enumerate(source.lines, 1):
            match = re.match(r"\s*//(.*?)\s*$" if is_cxx else r"\s*#(.*?)\s*$", line)
            if match and re.match(r"\s*[-=*#/~+_]{3,}", match.group(1)):
                yield f"{source.path}:{number}: a banner"
            elif match and is_cxx and not match.group(1).startswith("  ") and statement.match(match.group(1).strip()):
                yield f"{source.path}:{number}: code that was commented out?"


def originals_are_not_looked_up_by_order(tree):
    """dlsym(RTLD_NEXT) finds nothing for libraries that were loaded RTLD_LOCAL, as torch's are: a hook would swallow the call."""
    for source in cxx_sources(tree):
        for number, line in enumerate(source.code_lines, 1):
            if "RTLD_NEXT" in line:
                yield f"{source.path}:{number}: RTLD_NEXT; take the original from the patched slot"


def environment_variables_are_in_the_table(tree):
    """Each MEMOIR_* variable that code reads or a page names stands in options.def, from which all sides take their options."""
    table = next((s.text for s in sources(tree) if s.path == "proto/memoir/options.def"), "")
    known = set(re.findall(r'MEMOIR_OPTION\("(MEMOIR_[A-Z_]+)"', table))
    build = set()
    for source in sources(tree):
        if source.path.endswith((".cmake", ".cmake.in", "CMakeLists.txt", "CMakePresets.json")):
            build |= set(re.findall(r"MEMOIR_[A-Z_]+", source.text))
    for source in sources(tree):
        if source.path.startswith("tests/"):
            continue  # they try wrong ones too
        if source.suffix == ".md":
            pattern, allowed = r"\b(MEMOIR_[A-Z_]*[A-Z])\b(?!\*)", known | build
        elif source.suffix in (".cc", ".h", ".hpp", ".py"):
            pattern, allowed = r"[\"'](MEMOIR_[A-Z_]*[A-Z])[\"'=]", known
        else:
            continue
        for number, line in enumerate(source.lines, 1):
            for name in re.findall(pattern, line):
                if name not in allowed:
                    yield f"{source.path}:{number}: {name} is not in proto/memoir/options.def"


def no_paths_of_one_machine(tree):
    """No file names this machine's paths or tools."""
    pattern = re.compile(r"(?<![\w.}>/])/(work|home|root|Users|mnt)/\w")
    for source in sources(tree):
        if source.folder != "tests/rules":
            for number, line in enumerate(source.lines, 1):
                if pattern.search(line):
                    yield f"{source.path}:{number}: a path of one machine"


def thread_locals_need_no_call(tree):
    """A thread-local of a hook is reached by an offset: any other model calls the loader, which may allocate inside of the hook."""
    for source in cxx_sources(tree, "tracker"):
        for number, line in enumerate(source.code_lines, 1):
            if re.search(r"\bthread_local\b", line) and '[[gnu::tls_model("initial-exec")]]' not in line:
                yield f'{source.path}:{number}: thread_local without [[gnu::tls_model("initial-exec")]]'


def silenced_checks_have_a_reason(tree):
    """A finding of clang-tidy that stays names its check and says why: NOLINT(check): why."""
    for source in cxx_sources(tree):
        for number, line in enumerate(source.lines, 1):
            if re.search(r"\bNOLINT", line) and not re.search(r"\bNOLINT(NEXTLINE|BEGIN)?\([a-z][\w.,-]*\): \w|\bNOLINTEND\([a-z][\w.,-]*\)", line):
                yield f"{source.path}:{number}: NOLINT without a check or a reason"


_LONG_FUNCTION = "int F(int x) {\n" + "  ++x;\n" * MAX_FUNCTION_LINES + "  return x;\n}\n"

RULES = (
    Rule(
        guards_match_paths,
        (
            {"tools/read/part.h": "#ifndef PART_H_\n#define PART_H_\n#endif  // PART_H_\n"},
            {"tools/read/part.h": "#pragma once\n"},
            {"tracker/client/part.hpp": "#pragma once\n"},
        ),
    ),
    Rule(lines_fit, ({"tools/read/part.cc": "// " + "x" * MAX_COLUMNS + "\n"},)),
    Rule(no_drawers, ({"tools/read/string_util.h": ""}, {"tracker/common/x.cc": ""}, {"python/memoir/helpers.py": ""})),
    Rule(
        rooms_are_small,
        ({"tools/read/part.h": "\n" * 200, "tools/read/part.cc": "\n" * 201}, {"python/memoir/start.py": "\n" * 401}, {"tests/read/part_test.cc": "\n" * 401}),
    ),
    Rule(folders_are_small, ({f"tools/read/part{n}.cc": "" for n in range(MAX_FOLDER_SOURCES + 1)},)),
    Rule(functions_are_short, ({"tools/read/part.cc": _LONG_FUNCTION}, {"tools/read/part.cc": "class A {\n  " + _LONG_FUNCTION.replace("\n", "\n  ") + "};\n"})),
    Rule(
        comments_say_something,
        (
            {"tools/read/part.cc": "//=========\n"},
            {"tools/read/part.cc": "  // ---- parsing ----\n"},
            {"python/memoir/start.py": "#######\n"},
            {"tools/read/part.cc": "  // Parse(text, 3);\n"},
            {"tools/read/part.cc": "  // return Parse(text);\n"},
            {"tools/read/part.cc": "  // total += 3;\n"},
            {"tools/read/part.cc": "  // if (x) {\n"},
        ),
    ),
    Rule(originals_are_not_looked_up_by_order, ({"interpose/slots.cc": 'auto* f = dlsym(RTLD_NEXT, "f");\n'},)),
    Rule(
        environment_variables_are_in_the_table,
        (
            {"tracker/session/settings.cc": 'getenv("MEMOIR_OUTPTU");\n', "proto/memoir/options.def": 'MEMOIR_OPTION("MEMOIR_OUTPUT", '},
            {"python/memoir/start.py": "os.environ['MEMOIR_FAST']\n"},
            {"docs/hacking.md": "Set `MEMOIR_FAST=1`.\n"},
        ),
    ),
    Rule(silenced_checks_have_a_reason, ({"tools/read/part.cc": "int a;  // NOLINT\n"}, {"tools/read/part.cc": "int a;  // NOLINT(misc-x)\n"})),
    Rule(thread_locals_need_no_call, ({"tracker/torch/x.cc": "constinit thread_local int depth = 0;\n"},)),
    Rule(no_paths_of_one_machine, ({"docs/hacking.md": "Go to /" + "home/me.\n"}, {"tools/read/part.cc": '// see /' + "work/main\n"})),
)
