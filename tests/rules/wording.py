"""Counts, in comments, pages and output, wording that a reader has to decode, and bounds it for each folder.

    python3 tests/rules/wording.py [FOLDER...]       # prints the count of each folder
    python3 tests/rules/wording.py --list docs       # and each place; "output": what tests/golden and docs/cli.md contain

A count is a hint where to read. Mend the sentence, not the match: docs/hacking.md has the rules and rewrites.
"""

import ast
import io
import pathlib
import re
import sys
import tokenize

from sources import Rule, sources

PATTERNS = {
    "opens with a preposition or relative word instead of a subject": r"(?:^|(?<=[.:!?] ))(?:Of (?:which|what|whom|whose|a|an|the|those|these|all|each|one|it|them|that|other)\b|What\b(?![^.]{0,120}\?)|Whose\b(?![^.]{0,120}\?)|Whoever\b|By which\b|In which\b|With which\b|From which\b|That of\b|Those of\b)",
    "'is of' for belongs to": r"\b(?:is|are|was|were|be) of (?!course|interest|use\b|the form|type|size|length|order)",
    "'none' or 'nobody' as a subject or predicate": r"\b(?:[Nn]obody|[Ww]hoever|(?:is|are|was|has|have) none\b|[Nn]one (?:is|has|of it)\b)",
    "'what ... is' as a noun": r"\b(?:of|from|for|with|by|in|to|and|than|as|beside) what (?:\w+ ){1,6}(?:is|are|was|has|have|gives?|does|do|did|had|say|says|said|made|makes)\b",
    "a program that says, tells or asks": r"\b(?:says?|said|tells?|told|asks?|asked) (?:so|that it|which|of it|of them|by|with|before|what|where|no|nothing|the same)\b",
    "'that of', 'of its own' for a noun a line away": r"\b(?:that of|those of|one of its own|of its own|of theirs|of ours)\b",
    "'beside' for next to or in addition": r"\b[Bb]eside\b",
    "'in hand', 'at hand', 'on file'": r"\b(?:in hand|at hand|on file)\b",
}
EXPRESSIONS = {reason: re.compile(pattern) for reason, pattern in PATTERNS.items()}
WRITTEN_BY_PROGRAMS = ("docs/cli.md",)  # the help of the program, which tests/golden compares

BOUND = 0.5  # the most per 1,000 words that a folder may have; never raise it


def _script_paragraphs(source):
    """Docstrings, and blocks of comments, of a Python file."""
    text = "\n".join(source.lines) + "\n"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node):
            yield node.body[0].lineno, " ".join(ast.get_docstring(node).split())
    first, last, found = 0, 0, []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT or token.string.startswith("#!"):
            continue
        line, body = token.start[0], token.string.lstrip("# ")
        if found and line != last + 1:
            yield first, " ".join(found)
            found = []
        first, last, found = first if found else line, line, [*found, body]
    if found:
        yield first, " ".join(found)


def is_output(source):
    """Whether the program printed the file: a view of tests/golden, or its help."""
    return source.path in WRITTEN_BY_PROGRAMS or (source.path.startswith("tests/golden/") and source.suffix == ".txt")


def _output_paragraphs(source):
    """Lines up to the next empty one."""
    first, found = 0, []
    for number, line in enumerate([*source.lines, ""], 1):
        if line.strip() and not line.startswith("```"):
            first = first if found else number
            found.append(line.strip())
        elif found:
            yield first, " ".join(found)
            found = []


def paragraphs(source):
    """(first line, text) of each comment, of each paragraph of a page without its code, or of each paragraph of output."""
    if is_output(source):
        return list(_output_paragraphs(source))
    if source.suffix == ".py":
        return sorted(_script_paragraphs(source))
    is_page = source.suffix == ".md"
    found, lines, first = [], [], 0
    in_code = False
    for number, line in enumerate(source.lines, 1):
        stripped, body = line.strip(), None
        if is_page:
            if stripped.startswith("```"):
                in_code = not in_code
            elif not in_code and not line.startswith(("    ", "#")) and stripped:
                body = re.sub(r"`[^`]*`", "x", line).replace("|", " . ").strip(" -*")
        else:
            comment = re.search(r"(?:^|\s)//[/!]?<? ?(.*)$", line)
            if comment and "http" not in line:
                body = comment.group(1)
            elif stripped.startswith(("/*", "* ", "*/")):
                body = stripped.strip("/* ")
        if body is None or (not body and not lines):
            if lines:
                found.append((first, " ".join(lines)))
                lines = []
        else:
            first = first if lines else number
            lines.append(body)
    if lines:
        found.append((first, " ".join(lines)))
    return found


