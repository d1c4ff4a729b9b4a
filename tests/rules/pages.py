"""Pages lead where they say they lead."""

import re

from sources import Rule, sources

LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)(#[^)\s]*)?\)")


def links_lead_somewhere(tree):
    """The file behind each relative link of a page is there."""
    pages = [source for source in sources(tree) if source.suffix == ".md"]
    for page in pages:
        folder = (tree / page.path).parent
        for number, line in enumerate(page.lines, 1):
            for target, _ in LINK.findall(line):
                if not (folder / target).exists():
                    yield f"{page.path}:{number}: {target} is not there"


RULES = (Rule(links_lead_somewhere, ({"docs/fit.md": "see [this](nowhere.md#at-all)\n"}, {"README.md": "see [this](docs/nowhere.md)\n"})),)
