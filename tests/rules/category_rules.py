"""The table of docs/categories.md names the rules that there are, in their order, with their categories and reasons."""

import re

from sources import Rule

RULE = re.compile(r'\{"(\w+)", Category::k(\w+), "([^"]*)", HolderKind::k\w+, \w+,\s*((?:"[^"]*"\s*)+)\}')
ROW = re.compile(r"^\| `(\w+)` \| (.*?) \| (.*?) \|$", re.MULTILINE)


def words(name):
    return re.sub(r"(?<!^)([A-Z])", r" \1", name).lower()


def category_rules(tree):
    """docs/categories.md has a row for each rule of tools/analyze/categories/rules.cc, in its order, with its words."""
    source, page = tree / "tools/analyze/categories/rules.cc", tree / "docs/categories.md"
    code = source.read_text() if source.exists() else ""
    rules = [(name, words(kept) + (f" ({detail})" if detail else ""), "".join(re.findall(r'"([^"]*)"', because)))
             for name, kept, detail, because in RULE.findall(code)]
    rows = ROW.findall(page.read_text()) if page.exists() else []
    rows = rows[: len(rules)] if rules else rows
    if len(rules) < code.count("HolderKind::"):
        yield f"tools/analyze/categories/rules.cc: {code.count('HolderKind::')} rules, of which {len(rules)} can be read"
    for number, rule in enumerate(rules):
        row = rows[number] if number < len(rows) else None
        if row != rule:
            yield f"docs/categories.md: row {number + 1} is {row}, the rule {rule}"


CODE = 'Rule kRules[] = {{"a", Category::kOptimizerState, "b", HolderKind::kProgram, A, "because "\n "so"}};'
RULES = (
    Rule(category_rules, (
        {"tools/analyze/categories/rules.cc": CODE, "docs/categories.md": "| `a` | optimizer state | because so |\n"},
        {"tools/analyze/categories/rules.cc": CODE, "docs/categories.md": "| `a` | optimizer state (b) | because |\n"},
        {"tools/analyze/categories/rules.cc": CODE, "docs/categories.md": ""},
        {"tools/analyze/categories/rules.cc": CODE.replace("A,", "A, 1,"), "docs/categories.md": "| `a` | optimizer state (b) | because so |\n"},
    )),
)
