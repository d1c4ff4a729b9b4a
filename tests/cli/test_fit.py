"""memoir fit, with programs that write a device's report as the simulated device would: no torch is needed.

tests/simulated/test_fit.py has the real thing.
"""

import json
import os
import re
import struct
import subprocess
import sys
import zlib

import pytest

from fit_programs import TORCH, FAKE, MIB, ROOT, fake, fit, fit_tree, one_paragraph  # noqa: F401 (fixtures)


# One card


def test_fits(fit):
    done = fit("--gpu", "t4", *fake("8000"))
    assert done.returncode == 0 and done.stdout == "out of t4\n"
    text = one_paragraph(done.stderr)
    assert "fake.py on a SIMULATED Tesla T4 (t4): fits: takes 8.30 GiB of 14.6 GiB, 6.26 GiB to spare" in text
    assert "context 500.0 MiB" in text and "Estimates from tables" in text


def test_does_not_fit(fit):
    done = fit("--gpu", "t4", *fake("20000"))
    assert done.returncode == 7 and done.stdout == "out of t4\n"
    text = one_paragraph(done.stderr)
    assert "does not fit: takes 20.0 GiB, 5.46 GiB more than the card's 14.6 GiB" in text and "asking for 19.5 GiB with 500.0 MiB in use" in text
    assert "in a run without the card's limit" in text


def test_memory_in_place_of_the_cards(fit):
    assert "fits, barely: takes 20.0 GiB of 20.5 GiB" in one_paragraph(fit("--gpu", "t4", "--mem", "20992MiB", *fake("20000")).stderr)


@pytest.mark.parametrize("need, verdict", [(13800, "fits"), (14000, "fits_barely"), (14500, "does_not_fit")])
def test_barely_is_a_verdict_of_its_own(fit, need, verdict):
    """T4: 14,909 MiB, of which a process takes 500 here; the tables are exact to 512 MiB, or to 3 % of larger cards."""
    report = json.loads(fit("--json", "--gpu", "t4", *fake(need)).stdout)
    card, = report["cards"]
    assert card["verdict"] == verdict and card["tables_are_exact_to_bytes"] == report["tables_are_exact_to_bytes"] == 512 * MIB
    assert f' (torch {report["torch_version"]})' == TORCH or report["torch_version"] is None and TORCH == ""


def test_the_verdict_is_for_the_least_that_drivers_report_and_says_so(fit):
    report = json.loads(fit("--json", "--gpu", "a100-40", "--mem", "39444MiB", *fake("38000")).stdout)
    assert (report["cards"][0]["verdict"], report["cards"][0]["memory_most_bytes"]) == ("fits_barely", 39444 * MIB), "of a figure of one's own"
    done = fit("--gpu", "t4", *fake("14420"))
    assert "does not fit" in done.stderr and "Drivers report 14.6 GiB to 14.8 GiB for this card (ECC, driver, cloud); the verdict is for the least." in one_paragraph(done.stderr)
    assert "Drivers report" not in fit("--gpu", "t4", *fake("20000")).stderr, "it fits with no driver"


def test_several_cards_by_name(fit):
    done = fit("--json", "--gpu", "v100-32,l4,v100-32", *fake("8000"))
    assert [card["card"] for card in json.loads(done.stdout)["cards"]] == ["v100-32", "l4"]
    assert "unknown card h10" in fit("--gpu", "l4,h10", *fake("8000")).stderr


@pytest.mark.parametrize("arguments, said", [((), ""), (("--addresses", "wsl"), "wsl")])
def test_the_order_of_addresses_reaches_the_device(fit, arguments, said):
    shows = "import os; print(os.environ.get('MEMOIR_SIM_ADDRESSES', ''))"
    assert fit(*arguments, "--", sys.executable, "-c", shows).stdout == said + "\n"


def test_what_handles_the_error_ends_well(fit):
    done = fit("--gpu", "t4", *fake("20000", "--handles"))
    assert done.returncode == 0 and "ran out, and went on" in done.stderr


def test_more_than_any_card_has(fit):
    assert "takes more than 1.00 TiB" in one_paragraph(fit("--gpu", "t4", *fake(2 << 20)).stderr)


def test_quiet_is_one_line(fit):
    assert len(fit("-q", "--gpu", "t4", *fake("8000")).stderr.splitlines()) == 1


