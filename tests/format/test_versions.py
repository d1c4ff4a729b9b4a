"""The behaviour of today's reader with captures of a later Memoir: the table of docs/capture_format.md, "Compatibility"."""

import importlib
import os
import subprocess

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool

from conftest import ROOT
from keep_released import RELEASED
from rewritten import chunks_of, payload_of, set_payload, with_unknown, write_part
from test_read_capture import assert_same

LATER_KIND = 200


WHOLE = RELEASED / "0.1.0-cpu"


@pytest.fixture
def rewrite(schema, tmp_path):
    """rewrite(change): the capture WHOLE after change(chunks, [their payloads])."""
    def rewrite(change):
        part, = WHOLE.glob("*.memoir")
        chunks = [chunk for chunk in chunks_of(schema, part) if chunk.payload]
        payloads = [payload_of(schema, chunk) for chunk in chunks]
        chunks, payloads = change(chunks, payloads) or (chunks, payloads)
        for chunk, payload in zip(chunks, payloads):
            set_payload(chunk, payload)
        capture = tmp_path / "capture"
        capture.mkdir()
        write_part(capture / part.name, chunks)
        return capture

    return rewrite


def without_paths(shown):
    """The output without values that depend on the capture's place and compression."""
    return {**shown, "capture": "", "processes": [{**process, "file_bytes": 0} for process in shown["processes"]]}


def test_writing_a_capture_anew_changes_nothing(rewrite, show):
    assert without_paths(show(rewrite(lambda chunks, payloads: None))) == without_paths(show(WHOLE))


def summary_schema(folder):
    """Uses a separate pool, because it imports the schema of captures by another path than the compiled one."""
    command = [os.environ.get("MEMOIR_PROTOC", "protoc"), "-I", ROOT / "proto", "--include_imports", f"--descriptor_set_out={folder / 'set'}", "memoir/v1/summary.proto"]
    subprocess.run(command, check=True)
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString((folder / "set").read_bytes()).file:
        pool.Add(file)
    return pool.FindFileByName("memoir/v1/summary.proto")


def test_the_record_of_numbers_is_what_protoc_reads(schema, tmp_path):
    """The rule in tests/rules reads .proto files by itself, where there is no protoc."""
    found = set()

    def enter(message, owner):
        for field in message.fields:
            kind = field.message_type or field.enum_type
            type_name = kind.full_name.removeprefix("memoir.v1.").removeprefix(f"{owner}.") if kind else None
            names = {"TYPE_" + name.upper(): name for name in ("uint64", "uint32", "sint64", "int64", "fixed64", "bytes", "string", "bool")}
            plain = {getattr(type(field), key): name for key, name in names.items()}
            found.add(f"{owner} {field.number} {field.name} {'repeated ' * field.is_repeated}{type_name or plain[field.type]}")
        for nested in message.nested_types:
            enter(nested, f"{owner}.{nested.name}")
        for enum in message.enum_types:
            found.update(f"{owner}.{enum.name} {value.number} {value.name} value" for value in enum.values)

    for file in (schema.DESCRIPTOR, importlib.import_module("symbols_pb2").DESCRIPTOR, summary_schema(tmp_path)):
        for name, message in file.message_types_by_name.items():
            enter(message, name)
        for name, enum in file.enum_types_by_name.items():
            found.update(f"{name} {value.number} {value.name} value" for value in enum.values)
    lines = (ROOT / "proto/memoir/v1/numbers.txt").read_text().splitlines()
    assert found == {line for line in lines if not line.startswith("#")} and len(found) > 300


def test_fields_that_are_not_known_are_skipped(rewrite, show, read):
    def change(chunks, payloads):
        for chunk in chunks:
            if chunk.HasField("process"):
                chunk.process.CopyFrom(with_unknown(chunk.process))
        for payload in payloads:
            for name in ("names", "layouts", "signatures", "threads", "devices", "stacks", "runs"):
                for message in getattr(payload, name):
                    message.CopyFrom(with_unknown(message))
            for name in ("tensors", "clock", "counters", "keyframe", "end"):
                if payload.HasField(name):
                    getattr(payload, name).CopyFrom(with_unknown(getattr(payload, name)))
            payload.keyframe.live.CopyFrom(with_unknown(payload.keyframe.live)) if payload.HasField("keyframe") else None
        return [with_unknown(chunk) for chunk in chunks], [with_unknown(payload) for payload in payloads]

    capture = rewrite(change)
    assert without_paths(show(capture)) == without_paths(show(WHOLE))
    assert_same(read(capture), show(capture))


def test_values_that_are_not_known_are_shown_as_such(schema, rewrite, show):
    def change(chunks, payloads):
        payloads[-1].end.reason = 99
        for payload in payloads:
            for name in payload.names:
                name.kind = 99 if name.kind == schema.NameDef.TEXT else name.kind

    shown, before = show(rewrite(change)), show(WHOLE)
    assert shown["processes"][0]["end"] == "unknown" and before["processes"][0]["end"] == "exited"
    assert not shown["damage"] and shown["devices"] == before["devices"]


def test_a_kind_of_event_that_is_not_known_ends_the_part_and_is_said(rewrite, show, read):
    def change(chunks, payloads):
        number = max(number for number, payload in enumerate(payloads) if payload.runs)
        payloads[number].runs[-1].kind += bytes([LATER_KIND])
        payloads[number].runs[-1].tick_delta.append(1)
        chunks[number].event_count += 1

    capture = rewrite(change)
    shown = show(capture)
    damage, = shown["damage"]
    assert "event kinds that this Memoir does not know" in damage["what"] and damage["offset"] > 0
    whole = show(WHOLE)
    assert 0 < shown["operator_calls"] < whole["operator_calls"] and shown["lost_chunks"] == 0
    assert_same(read(capture), shown)


@pytest.mark.parametrize("version", [3, 99])
def test_a_later_format_is_refused_and_says_by_whom(rewrite, tree, run_example, version):
    def change(chunks, payloads):
        chunks[0].process.format_version, chunks[0].process.memoir_version = version, "9.9.9"

    capture = rewrite(change)
    done = subprocess.run([tree / "bin" / "memoir", "show", "--json", capture], capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1, done
    assert f"capture format {version} by Memoir 9.9.9" in done.stderr and "install a newer Memoir" in done.stderr
    assert run_example(capture).returncode == 1


def test_beside_a_later_format_the_other_recordings_are_read(rewrite, tree, show):
    def change(chunks, payloads):
        chunks[0].process.format_version, chunks[0].process.pid = 3, 4711

    capture = rewrite(change)
    old, = WHOLE.glob("*.memoir")
    (capture / "old.memoir").write_bytes(old.read_bytes())
    shown, alone = show(capture), show(WHOLE)
    assert shown["devices"] == alone["devices"] and len(shown["damage"]) == 1 and "newer Memoir" in shown["damage"][0]["what"]
