"""Every line that `memoir doctor` can print has a test that makes it true: tests/cli/test_doctor.py."""

import re

from sources import Rule, sources

TESTS = "tests/cli/test_doctor.py"


def doctor_lines(source):
    """(line number, level, subject, the words of finding and fix) of each Check that is written out."""
    text = "\n".join(source.code_lines)
    for match in re.finditer(r"\{\s*(?:Check::)?Level::k(\w+),\s*(\"[^\"]*\"|\w+),", text):
        depth, end, quoted = 1, match.end(), False
        while depth > 0 and end < len(text):
            quoted ^= text[end] == '"' and text[end - 1] != "\\"
            depth += 0 if quoted else {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        literals = re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r'"\s*\n\s*"', "", text[match.end() : end]))
        words = [piece.strip(" :;()") for literal in literals for piece in re.split(r"\{[^{}]*\}", literal)]
        yield text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2), [piece for piece in words if len(piece) >= 6]


def doctor_lines_have_tests(tree):
    """The words of each line, and a question for its subject, stand in the tests of doctor."""
    tests = next((s.text for s in sources(tree) if s.path == TESTS), "")
    tests = re.sub(r'"\s*\n\s*"', "", tests)
    for source in sources(tree):
        if not source.path.startswith("tools/cli/") or source.suffix != ".cc":
            continue
        for number, level, subject, words in doctor_lines(source):
            for text in words + ([f'doctor({subject}'] if subject.startswith('"') else []):
                if text not in tests:
                    yield f"{source.path}:{number}: no test in {TESTS} has the words '{text}'"


RULES = (
    Rule(
        doctor_lines_have_tests,
        (
            {"tools/cli/doctor/doctor_checks.cc": 'return {Level::kWrong, "moon", "it is full", "wait a week"};\n', TESTS: "moon"},
            {"tools/cli/doctor/doctor_checks.cc": 'return {Level::kFine, "moon", where, ""};\n', TESTS: ""},
            {"tools/cli/doctor/doctor_checks.cc": 'checks.push_back({Check::Level::kNote, "moon", fmt::format("{} is {}", a, b),\n  "wait for "\n  "the sun"});\n'},
        ),
    ),
)