def test_json_is_alone_on_standard_output(fit):
    done = fit("--json", "--gpu", "t4", *fake("20000"))
    report = json.loads(done.stdout)
    assert done.returncode == 7 and "out of t4" in done.stderr
    card, = report["cards"]
    assert report["view"] == "fit" and report["simulated"] is True and report["command"][1:] == ["fake.py", "20000"]
    assert (card["card"], card["verdict"], card["memory_bytes"]) == ("t4", "does_not_fit", 14909 * MIB)
    assert card["need"] == {"low_bytes": 20500 * MIB, "high_bytes": 20500 * MIB}
    assert card["headroom_bytes"] == (14909 - 20500) * MIB
    limited, unlimited = card["runs"]
    assert (limited["limited_to_card"], limited["exit_code"], unlimited["limited_to_card"], unlimited["exit_code"]) == (True, 7, False, 0)
    peak = unlimited["processes"][0]["devices"][0]
    assert sum(peak["peak"].values()) == peak["peak_bytes"] == 20500 * MIB


@pytest.mark.parametrize("need, verdict, code, low, high", [
    (3000, "fits", 0, 3500, 12500), (5000, "depends", 0, 5500, 20500), (20000, "does_not_fit", 7, 20500, 80500),
])
def test_shapes_that_are_not_known_give_an_interval(fit, need, verdict, code, low, high):
    done = fit("--json", "--gpu", "t4", *fake(need, "--routes"))
    card, = json.loads(done.stdout)["cards"]
    assert (done.returncode, card["verdict"]) == (code, verdict)
    assert card["need"] == {"low_bytes": low * MIB, "high_bytes": high * MIB}
    assert card["unknowns"] == ["values that were not computed, in aten::masked_select, aten::nonzero"]


def test_a_table_with_intervals(fit):
    assert "t4 14.6 GiB 5.37 GiB to 20.0 GiB -5.46 GiB depends" in one_paragraph(fit("--gpu", "all", *fake("5000", "--routes")).stdout)


def test_least_that_fails_is_bounded_by_the_most(fit, tmp_path):
    """A program that cannot go on with nothing selected, as some cannot."""
    end = 'sys.exit(0 if fits or "--handles" in arguments else 7)'
    assert end in FAKE
    (tmp_path / "needs_some.py").write_text(FAKE.replace(end, 'sys.exit(0 if os.environ.get("MEMOIR_SIM_UNKNOWN") == "most" else 1)'))
    done = fit("--gpu", "t4", "--", sys.executable, "needs_some.py", "3000", "--routes")
    text = one_paragraph(done.stderr)
    assert done.returncode == 0 and "fits: takes up to 12.2 GiB of 14.6 GiB" in text and "With the lowest the program failed (exit code 1)" in text


def test_line_before_it_starts_on_a_terminal_alone(fit_tree, tmp_path):
    (tmp_path / "fake.py").write_text(FAKE)
    master, slave = os.openpty()
    command = [fit_tree / "bin/memoir", "fit", "--gpu", "t4", *fake("8000")]
    done = subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave, text=True, timeout=120)
    os.close(slave)
    written = os.read(master, 1 << 16).decode()
    os.close(master)
    assert done.returncode == 0 and done.stdout == "out of t4\n"
    assert one_paragraph(written).startswith("fake.py runs on a SIMULATED Tesla T4; the answer comes after its output (^C: what it took until then)")


# Several cards


def test_table(fit):
    done = fit("--gpu", "all", *fake("20000"))
    assert done.returncode == 0 and done.stderr == ""
    rows = {line.split()[0]: " ".join(line.split()) for line in done.stdout.splitlines() if line.startswith("  ")}
    assert list(rows)[:3] == ["card", "t4", "l4"]      # by memory
    assert rows["t4"].startswith("t4 14.6 GiB 20.0 GiB -5.46 GiB does not fit")
    assert rows["h100"] == "h100 79.2 GiB 20.0 GiB +59.2 GiB fits"
    assert "SIMULATED" in done.stdout


def test_output_is_kept_where_asked(fit, tmp_path):
    assert fit("--gpu", "all", "-o", "kept", *fake("8000")).returncode == 0
    assert (tmp_path / "kept/l4/output.txt").read_text() == "out of l4\n"


def test_failing_on_every_card_for_another_reason(fit):
    done = fit("--gpu", "all", *fake("--code", "5"))
    assert done.returncode == 5
    assert done.stderr == "memoir: h100: the last line\n"
    assert "t4: exit code 5, before it used the GPU: no answer" in done.stdout


def test_one_rank_of_a_world(fit):
    done = fit("--rank", "9", "--world", "16", "--", "sh", "-c", "echo $RANK $WORLD_SIZE $LOCAL_RANK")
    assert done.stdout == "9 16 1\n"


# A value that varies


