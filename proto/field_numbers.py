"""Writes the field numbers of a schema as a C++ header:

    python proto/field_numbers.py PROTOC FOLDER SCHEMA OUTPUT

FOLDER is protoc's import path. SCHEMA is a path in FOLDER, for example memoir/v1/capture.proto.

The recorded process writes the messages of capture.proto and must not link libprotobuf, because torch exports another
copy of it. So it needs the numbers without the classes that protoc makes.
"""

import pathlib
import re
import subprocess
import sys

MESSAGES = ("message_type", "nested_type")


def snake_case(name):
    """Returns "process_info" for "ProcessInfo"."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def camel_case(name):
    """Returns "FirstTick" for "first_tick"."""
    return "".join(part.capitalize() for part in name.split("_"))


def description(protoc, folder, schema):
    """Returns the schema as the text of a FileDescriptorSet."""
    binary = subprocess.run([protoc, "-I", folder, "--descriptor_set_out=/dev/stdout", schema], check=True, capture_output=True).stdout
    decode = [protoc, "--decode=google.protobuf.FileDescriptorSet", "google/protobuf/descriptor.proto"]
    return subprocess.run(decode, input=binary, check=True, capture_output=True).stdout.decode()


def field_numbers(described):
    """Returns the fields of each message: {"ProcessInfo": {"format_version": 1, ...}, ...}."""
    messages, blocks, message, field = {}, [], "", ""
    for line in map(str.strip, described.splitlines()):
        key, _, value = line.partition(": ")
        if line.endswith("{"):
            blocks.append(line[:-2])
        elif line == "}":
            blocks.pop()
        elif key == "name" and blocks[-1] in MESSAGES:
            message = value.strip('"')
        elif key == "name" and blocks[-1] == "field":
            field = value.strip('"')
        elif key == "number" and blocks[-1] == "field":
            messages.setdefault(message, {})[field] = int(value)
    return messages


def header(messages):
    """Returns the text of the header."""
    text = ["// Made by proto/field_numbers.py.", "#pragma once", "", "#include <cstdint>", "", "namespace memoir::field {"]
    for name, fields in messages.items():
        numbers = ", ".join(f"k{camel_case(field)} = {number}" for field, number in fields.items())
        text += [f"namespace {snake_case(name)} {{", f"enum : std::uint32_t {{ {numbers} }};", "}"]
    return "\n".join([*text, "}  // namespace memoir::field", ""])


if __name__ == "__main__":
    pathlib.Path(sys.argv[4]).write_text(header(field_numbers(description(*sys.argv[1:4]))))