def words(text):
    return len(re.findall(r"[A-Za-z]+", text))


def places(source):
    """(line, reason, text) of each wording to decode."""
    for line, text in paragraphs(source):
        for reason, expression in EXPRESSIONS.items():
            for _ in expression.finditer(text):
                yield line, reason, text


def top_folder(path):
    """tools/model of tools/model/capture.h, docs of docs/fit.md, "." of README.md."""
    parts = path.split("/")[:-1]
    return "/".join(parts[:2] if parts[:1] == ["tools"] else parts[:1]) or "."


def read(tree):
    """Top folder, or "output" -> its sources with prose."""
    folders = {}
    for source in sources(tree):
        if is_output(source):
            folders.setdefault("output", []).append(source)
        elif source.suffix in (".md", ".py", ".h", ".hpp", ".cc", ".cpp", ".cu", ".def", ".proto", ".ts"):
            folders.setdefault(top_folder(source.path), []).append(source)
    return folders


def count(folder):
    """Places per 1,000 words of these sources."""
    total = sum(words(text) for source in folder for _, text in paragraphs(source))
    return 1000 * sum(len(list(places(source))) for source in folder) / max(total, 1)


def few_wordings_to_decode(tree):
    """Comments and pages of each folder are understood at the first reading (docs/hacking.md)."""
    for name, folder in sorted(read(tree).items()):
        if count(folder) > BOUND:
            for source in folder:
                for line, reason, text in places(source):
                    yield f"{source.path}:{line}: {reason}: {text[:120]}"
            yield f"{name}: {count(folder):.2f} wordings to decode per 1,000 words, more than {BOUND}"


NAMED_FILE = re.compile(r"(?<![\w/.<*-])((?:interpose|simcuda|tracker|tools|proto|python|tests|examples|docs|cmake|setup|bazel-compat|queries|skills)/[\w./-]*\w\.(?:h|hpp|cc|cu|c|def|proto|py|ts|md|txt|sql|cmake|sh|json))\b")
NOT_IN_THE_TREE = re.compile(r"[A-Z]{2,}|X\.Y|\.pb\.h$|/built_in_\w+\.h$|\bcapture_fields\.h$|node_modules")  # placeholders, and files that a build generates


def named_files_exist(tree):
    """A file that a comment or a page names by its path is there."""
    for folder in read(tree).values():
        for source in folder:
            for number, line in enumerate(source.lines, 1):
                for path in NAMED_FILE.findall(line):
                    is_seed = source.folder == "tests/rules"  # seeds name files that no tree has
                    if not is_seed and not NOT_IN_THE_TREE.search(path) and not (tree / path).exists() and not (tree / source.folder / path).exists():
                        yield f"{source.path}:{number}: {path} is not there"


RULES = (
    Rule(named_files_exist, ({"interpose/ring/ring.h": "// Records are defined in interpose/nowhere.h.\n"}, {"docs/fit.md": "See `tools/fit/nowhere.cc`.\n"})),
    Rule(
        few_wordings_to_decode,
        (
            {"docs/fit.md": "What is no rank and did nothing is a launcher, or what only imported torch.\n"},
            {"interpose/ring/ring.h": "// Of which threads an operator that runs is seen.\n"},
            {"python/_torch_memoir/_names.py": '"""Of a budget nothing passes that more of the recording could change."""\n'},
            {"tests/golden/views/run.txt": "no rank (pid 90) cpu: peak 5.0 KiB\n\n! Of the run what is on file; nobody knows\n  the rest\n"},
            {"docs/cli.md": "```\nTell of which block a program says that it is none.\n```\n"},
        ),
    ),
)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--list"]
    for name, folder in sorted(read(pathlib.Path(__file__).resolve().parents[2]).items()):
        if arguments and name not in arguments:
            continue
        if "--list" in sys.argv:
            for source in folder:
                for line, reason, text in places(source):
                    print(f"{source.path}:{line}: {reason}: {text[:160]}")
        print(f"{name}: {count(folder):.2f} per 1,000 words")


if __name__ == "__main__":
    main()
