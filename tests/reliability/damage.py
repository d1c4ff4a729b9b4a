"""Captures that were damaged on purpose, read by `memoir show`: it is the program of a try, and its messages about the damage are checked."""

import json
import os
import pathlib
import subprocess

from faults import fault
from lab import NOT_JUDGED, NotHere, Try

HANGS_AFTER = 120


def original(lab):
    folder = lab.new_folder()
    lab.run(folder=folder, keep=True, program="shapes", arguments=[3000])
    part, = (folder / "capture").glob("*.memoir")
    return part


def flipped(random, data):
    at = random.randrange(len(data))
    data[at] ^= 1 << random.randrange(8)


def header_flipped(random, data):
    data[random.randrange(min(400, len(data)))] ^= 1 << random.randrange(8)


def cut(random, data):
    del data[random.randrange(len(data)):]


def hole(random, data):
    at = random.randrange(len(data))
    del data[at:at + random.randrange(1, 4096)]


def zeroed(random, data):
    at = random.randrange(len(data))
    end = min(len(data), at + random.randrange(1, 4096))
    data[at:end] = bytes(end - at)


def doubled(random, data):
    at = random.randrange(len(data))
    data[at:at] = data[at:at + random.randrange(1, 4096)]


def look(lab, folder):
    """Exit code, the page as JSON without what damage is said, and the words that were said."""
    try:
        done = subprocess.run([lab.tree / "bin" / "memoir", "show", "--json", folder], capture_output=True, text=True, timeout=HANGS_AFTER)
    except subprocess.TimeoutExpired:
        return -1, None, ""
    if done.returncode != 0:
        return done.returncode, None, done.stderr.strip()
    report = json.loads(done.stdout)
    words = [damage["what"] for damage in report.pop("damage")]
    words += [f"{name} {report[name]}" for name in ("lost_records", "lost_chunks") if report[name]]
    words += [f"missing_parts {process['missing_parts']}" for process in report["processes"] if process["missing_parts"]]
    words += [f"end {process['end']}" for process in report["processes"] if process["end"] not in ("stopped", "exited")]
    return 0, report, "; ".join(words)


def calls(report):
    return sum(row["count"] for row in report["operators"]) if report else 0


def damaged(*ways):
    def tries(lab, long):
        part = original(lab)
        whole = part.read_bytes()
        _, right, words = look(lab, part.parent)
        assert right is not None and not words, words
        for number in range(600 if long else 30):
            data = bytearray(whole)
            ways[number % len(ways)](lab.random, data)
            part.write_bytes(data)
            code, page, words = look(lab, part.parent)
            result = Try(of=calls(right), lost=max(0, calls(right) - calls(page)), words=words)
            if code < 0:
                result.disturbed = f"memoir show ended by signal or hung after {ways[number % len(ways)].__name__}"
            elif words:
                result.verdict = "said"
            elif page != right:
                result.verdict, result.words = "wrong", f"{ways[number % len(ways)].__name__}: another page, and not a word"
            yield result

    return tries


fault("captures with a bit flipped, checksums as they were")(damaged(flipped))
fault("captures with a bit flipped in the first 400 bytes")(damaged(header_flipped))
fault("captures cut, with holes, zeros, doubled pieces")(damaged(cut, hole, zeroed, doubled))


def damage_ring(random, data, pages, way):
    page = random.choice(pages)
    at, size = page + random.randrange(4096), random.randrange(1, 64)
    if way == "a bit":
        data[at] ^= 1 << random.randrange(8)
    elif way == "zeros":
        data[at:at + size] = bytes(len(data[at:at + size]))
    elif way == "noise":
        data[at:at + size] = random.randbytes(len(data[at:at + size]))
    elif way == "a page of another place":
        other = random.choice(pages)
        data[page:page + 4096] = data[other:other + 4096]
    else:
        del data[at:]


@fault("the ring of a killed process with bits, pieces or pages changed, or cut; merged afterwards")
def rings(lab, long):
    """The program is memoir-drain, and `memoir show` on its result: the calls are not compared with the program's."""
    ways = ("a bit", "zeros", "noise", "a page of another place", "cut")
    folder = lab.new_folder()
    lab.ask(folder, arguments=[1_000_000_000], kill_at=3000)
    ring, = (folder / "ring").glob("*.ring")
    whole, parts = ring.read_bytes(), {path: path.read_bytes() for path in (folder / "capture").iterdir()}
    pages = [at for at in range(0, len(whole), 4096) if whole[at:at + 4096] != bytes(4096)]  # most of a ring is zeros
    for number in range(600 if long else 20):
        way, data = ways[number % len(ways)], bytearray(whole)
        for _ in range(1 if way == "cut" else lab.random.choice((1, 3, 30))):
            damage_ring(lab.random, data, pages, way)
        for path in (folder / "capture").iterdir():
            path.unlink()
        for path, content in parts.items():
            path.write_bytes(content)
        ring.write_bytes(data)
        drained = subprocess.run([lab.tree / "libexec" / "memoir" / "memoir-drain", ring], capture_output=True, text=True, timeout=HANGS_AFTER)
        code, _, _ = look(lab, folder / "capture")
        yield Try(verdict=NOT_JUDGED, disturbed="" if drained.returncode in (0, 1) and code >= 0 else f"{way}: memoir-drain {drained.returncode}, memoir show {code}")
    lab.remove(folder)


@fault("captures with damage of each kind under valid checksums, every analysis (tests/fuzz)", only_long=True)
def with_checksums(lab, long):
    program = pathlib.Path(lab.tree).parent / "tests" / "fuzz" / "mutation_test"
    if not program.exists():
        raise NotHere(f"{program.name} was not built")
    report = lab.folder / "mutations.json"
    done = subprocess.run([program, "--gtest_filter=MutationTest.OfPayloads", f"--gtest_output=json:{report}"], capture_output=True, text=True,
                          env={**os.environ, "MEMOIR_TEST_LONG": "1"})
    suite, = json.loads(report.read_text())["testsuites"]
    test, = suite["testsuite"]
    for number in range(int(test["mutations"])):
        yield Try(verdict=NOT_JUDGED, disturbed="" if done.returncode == 0 else f"mutation_test: {done.stdout[-300:]}")