def pixels(png):
    """Rows of (red, green, blue)."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data = 8, b""
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", png[at + 8 + size:at + 12 + size])[0]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        data += body if kind == b"IDAT" else b""
        at += 12 + size
    raw, rows, before = zlib.decompress(data), [], bytes(width * 3)
    for y in range(height):
        method, line = raw[y * (width * 3 + 1)], bytearray(raw[y * (width * 3 + 1) + 1:(y + 1) * (width * 3 + 1)])
        for x in range(width * 3):
            left, up, corner = (line[x - 3] if x > 2 else 0), before[x], (before[x - 3] if x > 2 else 0)
            guess = left + up - corner
            paeth = min((left, up, corner), key=lambda value: abs(guess - value))
            line[x] = (line[x] + (0, left, up, (left + up) // 2, paeth)[method]) % 256
        rows.append([tuple(line[x:x + 3]) for x in range(0, width * 3, 3)])
        before = bytes(line)
    return rows


def test_largest_value(fit, tmp_path):
    done = fit("--gpu", "t4", "--vary", "NEED=1000:30000:1000", "--png", "curve.png", *fake("{NEED}"))
    assert done.returncode == 0
    assert f"the largest NEED that fits is 14,000, barely (409.0 MiB to spare); 15,000 does not{TORCH}." in one_paragraph(done.stdout)
    assert "The spare memory is less than the uncertainty of the tables (512.0 MiB): it may not fit." in one_paragraph(done.stdout)
    assert "30,000 29.8 GiB" in one_paragraph(done.stdout)
    colors = {color for row in pixels((tmp_path / "curve.png").read_bytes()) for color in row}
    assert {(31, 119, 180), (214, 39, 40), (44, 160, 44)} <= colors      # a point that fits, one that does not, the card


def test_every_row_has_the_mark_of_the_legend(fit):
    """Where all that was tried fits, and where nothing does."""
    for needs in ("1000:3000:1000", "20000:22000:1000"):
        shown = fit("--gpu", "t4", "--vary", f"NEED={needs}", *fake("{NEED}")).stdout
        rows = [line for line in shown.splitlines() if re.match(r"\s+\d+,\d+\s", line)]
        assert rows and all(line.count("│") == 1 for line in rows) and "│ marks the card's memory" in shown, shown


def test_largest_value_as_json(fit):
    report = json.loads(fit("--json", "--gpu", "t4", "--vary", "NEED=12000:15000:500", *fake("{NEED}")).stdout)
    assert (report["view"], report["largest_that_fits"], report["next_that_does_not"]) == ("fit_vary", 14000, 14500)
    assert [point["value"] for point in report["points"]] == list(range(12000, 15001, 500))
    assert report["smaller_that_do_not"] == []


def test_no_value_fits(fit):
    done = fit("-q", "--gpu", "t4", "--vary", "NEED=20000:30000", *fake("{NEED}"))
    assert done.returncode == 0 and done.stdout == "no NEED that was tried fits; the smallest was 20,000" + TORCH + "\n"


def test_no_value_gives_an_answer(fit):
    done = fit("-q", "--vary", "CODE=3:4", *fake("--code", "{CODE}"))
    assert done.returncode == 3 and done.stdout == "no CODE gave an answer\n"


def test_png_that_cannot_be_written_is_refused_before_anything_runs(fit, one_line, tmp_path):
    done = fit("--gpu", "t4", "--vary", "N=1:2", "--png", "no/such/folder.png", "--", "sh", "-c", "touch ran; exit {N}")
    assert done.returncode == 1 and done.stdout == ""
    assert one_line(done) == "memoir: cannot write no/such/folder.png: No such file or directory; choose another file with --png FILE"
    assert not (tmp_path / "ran").exists()


def test_png_that_cannot_be_written_any_more(fit, tmp_path):
    (tmp_path / "folder").mkdir()
    removes = "import shutil; shutil.rmtree('folder', ignore_errors=True); print({NEED})"
    done = fit("-q", "--gpu", "t4", "--vary", "NEED=1:2", "--png", "folder/curve.png", "--", sys.executable, "-c", removes)
    assert done.returncode == 1 and "memoir: cannot write folder/curve.png any more" in done.stderr


def test_a_file_that_was_there_is_replaced_only_by_a_picture(fit, tmp_path):
    (tmp_path / "curve.png").write_text("mine")
    assert fit("--gpu", "t4", "--vary", "N=1:2", "--png", "curve.png", "--", "no-such-command", "{N}").returncode == 127
    assert (tmp_path / "curve.png").read_text() == "mine"


def test_the_picture_says_that_it_is_simulated_also_to_programs(fit, tmp_path):
    assert fit("--gpu", "t4", "--vary", "NEED=1000:2000:1000", "--png", "curve.png", *fake("{NEED}")).returncode == 0
    png = (tmp_path / "curve.png").read_bytes()
    begin = png.index(b"tEXtDescription\0") + 16
    assert png[begin:].startswith(b"fake.py on a SIMULATED Tesla T4: the largest NEED that fits is 2,000 (")
    pixels(png)     # checksums of every chunk
