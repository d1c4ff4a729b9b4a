// The segments of the caching allocator at an instant, from its changes, with the blocks that were live in them and the
// places of blocks that the report omits.
import {lowerBound} from './curves';
import type {Device, SegmentChanges} from './device';
import type {LiveSet} from './live';

export interface Segment {
  number: number;  // by address, from 0
  address: number;
  bytes: number;
  stream: number;
  pool: string;      // as tools/analyze/grouping/pools.cc calls it
  blocks: number[];  // indices into Device.blocks, by address
  others: Taken[];   // by address
  used: number;      // bytes of both
}

export interface Taken {
  address: number;
  bytes: number;
}

// Numbers of streams: 0 for the default stream, the others in the order in which the allocator used them.
export function streamNumbers(changes: SegmentChanges): Map<number, number> {
  const numbers = new Map([[0, 0]]);
  for (const stream of changes.stream)
    if (!numbers.has(stream)) numbers.set(stream, numbers.size);
  return numbers;
}

const placeOf = (changes: SegmentChanges, i: number):
    string => [changes.stream[i]!, changes.poolGraph[i]!, changes.poolUser[i]!, changes.small[i]!].join();

function poolName(changes: SegmentChanges, i: number): string {
  const [graph, user] = [changes.poolGraph[i]!, changes.poolUser[i]!];
  return graph === 0 && user === 0 ? 'default pool' : `${user === 0 ? 'graph pool' : 'MemPool'} (${graph}, ${user})`;
}

// Returns the reserved ranges after the first `count` changes: every address has the state of the newest change that
// covers it. Changes are painted from the newest to the oldest, so that each stretch between two borders is painted
// once. As in DeviceMemory::RemoveSegment and tools/analyze/segments/segment_map.cc, touching pieces of an expandable
// segment are one if they have the same pool and stream.
function reservedAfter(changes: SegmentChanges, count: number): Segment[] {
  const ends = (i: number): number => changes.address[i]! + changes.bytes[i]!;
  const borders = new Float64Array(2 * count);
  for (let i = 0; i < count; ++i) [borders[2 * i], borders[2 * i + 1]] = [changes.address[i]!, ends(i)];
  borders.sort();
  const indexOf = (address: number): number => lowerBound(borders.length, address, (i) => borders[i]!);
  const owner = new Int32Array(borders.length).fill(-1);  // of the stretch from a border to the next
  const next = Int32Array.from(borders.keys());           // the first stretch from there on that is not painted
  const unpainted = (from: number): number => {
    let at = from;
    while (at < next.length && next[at] !== at) at = next[at]!;
    for (let i = from; i < at;) {
      const after = next[i]!;
      next[i] = at;
      i = after;
    }
    return at;
  };
  for (let i = count - 1; i >= 0; --i) {
    const end = indexOf(ends(i));
    for (let at = unpainted(indexOf(changes.address[i]!)); at < end; at = unpainted(at)) {
      if (changes.grows[i] === 1) owner[at] = i;
      next[at] = at + 1;
    }
  }
  const segments: Segment[] = [];
  let last = -1;
  for (let at = 0; at + 1 < borders.length; ++at) {
    const i = owner[at]!;
    const [begin, end] = [borders[at]!, borders[at + 1]!];
    if (i < 0 || begin === end) continue;
    const before = segments[segments.length - 1];
    const joins = before !== undefined && before.address + before.bytes === begin &&
        (i === last ||
         (changes.mapped[i] === 1 && changes.mapped[last] === 1 && placeOf(changes, i) === placeOf(changes, last)));
    if (joins) {
      before.bytes += end - begin;
    } else {
      segments.push({
        number: segments.length,
        address: begin,
        bytes: end - begin,
        stream: changes.stream[i]!,
        pool: poolName(changes, i),
        blocks: [],
        others: [],
        used: 0
      });
    }
    last = i;
  }
  return segments;
}

export async function segmentsAt(device: Device, live: LiveSet): Promise<Segment[]> {
  const changes = await device.segments();
  const blocks = await device.blocks();
  let count = 0;
  while (count < changes.count && changes.ns[count]! <= live.ns) ++count;
  const segments = reservedAfter(changes, count);
  const byAddress = [...live.blocks].sort((a, b) => blocks.address[a]! - blocks.address[b]!);
  const find = finder(segments);
  for (const block of byAddress) {
    const segment = find(blocks.address[block]!);
    if (!segment) continue;
    segment.blocks.push(block);
    segment.used += blocks.bytes[block]!;
  }
  await addOthers(device, live.ns, segments);
  return segments;
}

// The segment of each of some addresses that rise.
function finder(segments: Segment[]): (address: number) => Segment | undefined {
  let at = 0;
  return (address) => {
    while (at < segments.length && segments[at]!.address + segments[at]!.bytes <= address) ++at;
    const segment = segments[at];
    return segment && address >= segment.address ? segment : undefined;
  };
}

async function addOthers(device: Device, ns: number, segments: Segment[]): Promise<void> {
  const others = await device.others();
  const live: Taken[] = [];
  for (let i = 0; i < others.count && others.begin[i]! <= ns; ++i)
    if (others.end[i]! > ns) live.push({address: others.address[i]!, bytes: others.bytes[i]!});
  const find = finder(segments);
  for (const other of live.sort((a, b) => a.address - b.address)) {
    const segment = find(other.address);
    if (!segment) continue;
    segment.others.push(other);
    segment.used += other.bytes;
  }
}
