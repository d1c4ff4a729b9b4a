// Blocks at their addresses. The gaps between the segments of the allocator are left out; on a device without segments,
// the gaps between blocks.
import {lowerBound} from '../report/curves';
import type {Blocks, Device} from '../report/device';
import {type BlockFrame, type BlockLayout, type Ink, xOf, yOf} from './block_layout';

const kMostBands = 60_000;

interface Range {
  address: number;
  bytes: number;
  place: number;  // bytes of the ranges below it
}

async function rangesOf(device: Device, blocks: Blocks, which: Uint32Array): Promise<Range[]> {
  const pieces: {address: number; bytes: number}[] = [];
  for (const block of which) pieces.push({address: blocks.address[block]!, bytes: blocks.bytes[block]!});
  if (device.facts.caching && device.hasSegments) {
    const {count, address, bytes, grows} = await device.segments();
    for (let i = 0; i < count; ++i)
      if (grows[i] === 1) pieces.push({address: address[i]!, bytes: bytes[i]!});
  }
  const ranges: Range[] = [];
  for (const {address, bytes} of pieces.sort((a, b) => a.address - b.address)) {
    const last = ranges[ranges.length - 1];
    if (last && address <= last.address + last.bytes) {
      last.bytes = Math.max(last.bytes, address + bytes - last.address);
    } else {
      ranges.push({address, bytes, place: last ? last.place + last.bytes : 0});
    }
  }
  return ranges;
}

export async function addressedBlocks(device: Device): Promise<AddressedBlocks> {
  const blocks = await device.blocks();
  const end = device.facts.end_ns;
  const area = (i: number): number => blocks.bytes[i]! * (Math.min(blocks.end[i]!, end) - blocks.begin[i]!);
  let which = Uint32Array.from({length: blocks.count}, (_, i) => i);
  if (which.length > kMostBands) which = which.sort((a, b) => area(b) - area(a)).slice(0, kMostBands).sort();
  return new AddressedBlocks(blocks, which, await rangesOf(device, blocks, which));
}

export class AddressedBlocks implements BlockLayout {
  readonly top: number;
  private readonly places: Float64Array;  // by index in `which`

  // `which`: the drawn blocks, by the time of their allocation.
  constructor(private readonly blocks: Blocks, private readonly which: Uint32Array, private readonly ranges: Range[]) {
    const last = ranges[ranges.length - 1];
    this.top = last ? last.place + last.bytes : 1;
    this.places = Float64Array.from(which, (block) => this.placeOf(blocks.address[block]!));
  }

  get count(): number { return this.which.length; }

  private placeOf(address: number): number {
    const range = this.ranges[lowerBound(this.ranges.length, address + 1, (i) => this.ranges[i]!.address) - 1]!;
    return range.place + address - range.address;
  }

  tickText(bytes: number): string {
    const at = Math.max(0, lowerBound(this.ranges.length, bytes + 1, (i) => this.ranges[i]!.place) - 1);
    const range = this.ranges[at];
    return range ? `0x${(range.address + bytes - range.place).toString(16)}` : '';
  }

  topBetween(): number { return this.top; }

  paint(frame: BlockFrame, ink: Ink): void {
    const {begin, end, bytes} = this.blocks;
    const {context} = ink;
    context.fillStyle = ink.edge;
    context.globalAlpha = 0.25;
    for (const {place} of this.ranges) context.fillRect(frame.left, Math.round(yOf(frame, place)), frame.width, 1);
    context.globalAlpha = 1;
    let filled = '';
    this.which.forEach((block, i) => {
      if (begin[block]! > frame.to || end[block]! < frame.from) return;
      const [top, bottom] = [yOf(frame, this.places[i]! + bytes[block]!), yOf(frame, this.places[i]!)];
      if (bottom < 0 || top > frame.height) return;
      const left = Math.max(frame.left - 2, xOf(frame, begin[block]!));
      const width = Math.min(frame.left + frame.width + 2, xOf(frame, end[block]!)) - left;
      const colour = ink.colourOf(block);
      if (colour !== filled) context.fillStyle = filled = colour;
      const gap = bottom - top > 3 ? 0.8 : 0;
      context.fillRect(left, top, Math.max(0.7, width - (width > 4 ? 0.8 : 0)), Math.max(0.7, bottom - top - gap));
      if (block !== ink.chosen) return;
      context.strokeStyle = ink.edge;
      context.lineWidth = 2;
      context.strokeRect(left, top, Math.max(2, width), Math.max(2, bottom - top));
      context.lineWidth = 1;
    });
  }

  blockAt(frame: BlockFrame, ns: number, bytes: number): number {
    const slack = (frame.to - frame.from) / frame.width;
    for (let i = this.which.length - 1; i >= 0; --i) {
      const block = this.which[i]!;
      const place = this.places[i]!;
      if (bytes >= place && bytes < place + this.blocks.bytes[block]! && ns >= this.blocks.begin[block]! - slack &&
          ns <= this.blocks.end[block]! + slack)
        return block;
    }
    return -1;
  }
}
