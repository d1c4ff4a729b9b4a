"""memoir export redacted and memoir reveal: the numbers stay, the names go, and who has the key has them again."""

import json
import os
import pathlib
import pickle
import re
import shutil
import stat
import subprocess

import pytest
import zstandard

RELEASED = pathlib.Path(__file__).resolve().parents[1] / "format" / "released"
# Names in the samples, and names of the host and the folders here. If two are equal, the first by name is the main one.
OF_THE_ORDER = {"headline", "cause"}
SECRETS = ["testhost", "train_step", "Critic", "scale_and_shift", "my_library", "model built", "No space left", "train.py", "layers", "fc1"]
VIEWS = (["show"], ["show", "--by", "category,module"], ["show", "--by", "line"], ["show", "--by", "parameter"], ["show", "--by", "range"],
         ["show", "--tree"], ["show", "--at", "peak"], ["check"], ["check", "leaks"])
# Properties of the file: its name, its size, the places of damage.
OF_THE_FILE = {"capture", "file_bytes", "offset", "damage"}


def unescape(text):
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1").decode("utf-8", "replace")


def names_of(key):
    return dict((line.split("\t")[0], unescape(line.split("\t")[1])) for line in pathlib.Path(f"{key}.names").read_text().splitlines())


def revealed(text, names):
    return re.sub("h_[0-9a-f]{12}", lambda match: names[match[0]], text)


