// The live blocks at an instant, from the blocks that the report contains.
import type {Device} from './device';
import type {Instant} from './facts';

export interface LiveSet {
  ns: number;
  blocks: number[];     // indices into Device.blocks
  bytes: number;        // of these
  exact: Instant|null;  // set if every live block is included: at an exact instant, or if the report has all blocks
  complete: boolean;
  allBytes: number|null;  // live then; null: not known, because some blocks are not in the report
}

export async function liveAt(device: Device, ns: number): Promise<LiveSet> {
  const blocks = await device.blocks();
  const live: number[] = [];
  let bytes = 0;
  for (let i = 0; i < blocks.count && blocks.begin[i]! <= ns; ++i) {
    if (blocks.end[i]! <= ns) continue;
    live.push(i);
    bytes += blocks.bytes[i]!;
  }
  const exact = device.facts.instants.find((instant) => instant.time_ns === ns) ?? null;
  const complete = device.facts.complete || exact !== null;
  return {
    ns,
    blocks: live,
    bytes,
    exact,
    complete,
    allBytes: exact           ? exact.bytes :
        device.facts.complete ? bytes :
                                null
  };
}

export function nearestExact(device: Device, ns: number): Instant|undefined {
  let best: Instant|undefined;
  for (const instant of device.facts.instants) {
    if (!best || Math.abs(instant.time_ns - ns) < Math.abs(best.time_ns - ns)) best = instant;
  }
  return best;
}

export interface LiveRow {
  label: number;
  bytes: number;
  blocks: number;
  oldest: number;
}

export async function rowsOf(device: Device, live: LiveSet, word: string): Promise<LiveRow[]> {
  const blocks = await device.blocks();
  const column = blocks.labels[word]!;
  const rows = new Map<number, LiveRow>();
  for (const block of live.blocks) {
    const label = column[block]!;
    const row = rows.get(label) ?? {label, bytes: 0, blocks: 0, oldest: Infinity};
    row.bytes += blocks.bytes[block]!;
    row.blocks += 1;
    row.oldest = Math.min(row.oldest, blocks.begin[block]!);
    rows.set(label, row);
  }
  return [...rows.values()].sort((a, b) => b.bytes - a.bytes || a.label - b.label);
}
