"""The part of read_capture.py that knows repeated steps, which recordings with --detail auto have: docs/capture_format.md, "Stretches"."""

import itertools

import capture_pb2 as pb

WRAP, UNKNOWN = 2**64 - 1, 2**63


def events_of(payload, stretches, events_of_run):
    """The events of rows. `stretches`: by number, of this part; what the payload defines is added."""
    for stretch in payload.stretches:
        stretches[stretch.id] = list(zip(events_of_run(stretch.events), stretch.of_host, stretch.freed_event, strict=True))
    repeats = payload.repeats
    events, living, serials, now, step = [], {}, {}, 0, 0   # living: places in events, by what stands for an address
    addresses, allocated = (itertools.accumulate(column) for column in (repeats.address_delta, repeats.living_serial))
    serial_deltas = iter(repeats.serial_delta)
    rows = zip(repeats.stretch, repeats.first_event or itertools.repeat(0), repeats.events, repeats.tick_delta, repeats.ticks, repeats.step_delta, strict=False)
    for number, first, count, delta, ticks, steps in rows:
        begin, step = now + delta & WRAP, step + steps
        now = begin + ticks & WRAP
        for at in living.values() if number == 0 else ():
            events[at] = events[at]._replace(address=next(addresses) & WRAP, serial=next(allocated) & WRAP)
        living = living if number else {}
        part, devices = stretches[number][first:first + count] if number else (), set()
        for index, (event, of_host, freed_event) in enumerate(part, first):
            whole, passed = part[-1][0].tick - part[0][0].tick, event.tick - part[0][0].tick
            tick = begin + (ticks * passed // (whole or 1) if index < first + count - 1 else ticks) & WRAP
            address, serial = event.address, 0
            if event.kind == pb.ALLOCATE:
                address = UNKNOWN + (step << 24) + index
                living[address] = len(events)
            elif of_host:
                address = UNKNOWN + (step + 2 - of_host << 24) + freed_event if of_host > 1 else -1
                address = address if living.pop(address, None) is not None else next(addresses) & WRAP
            elif event.kind not in (pb.STEP, pb.STACK):
                serial = serials.get(event.device, 0) + (0 if event.device in devices else next(serial_deltas)) & WRAP
                devices.add(event.device)
                serials[event.device] = serial + 1
            events.append(event._replace(tick=tick, address=address, serial=serial))
    return events