def comparable(value, names):
    """With names, in an order that they do not change: what is equal otherwise is sorted by them."""
    if isinstance(value, dict):
        return {key: comparable(item, names) for key, item in value.items() if key not in OF_THE_FILE | OF_THE_ORDER}
    if isinstance(value, list):
        return sorted((comparable(item, names) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    if isinstance(value, str) and value.startswith("_Z"):  # a kernel's own name stays, arguments of its template are one hash
        return value[:24]
    return revealed(value, names) if isinstance(value, str) else value


def result(memoir, arguments, capture, names):
    first, subject = (arguments[:1], arguments[1:]) if arguments[0] == "explain" else (arguments, [])
    done = memoir(*first, "--json", capture, *subject)
    said = [] if done.returncode in (0, 3) else [revealed(done.stderr.replace(str(capture), "CAPTURE"), names)]
    return done.returncode, comparable(json.loads(done.stdout), names) if done.stdout else said


def texts_of(folder):
    """All bytes of a capture, of its files' names, and of what is compressed in it."""
    for path in sorted(folder.rglob("*")):
        yield path.relative_to(folder).as_posix().encode()
        if path.is_file():
            content = path.read_bytes()
            yield content
            for at in (match.start() for match in re.finditer(rb"\x28\xb5\x2f\xfd", content)):
                try:
                    yield zstandard.ZstdDecompressor().decompressobj().decompress(content[at:])
                except zstandard.ZstdError:
                    pass


@pytest.fixture(autouse=True)
def key(tmp_path):
    """Always the same, so that what is ordered by hashes is."""
    path = tmp_path / "key"
    path.write_text("5a" * 32 + "\n")
    path.chmod(0o600)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory):
    """As torch.cuda.memory._dump_snapshot writes it."""
    frames = [{"filename": "/opt/canary/project.py", "name": "canary_function", "line": 12}]
    event = {"action": "alloc", "addr": 4096, "size": 1024, "stream": 0, "time_us": 1000, "frames": frames}
    block = {"address": 4096, "size": 1024, "requested_size": 1000, "state": "active_allocated", "frames": frames}
    segment = {"device": 0, "address": 4096, "total_size": 2097152, "stream": 0, "segment_type": "small", "segment_pool_id": (0, 0),
               "blocks": [block, {"address": 5120, "size": 2096128, "requested_size": 0, "state": "inactive", "frames": []}]}
    path = tmp_path_factory.mktemp("snapshot") / "canary_project.pickle"
    path.write_bytes(pickle.dumps({"segments": [segment], "device_traces": [[event]], "allocator_settings": {}}, protocol=4))
    return path


@pytest.fixture
def captures(samples, snapshot):
    every = [path for path in sorted(samples.iterdir()) if any(path.glob("*.memoir"))]
    return [*every, *sorted(path for path in RELEASED.iterdir() if path.is_dir()), snapshot]


def test_every_number_stays(memoir, captures, tmp_path):
    compared = 0
    for capture in captures:
        redacted = tmp_path / f"redacted-{capture.name}"
        done = memoir("export", "redacted", capture, "-o", redacted, "--key", tmp_path / "key")
        assert done.returncode == 0, (capture, done)
        names = names_of(tmp_path / "key")
        for view in VIEWS:
            assert result(memoir, view, capture, names) == result(memoir, view, redacted, names), (capture, view)
            compared += 1
    assert compared > 200


def test_every_life_stays(memoir, samples, tmp_path):
    """memoir explain, of each block that a capture with categories has."""
    memoir("export", "redacted", samples / "trained", "-o", tmp_path / "redacted", "--key", tmp_path / "key")
    names = names_of(tmp_path / "key")
    blocks = json.loads(memoir("export", "categories", samples / "trained").stdout)["blocks"]
    addresses = sorted({block["address"] for block in blocks})
    assert len(addresses) > 5
    for address in addresses:
        first, second = (result(memoir, ["explain", address], capture, names) for capture in (samples / "trained", tmp_path / "redacted"))
        assert first == second and first[1]["matches"] > 0, address


def test_no_name_stays(memoir, captures, tmp_path):
    for capture in captures:
        memoir("export", "redacted", capture, "-o", tmp_path / "redacted", "--key", tmp_path / "key")
        names = [name for name in names_of(tmp_path / "key").values() if len(name) > 3]
        texts = list(texts_of(tmp_path / "redacted"))
        for secret in (*names, *SECRETS, "canary"):
            word = re.compile(rb"(?<![A-Za-z0-9_:])" + re.escape(secret.encode()) + rb"(?![A-Za-z0-9_])")
            assert not any(word.search(text) for text in texts), (capture, secret)
        shutil.rmtree(tmp_path / "redacted")
        (tmp_path / "key.names").unlink()
    original = b"".join(text for capture in captures if capture.is_dir() for text in texts_of(capture))
    assert not [secret for secret in SECRETS if secret.encode() not in original], "a secret that no sample has is no test"


def test_two_redacted_ones_compare_as_their_originals(memoir, samples, tmp_path):
    for name in ("modules", "training"):
        memoir("export", "redacted", samples / name, "-o", tmp_path / name, "--key", tmp_path / "key")
    names = names_of(tmp_path / "key")
    for by in ("module", "operator", "line"):
        plain, redacted = (json.loads(memoir("diff", folder / "modules", folder / "training", "--by", by, "--json").stdout)
                           for folder in (samples, tmp_path))
        assert comparable(plain, names) == comparable(redacted, names), by
    assert "adds up" not in memoir("diff", tmp_path / "modules", tmp_path / "modules").stderr


def test_numbers_of_layers_stay(memoir, samples, tmp_path):
    memoir("export", "redacted", samples / "many", "-o", tmp_path / "redacted", "--key", tmp_path / "key")
    plain, redacted = (json.loads(memoir("show", "--by", "module", "--json", capture).stdout) for capture in (samples / "many", tmp_path / "redacted"))
    numbers = [sorted(re.sub(r"[^.\d]+", "", re.sub("h_[0-9a-f]{12}", "", row.get("path", ""))) for row in document["modules"]) for document in (plain, redacted)]
    assert numbers[0] == numbers[1]


def test_snapshots_go_along(memoir, samples, tmp_path):
    shutil.copytree(samples / "training", tmp_path / "run")
    shutil.copytree(samples / "trained", tmp_path / "run" / "snapshots" / "0001")
    shutil.copytree(samples / "modules", tmp_path / "run" / "snapshots" / "before_canary")
    done = memoir("export", "redacted", "run", "-o", "redacted", "--key", "key")
    assert done.returncode == 0, done
    made = sorted(path.name for path in (tmp_path / "redacted" / "snapshots").iterdir())
    assert made[0] == "0001" and len(made) == 2 and "canary" not in made[1]
    assert memoir("show", "redacted/snapshots/0001").returncode == 0


def test_symbols_go_along(memoir, samples, tmp_path):
    shutil.copytree(samples / "training", tmp_path / "run")
    # Symbols{object{path "/canary/libcanary.so" address{offset 1 function{name "canary::run(int)" file "/canary/a.cc" line 3}}}}
    function = b"\x0a\x10canary::run(int)\x12\x0c/canary/a.cc\x18\x03"
    address = b"\x08\x01\x12" + bytes([len(function)]) + function
    thing = b"\x0a\x14/canary/libcanary.so\x1a" + bytes([len(address)]) + address
    (tmp_path / "run" / "symbols.memoir-symbols").write_bytes(b"\x0a" + bytes([len(thing)]) + thing)
    assert memoir("export", "redacted", "run", "-o", "redacted", "--key", "key").returncode == 0
    symbols = (tmp_path / "redacted" / "symbols.memoir-symbols").read_bytes()
    assert b"canary" not in symbols and b"(int)" in symbols


def test_reveal(memoir, samples, tmp_path, fake_tree):
    memoir("export", "redacted", samples / "modules", "-o", "redacted", "--key", "key")
    names = names_of(tmp_path / "key")
    hash_of = {name: hash for hash, name in names.items()}
    done = memoir("reveal", "--key", "key", f"{hash_of['layers']}.0.{hash_of['fc1']}", "nothing here")
    assert done.returncode == 0 and done.stdout == "layers.0.fc1\nnothing here\n"
    text = memoir("show", "--by", "module", "redacted").stdout
    assert "layers" not in text
    shown = subprocess.run([fake_tree / "bin" / "memoir", "reveal", "--key", "key"], input=text, cwd=tmp_path, capture_output=True, text=True)
    assert shown.returncode == 0 and "layers" in shown.stdout and "h_" not in shown.stdout
    done = memoir("reveal", "--key", "key", "h_000000000000")
    assert done.returncode == 1 and done.stdout == "h_000000000000\n" and "to another key" in done.stderr
    done = memoir("reveal", "--key", "none")
    assert done.returncode == 1 and "none.names: no such file" in done.stderr


def test_bad_input(memoir, samples, tmp_path, one_line):
    capture = samples / "training"
    for arguments, words in ((["-o", ""], "add -o FOLDER"), (["-o", "out", "--key", "out/key"], "would travel with it"), (["-o", "out", "--steps", "1:2"], "the whole one"),
                             (["-o", "out", "--rank", "0"], "the whole one"), (["-o", capture / "inside", "--key", "key"], "lies in the capture")):
        done = memoir("export", "redacted", capture, *arguments)
        assert done.returncode == 2 and words in one_line(done), arguments
    assert "--key works only with redacted" in memoir("export", "events", capture, "--key", "key").stderr
    for path, words in (("full", "not empty"), ("file", "it is a file"), ("missing/out", "make the folder above it first")):
        (tmp_path / "full").mkdir(exist_ok=True)
        (tmp_path / "full" / "x").touch()
        (tmp_path / "file").touch()
        done = memoir("export", "redacted", capture, "-o", path, "--key", "key")
        assert done.returncode == 1 and words in done.stderr, path
    os.chmod(tmp_path / "key", 0o644)
    done = memoir("export", "redacted", capture, "-o", "out", "--key", "key")
    assert done.returncode == 1 and "chmod 600" in one_line(done) and not (tmp_path / "out").exists()
    done = memoir("export", "redacted", "no-such-folder", "-o", "out", "--key", "other")
    assert done.returncode == 1 and not (tmp_path / "out").exists() and not (tmp_path / "other").exists()


def test_the_usual_key(memoir, samples, tmp_path):
    done = memoir("export", "redacted", samples / "training", "-o", "out", HOME=tmp_path / "home", XDG_CONFIG_HOME="")
    assert done.returncode == 0 and "made a key" in done.stderr, done
    folder = tmp_path / "home" / ".config" / "memoir"
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {"redact.key": 0o600, "redact.key.names": 0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    done = memoir("export", "redacted", samples / "training", "-o", "again", HOME=tmp_path / "home", XDG_CONFIG_HOME="")
    assert done.returncode == 0 and "made a key" not in done.stderr
    assert [path.read_bytes() for path in sorted((tmp_path / "out").iterdir())] == [path.read_bytes() for path in sorted((tmp_path / "again").iterdir())]
    assert "add --key FILE" in memoir("export", "redacted", samples / "training", "-o", "third", HOME="", XDG_CONFIG_HOME="").stderr
