"""The glossary's words are used, and not those that docs/glossary.md lists as "not used": in comments, pages, help and golden output."""

import re

import wording
from sources import Rule

GLOSSARY = "docs/glossary.md"
HEADING = "## Words that are not used"


def _expression(words):
    """Words in prose: not a part of an identifier or an option, nor an argument such as `ops=`."""
    return re.compile(rf"(?<![\w.:=\"'<-])(?:{words})(?![\w:=<-]|\.\w)", re.IGNORECASE)


def forbidden(tree):
    """(word, expression, what to write, prefixes of paths in which the word remains) of each row of the table."""
    page = tree / GLOSSARY
    table = page.read_text(encoding="utf-8").partition(HEADING)[2] if page.exists() else ""
    for row in re.findall(r"^\|(.*)\|(.*)\|(.*)\|$", table, re.MULTILINE)[2:]:
        words, better, remains = (cell.strip() for cell in row)
        for word in words.split(", "):
            yield word, _expression(rf"{re.escape(word)}s?"), better, tuple(re.findall(r"`([^`]*)`", remains))


def glossary_words_are_used(tree):
    """One word for one thing: a comment, a page or the program's output does not use a word that the glossary lists as not used."""
    prose = [(source, line, re.sub(r"`[^`]*`", "x", text)) for folder in wording.read(tree).values() for source in folder for line, text in wording.paragraphs(source)]
    for word, expression, better, remains in forbidden(tree):
        yield from (f"{source.path}:{line}: '{word}' for {better}: {text[:120]}" for source, line, text in prose
                    if source.path != GLOSSARY and source.folder != "tests/rules" and not source.path.startswith(remains) and expression.search(text))


_TABLE = f"{HEADING}\n\n| not | but | remains in |\n|---|---|---|\n| keeper, keeping object | holder | |\n| op | operator | `docs/format.md` |\n"
RULES = (
    Rule(
        glossary_words_are_used,
        (
            {GLOSSARY: _TABLE, "interpose/ring/ring.h": "// The keeper of the block.\n"},
            {GLOSSARY: _TABLE, "docs/fit.md": "Blocks have\nkeepers.\n"},
            {GLOSSARY: _TABLE, "docs/fit.md": "Every op allocates.\n", "docs/format.md": "An op has a number.\n"},
            {GLOSSARY: _TABLE, "docs/cli.md": "```\nPrint the keeping\nobject.\n```\n"},
            {GLOSSARY: _TABLE, "tests/golden/views/run.txt": "kept by an op\n"},
            {GLOSSARY: _TABLE, "python/memoir/start.py": '"""Returns the keeper."""\n'},
        ),
    ),
)
