"""Numbers in captures keep their meaning: a number of proto/memoir/v1 is never used for another field, and is not used again after its field was removed.
numbers.txt, next to the schemas, has one line for each number that a capture was ever written with. A line is never removed or changed; a field that goes from
the schema is `reserved` there, number and name.
"""

import re

from sources import Rule

FOLDER = "proto/memoir/v1"
RECORD = f"{FOLDER}/numbers.txt"
HEAD = "# message or enum, number, name, type. One line for each number that captures were ever written with: none goes, none changes.\n"


class Schema:
    """The messages and enums of .proto texts: `numbers`, (owner, number) -> (name, type); `reserved`, owner -> numbers and names."""

    def __init__(self, text):
        self.numbers, self.reserved, self.not_understood = {}, {}, []
        text = re.sub(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', lambda match: match.group(0) if match.group(0)[0] == '"' else " ", text, flags=re.S)
        owners, begin = [], 0
        for end in re.finditer(r"[;{}]", text):
            statement, begin = " ".join(text[begin : end.start()].split()), end.end()
            if end.group() == "{":
                owners.append(statement.rpartition(" ")[2])
                self.reserved.setdefault(".".join(owners), set())
                if not re.fullmatch(r"(message|enum) \w+", statement):
                    self.not_understood.append(statement)
            elif end.group() == "}":
                owners = owners[:-1]
            elif owners and statement:
                self.take(".".join(owners), statement)

    def take(self, owner, statement):
        field = re.fullmatch(r"(?:((?:repeated |optional )?[\w.]+) )?(\w+) = (-?\d+)(?: \[.*\])?", statement)
        if field:
            self.numbers[owner, int(field.group(3))] = (field.group(2), field.group(1) or "value")
        elif statement.startswith("reserved "):
            for part in statement.removeprefix("reserved ").split(","):
                first, _, last = part.strip().partition(" to ")
                self.reserved[owner] |= {first.strip('"')} if first.startswith('"') else set(range(int(first), int(last or first) + 1))
        else:
            self.not_understood.append(statement)


def schema_of(tree):
    return Schema("\n".join(path.read_text() for path in sorted((tree / FOLDER).glob("*.proto"))))


def lines_of(schema):
    """As the record has them."""
    return [f"{owner} {number} {name} {kind}" for (owner, number), (name, kind) in schema.numbers.items()]


def recorded(tree):
    rows = [line.split(" ", 3) for line in (tree / RECORD).read_text().splitlines() if not line.startswith("#")] if (tree / RECORD).exists() else []
    return {(owner, int(number)): (name, kind) for owner, number, name, kind in rows}


def numbers_keep_their_meaning(tree):
    """Each line of numbers.txt is as the schema has it, or its number and name are reserved there; each number of the schema has a line."""
    schema, record = schema_of(tree), recorded(tree)
    yield from (f"{FOLDER}: this rule cannot read '{statement}'" for statement in schema.not_understood)
    for (owner, number), (name, kind) in record.items():
        now, reserved = schema.numbers.get((owner, number)), schema.reserved.get(owner, set())
        if now is None and not {number, name} <= reserved:
            yield f"{FOLDER}: {owner} has lost {number}, {name}: it needs `reserved {number};` and `reserved \"{name}\";`"
        elif now is not None and now != (name, kind):
            yield f"{FOLDER}: {owner} {number} is {' '.join(now)}, and was {name} {kind}: a change needs a new number"
    names = {(owner, name): number for (owner, number), (name, _) in record.items()}
    for (owner, number), (name, kind) in schema.numbers.items():
        if {number, name} & schema.reserved[owner]:
            yield f"{FOLDER}: {owner} {number}, {name} is reserved there"
        if names.get((owner, name), number) != number:
            yield f"{FOLDER}: {owner} {name} is {number}, and was {names[owner, name]}"
        if (owner, number) not in record:
            yield f"{RECORD}: lacks the line `{owner} {number} {name} {kind}`; it is there for ever, so be sure of name and type"


_RECORD = HEAD + "M 1 a uint32\nM 2 b repeated M\nE 0 NONE value\n"
_SCHEMA = 'syntax = "proto3";\n// a; {\nmessage M {\n  uint32 a = 1;\n  repeated M b =\n      2;%s\n}\nenum E { NONE = 0; }\n'


def _seed(**changes):
    schema = _SCHEMA % changes.get("more", "")
    for before, after in changes.get("replaced", ()):
        schema = schema.replace(before, after)
    return {f"{FOLDER}/a.proto": schema, RECORD: changes.get("record", _RECORD)}


HOLDS = (
    _seed(),
    _seed(replaced=[("uint32 a = 1;", 'reserved 1; reserved "a";')]),
    _seed(replaced=[("uint32 a = 1;", 'reserved 1, 7 to 9, 12; reserved "a", "z";')]),
)
RULES = (
    Rule(
        numbers_keep_their_meaning,
        (
            _seed(replaced=[("uint32 a = 1;", "")]),   # removed without a word
            _seed(replaced=[("uint32 a = 1;", "reserved 1;")]),   # its name may come back
            _seed(replaced=[("uint32 a = 1;", 'reserved "a";')]),   # its number may come back
            _seed(replaced=[("uint32 a = 1;", "uint32 c = 1;")]),   # used for another
            _seed(replaced=[("uint32 a = 1;", "uint64 a = 1;")]),   # another type
            _seed(replaced=[("uint32 a = 1;", "repeated uint32 a = 1;")]),
            _seed(replaced=[("uint32 a = 1;", 'uint32 a = 3; reserved 1; reserved "a";')], record=_RECORD + "M 3 a uint32\n"),
            _seed(replaced=[("NONE = 0", "SOME = 0")]),
            _seed(replaced=[("NONE = 0", "NONE = 0; MORE = 1")]),   # not in the record
            _seed(more=" bool c = 3;"),
            _seed(more=" oneof c { bool d = 3; }", record=_RECORD + "M.c 3 d bool\n"),   # what the rule cannot read
            _seed(record=""),
        ),
    ),
)
