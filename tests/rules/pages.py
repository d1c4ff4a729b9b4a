"""Pages lead where they say they lead."""

import re

from conventions import MAX_COLUMNS
from sources import Rule, sources

LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)(#[^)\s]*)?\)")
SECTION = re.compile(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)")


def links_lead_somewhere(tree):
    """The file behind each relative link of a page is there."""
    pages = [source for source in sources(tree) if source.suffix == ".md"]
    for page in pages:
        folder = (tree / page.path).parent
        for number, line in enumerate(page.lines, 1):
            for target, _ in LINK.findall(line):
                if not (folder / target).exists():
                    yield f"{page.path}:{number}: {target} is not there"


def _anchors(page):
    """Those that GitHub makes of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    words = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", word.strip().lower()).replace(" ", "-") for word in words}


def sections_are_there(tree):
    """The heading behind a link such as fit.md#exact, or #exact in the page itself, is in that page."""
    for page in (source for source in sources(tree) if source.suffix == ".md"):
        for number, line in enumerate(page.lines, 1):
            for target, anchor in SECTION.findall(line):
                file = (tree / page.path).parent / target if target else tree / page.path
                if file.suffix == ".md" and file.exists() and anchor not in _anchors(file):
                    yield f"{page.path}:{number}: {target or page.path} has no heading for #{anchor}"


def prose_fits(tree):
    """A line of text has at most MAX_COLUMNS, so that a change of it shows as a line; tables, code, headings and pictures are as long as they are."""
    for page in (source for source in sources(tree) if source.suffix == ".md"):
        in_code = False
        for number, line in enumerate(page.lines, 1):
            in_code ^= line.lstrip().startswith("```")
            is_prose = not in_code and not line.startswith("    ") and not re.match(r"\s*[|#!<]", line)
            if is_prose and len(line) > MAX_COLUMNS and " " in line.strip():
                yield f"{page.path}:{number}: {len(line)} columns, more than {MAX_COLUMNS}"


RULES = (
    Rule(links_lead_somewhere, ({"docs/fit.md": "see [this](nowhere.md#at-all)\n"}, {"README.md": "see [this](docs/nowhere.md)\n"})),
    Rule(
        sections_are_there,
        ({"docs/fit.md": "# Fit\n\nsee [this](#at-all)\n"}, {"docs/fit.md": "see [this](card.md#the-tables)\n", "docs/card.md": "## Tables\n"}),
    ),
    Rule(prose_fits, ({"docs/fit.md": "word " * 30},)),
)
