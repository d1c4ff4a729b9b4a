"""python tests/card/table.py: writes the table of docs/tested/real_card.md from h100.json."""

import json
import pathlib

HERE = pathlib.Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "tested" / "real_card.md"
MIB = 1 << 20


def percent(real, found):
    error = (found - real) / real
    return "0" if error == 0 else f"{error:+.2%}"


def rows(programs):
    yield "| program | peak allocated there | error, first | error, now | peak reserved there | error, first | error, now | outside of torch, MiB |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for name, figures in programs.items():
        real, before, now = figures["real"], figures["before"], figures.get("now")
        cells = [name.replace("_", " ")]
        for key in ("allocated", "reserved"):
            cells += [f"{real[key]:,}", percent(real[key], before[key]), percent(real[key], now[key]) if now else ""]
        yield "| " + " | ".join([*cells, f"{(real['process_bytes'] - real['end_reserved']) / MIB:.0f}"]) + " |"


def summary(programs):
    def counts(which, chosen):
        errors = [abs(figures[which]["reserved"] / figures["real"]["reserved"] - 1) for figures in chosen]
        return f"of {len(errors)} programs {sum(error == 0 for error in errors)} reserved as much to the byte, {sum(error < 0.02 for error in errors)} within 2 %"
    again = [figures for figures in programs.values() if "now" in figures]
    return f"First: {counts('before', programs.values())}.\nNow: {counts('now', again)}."


def main():
    programs = json.loads((HERE / "h100.json").read_text())["programs"]
    assert all(figures["recorded_exactly"] == ["full", "auto"] for figures in programs.values())
    begin, end = "<!-- table -->\n", "<!-- end of table -->"
    before, rest = PAGE.read_text().split(begin)
    PAGE.write_text(before + begin + summary(programs) + "\n\n" + "\n".join(rows(programs)) + "\n" + end + rest.split(end, 1)[1])


if __name__ == "__main__":
    main()
