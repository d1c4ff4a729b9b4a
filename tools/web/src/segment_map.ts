// What the caching allocator had reserved at an instant, from its changes; with the blocks that were live in it.
import type {Device} from './device';
import type {LiveSet} from './live';

export interface Segment {
  address: number;
  bytes: number;
  stream: number;
  pool: string;      // as tools/analyze/grouping/pools.cc calls it
  blocks: number[];  // indices into Device.blocks, by address
  used: number;
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
      pieces.set(address, {address, bytes: changes.bytes[i]!, stream: changes.stream[i]!, pool, blocks: [], used: 0});
    } else {
      remove(pieces, address, changes.bytes[i]!);
    }
  }
  const segments = [...pieces.values()].sort((a, b) => a.address - b.address);
  const byAddress = [...live.blocks].sort((a, b) => blocks.address[a]! - blocks.address[b]!);
  let at = 0;
  for (const block of byAddress) {
    const address = blocks.address[block]!;
    while (at < segments.length && segments[at]!.address + segments[at]!.bytes <= address) ++at;
    const segment = segments[at];
    if (!segment || address < segment.address) continue;
    segment.blocks.push(block);
    segment.used += blocks.bytes[block]!;
  }
  return segments;
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
