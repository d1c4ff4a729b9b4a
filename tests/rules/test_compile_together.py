"""Which sources cmake/compile_together.py puts into one group."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake"))
import compile_together  # noqa: E402


def groups(folder, **texts):
    paths = []
    for name, text in texts.items():
        paths.append(str(folder / f"{name}.cc"))
        pathlib.Path(paths[-1]).write_text(text)
    return [[pathlib.Path(path).stem for path in group] for group in compile_together.groups_of(paths)]


def unnamed(text):
    return f"namespace memoir {{\nnamespace {{\n{text}\n}}  // namespace\n}}  // namespace memoir\n"


def test_sources_with_names_of_their_own_go_together(tmp_path):
    one, two = unnamed("int Line(int x) { int y = x; return y; }"), unnamed("struct Row { int x = 0, y = 0; };")
    assert groups(tmp_path, one=one, two=two, three="int Sum(int x, int y);\n") == [["one", "three", "two"]]


@pytest.mark.parametrize("text", (
    "int Line(const int* x) { return *x; }", "template <typename T>\nT Line(T x);", "constexpr int Row = 1, Line = 2;", "struct Line { int x; };",
    "enum class Line : int { kOne };", "using Line = int;", "void Print() { Line(); }", "const std::map<int, int> Line = {{1, 2}};"))
def test_sources_that_share_a_private_name_do_not(tmp_path, text):
    assert groups(tmp_path, one=unnamed("int Line(int x) { return x; }"), two=unnamed(text)) == []


@pytest.mark.parametrize("text", ("static int Line(int x) { return x; }\n", "#define Line 1\n", "namespace memoir {\nconstexpr int Line = 1;\n}\n"))
def test_private_names_are_also_static_functions_constants_and_macros(tmp_path, text):
    assert groups(tmp_path, one=text, two="int memoir::Width() { return Line; }\n") == []


def test_comments_and_strings_are_no_words(tmp_path):
    assert groups(tmp_path, one=unnamed("int Line();"), two='// Line\nconst char* text = "Line \\" Line";\n') == [["one", "two"]]


def test_words_of_a_header_count_where_only_the_other_includes_it(tmp_path, monkeypatch):
    monkeypatch.setattr(compile_together, "ROOT", tmp_path)
    (tmp_path / "page.h").write_text("struct Line;\n")
    user = '#include "page.h"\n'
    assert groups(tmp_path, one=unnamed("int Line();"), two=user) == []
    assert groups(tmp_path, three=user + unnamed("int Width(Line);"), four=user) == [["four", "three"]]


@pytest.mark.parametrize("text", ("#define XXH_INLINE_ALL\n#include <xxhash.h>\n", "#include <vector>\n\nusing namespace std;\n"))
def test_what_changes_the_meaning_of_others_stands_alone(tmp_path, text):
    assert groups(tmp_path, one=text, two="int two;\n") == []
