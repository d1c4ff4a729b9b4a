// What the caching allocator had reserved at an instant, from its changes; with the blocks that were live in it, and
// where those lie that the report leaves out.
import type {Device} from './device';
import type {LiveSet} from './live';

export interface Segment {
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

export const streamName = (stream: number): string => `0x${stream.toString(16)}`;

export async function segmentsAt(device: Device, live: LiveSet): Promise<Segment[]> {
  const changes = await device.segments();
  const blocks = await device.blocks();
  const pieces = new Map<number, Segment>();
  for (let i = 0; i < changes.count && changes.ns[i]! <= live.ns; ++i) {
    const address = changes.address[i]!;
    if (changes.grows[i] === 1) {
      const [graph, user] = [changes.poolGraph[i]!, changes.poolUser[i]!];
      const pool =
          graph === 0 && user === 0 ? 'default pool' : `${user === 0 ? 'graph pool' : 'MemPool'} (${graph}, ${user})`;
      pieces.set(
          address,
          {address, bytes: changes.bytes[i]!, stream: changes.stream[i]!, pool, blocks: [], others: [], used: 0});
    } else {
      remove(pieces, address, changes.bytes[i]!);
    }
  }
  const segments = [...pieces.values()].sort((a, b) => a.address - b.address);
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

// What is given back may be a part of what was mapped at once.
function remove(pieces: Map<number, Segment>, address: number, bytes: number): void {
  const whole = pieces.get(address);
  if (whole && whole.bytes <= bytes) {
    pieces.delete(address);
    let rest = bytes - whole.bytes;
    for (let next = address + whole.bytes; rest > 0;) {
      const piece = pieces.get(next);
      if (!piece || piece.bytes > rest) break;
      pieces.delete(next);
      rest -= piece.bytes;
      next += piece.bytes;
    }
    return;
  }
  for (const piece of pieces.values()) {
    if (address < piece.address || address >= piece.address + piece.bytes) continue;
    const end = piece.address + piece.bytes;
    pieces.delete(piece.address);
    if (address > piece.address) pieces.set(piece.address, {...piece, bytes: address - piece.address});
    if (address + bytes < end)
      pieces.set(address + bytes, {...piece, address: address + bytes, bytes: end - address - bytes});
    return;
  }
}
