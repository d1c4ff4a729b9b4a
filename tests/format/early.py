"""Captures as the first versions wrote them, made of today's: no `recording`, `header_checksum` and `run`; and of what modules and
optimizers hold what docs/capture_format.md says under "What came later": a module's buffers and all names are not there, an
optimizer's state is one list, and gradients that autograd leaves are no events."""

from rewritten import chunks_of, payload_of, set_payload, write_part


class EarlyHolds:
    """Changes the payloads of one part, in their order."""

    def __init__(self, schema):
        self.schema, self.lists, self.ids = schema, {}, {}
        self.takers = {number for name, number in schema.EventKind.items() if name.startswith(("RANGE_", "MODULE_HOLDS", "OPTIMIZER_HOLDS", "GRADIENT_"))}

    def tensors_of(self, signature):
        kinds, lengths = self.lists.get(signature, (b"", []))
        return kinds.count(b"T") + sum(lengths)

    def signature(self, payload, lengths):
        """The id of a signature of so many lists, which the payload defines where it is new."""
        key = tuple(lengths)
        if key not in self.ids:
            self.ids[key] = max(self.lists, default=0) + 1
            self.lists[self.ids[key]] = (b"L" * len(lengths), list(lengths))
            payload.signatures.add(id=self.ids[key], kinds=b"L" * len(lengths), list_lengths=lengths)
        return self.ids[key]

    def change(self, payload):
        for definition in payload.signatures:
            self.lists[definition.id] = (definition.kinds, list(definition.list_lengths))
        return sum(self.change_run(payload, run) for run in payload.runs)

    def change_run(self, payload, run):
        """How many events are gone."""
        assert self.schema.HOLDS_MORE not in run.kind
        signatures, tensors, before = iter(run.signature), list(run.tensor), run.first_tick
        kinds, ticks, new_signatures, new_tensors = [], [], [], []
        for kind, delta in zip(run.kind, run.tick_delta):
            before += delta
            if kind in self.takers:
                signature = next(signatures)
                count = self.tensors_of(signature)
                mine, tensors = tensors[:count], tensors[count:]
                if kind == self.schema.GRADIENT_OF:
                    continue
                lengths = self.lists.get(signature, (b"", []))[1]
                if kind == self.schema.MODULE_HOLDS and len(lengths) == 3:
                    signature, mine = self.signature(payload, lengths[:2]), mine[:sum(lengths[:2])]
                elif kind == self.schema.OPTIMIZER_HOLDS and len(lengths) > 3:
                    signature = self.signature(payload, [*lengths[:2], sum(lengths[2:])])
                new_signatures.append(signature)
                new_tensors += mine
            kinds.append(kind)
            ticks.append(before)
        gone = len(run.kind) - len(kinds)
        for column in ("tick_delta", "signature", "tensor", "holds_name"):
            run.ClearField(column)
        run.kind, run.first_tick = bytes(kinds), ticks[0]
        run.tick_delta.extend(tick - last for tick, last in zip(ticks, [ticks[0], *ticks]))
        run.signature.extend(new_signatures)
        run.tensor.extend(new_tensors)
        return gone


def write_early(schema, part):
    holds, chunks = EarlyHolds(schema), [chunk for chunk in chunks_of(schema, part) if chunk.payload]
    for chunk in chunks:
        payload = payload_of(schema, chunk)
        chunk.event_count -= holds.change(payload)
        set_payload(chunk, payload)
        if chunk.HasField("process"):
            chunk.process.ClearField("run")
    write_part(part, chunks, early=True)
