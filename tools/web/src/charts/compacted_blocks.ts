// Blocks without gaps: at every instant the live blocks lie on each other, the oldest at the bottom, and the picture is
// as high as their bytes. So a band falls when a block below it is freed. A pixel column shows the instant of the most
// bytes in it, as the timeline does.
import {formatTick} from '../drawing/units';
import {endsOf} from '../report/curves';
import type {Blocks} from '../report/device';
import {type BlockFrame, type BlockLayout, type Ink, yOf} from './block_layout';

const kLeastPixels = 1;  // lower bands are drawn together, in the colour of the largest

interface Columns {
  key: string;
  instants: Float64Array;  // of each pixel column, in ns
  top: number;             // most bytes of all columns
}

interface Rectangle {
  x: number;
  width: number;
  bottom: number;  // bytes
  bytes: number;
}

export class CompactedBlocks implements BlockLayout {
  private columns: Columns = {key: '', instants: new Float64Array(0), top: 0};
  private readonly ends: Uint32Array;
  // The live blocks while a picture is painted, as a list in the order of allocation. Index `count` is its head.
  private readonly next: Int32Array;
  private readonly previous: Int32Array;
  // The open rectangle of each live block: where it begins, and its place.
  private readonly openX: Float64Array;
  private readonly openBottom: Float64Array;
  readonly top: number;

  constructor(private readonly blocks: Blocks, begin: number, end: number) {
    this.ends = endsOf(blocks);
    this.next = new Int32Array(blocks.count + 1);
    this.previous = new Int32Array(blocks.count + 1);
    this.openX = new Float64Array(blocks.count);
    this.openBottom = new Float64Array(blocks.count);
    this.top = this.columnsOf(begin, end, 1).top;
  }

  get count(): number { return this.blocks.count; }

  tickText(bytes: number): string { return formatTick(bytes); }

  topBetween(from: number, to: number, width: number): number {
    this.prepare(from, to, width);
    return this.columns.top;
  }

  private prepare(from: number, to: number, width: number): void {
    const count = Math.max(1, Math.floor(width));
    const key = `${from} ${to} ${count}`;
    if (this.columns.key !== key) this.columns = {...this.columnsOf(from, to, count), key};
  }

  // The instant of the most live bytes in each of `count` equal intervals.
  private columnsOf(from: number, to: number, count: number): Columns {
    const {begin, end, bytes} = this.blocks;
    const instants = new Float64Array(count);
    let [live, born, died, top] = [0, 0, 0, 0];
    const advance = (ns: number): void => {
      for (; born < begin.length && begin[born]! <= ns; ++born) live += bytes[born]!;
      for (; died < this.ends.length && end[this.ends[died]!]! <= ns; ++died) live -= bytes[this.ends[died]!]!;
    };
    advance(from);
    for (let column = 0; column < count; ++column) {
      const until = column + 1 === count ? to : from + ((column + 1) * (to - from)) / count;
      let [most, at] = [live, from + (column * (to - from)) / count];
      for (;;) {
        const dies = died < this.ends.length ? end[this.ends[died]!]! : Infinity;
        const ns = Math.min(begin[born] ?? Infinity, dies);
        if (ns >= until) break;
        advance(ns);
        if (live > most) [most, at] = [live, ns];
      }
      instants[column] = at;
      top = Math.max(top, most);
    }
    return {key: '', instants, top};
  }

  private append(block: number): void {
    const head = this.blocks.count;
    const last = this.previous[head]!;
    this.next[last] = block;
    this.previous[block] = last;
    this.next[block] = head;
    this.previous[head] = block;
  }

  private remove(block: number): void {
    this.next[this.previous[block]!] = this.next[block]!;
    this.previous[this.next[block]!] = this.previous[block]!;
  }

  paint(frame: BlockFrame, ink: Ink): void {
    this.prepare(frame.from, frame.to, frame.width);
    const {begin, end} = this.blocks;
    const {instants} = this.columns;
    const painter = new Painter(frame, ink, this.blocks);
    const head = this.blocks.count;
    this.next[head] = this.previous[head] = head;
    this.openX.fill(NaN);
    let [born, died] = [0, 0];
    for (let column = 0; column < instants.length; ++column) {
      const [ns, x] = [instants[column]!, frame.left + (column * frame.width) / instants.length];
      let changed = column === 0;
      for (; born < begin.length && begin[born]! <= ns; ++born, changed = true) this.append(born);
      for (; died < this.ends.length && end[this.ends[died]!]! <= ns; ++died, changed = true) {
        this.close(painter, this.ends[died]!, x);
        this.remove(this.ends[died]!);
      }
      if (changed) this.layColumn(painter, frame, x);
    }
    const right = frame.left + frame.width;
    for (let block = this.next[head]!; block !== head; block = this.next[block]!) this.close(painter, block, right);
    painter.closeLow(right);
    painter.paintEdge();
  }

  private close(painter: Painter, block: number, x: number): void {
    const from = this.openX[block]!;
    if (from < x) painter.rectangle(block, {x: from, width: x - from, ...this.placeOf(block)});
    this.openX[block] = NaN;
  }

  private placeOf(block: number): {bottom: number; bytes: number} {
    return {bottom: this.openBottom[block]!, bytes: this.blocks.bytes[block]!};
  }

  // Computes the places of the live blocks for the column at `x`.
  private layColumn(painter: Painter, frame: BlockFrame, x: number): void {
    const head = this.blocks.count;
    const leastBytes = (kLeastPixels * (frame.high - frame.low)) / frame.height;
    painter.closeLow(x);
    let bottom = 0;
    for (let block = this.next[head]!; block !== head; block = this.next[block]!) {
      const bytes = this.blocks.bytes[block]!;
      if (bytes < leastBytes) {
        painter.addLow(block, bottom, leastBytes, x);
      } else if (!(this.openBottom[block] === bottom && this.openX[block]! <= x)) {
        this.close(painter, block, x);
        this.openX[block] = x;
        this.openBottom[block] = bottom;
      }
      bottom += bytes;
    }
  }

  blockAt(frame: BlockFrame, ns: number, bytes: number): number {
    this.prepare(frame.from, frame.to, frame.width);
    const {instants} = this.columns;
    const column = Math.floor(((ns - frame.from) / (frame.to - frame.from)) * instants.length);
    const at = instants[column];
    if (at === undefined || bytes < 0) return -1;
    let top = 0;
    for (let block = 0; block < this.blocks.count && this.blocks.begin[block]! <= at; ++block) {
      if (this.blocks.end[block]! <= at) continue;
      top += this.blocks.bytes[block]!;
      if (bytes < top) return block;
    }
    return -1;
  }
}

// Fills rectangles of bands, and joins bands that are lower than a pixel.
class Painter {
  private filled = '';
  private readonly edge: Rectangle[] = [];  // of the chosen block
  private low: {block: number; bottom: number; bytes: number}[] = [];
  private lowX = 0;

  constructor(private readonly frame: BlockFrame, private readonly ink: Ink, private readonly blocks: Blocks) {}

  rectangle(block: number, {x, width, bottom, bytes}: Rectangle): void {
    const {context, chosen} = this.ink;
    const [top, low] = [yOf(this.frame, bottom + bytes), yOf(this.frame, bottom)];
    if (block === chosen) this.edge.push({x, width, bottom, bytes});
    if (low < 0 || top > this.frame.height) return;
    const colour = this.ink.colourOf(block);
    if (colour !== this.filled) context.fillStyle = this.filled = colour;
    context.fillRect(x, top, width, Math.max(0.7, low - top - (low - top > 3 ? 0.8 : 0)));
  }

  // Adds a band that is lower than a pixel, at `bottom`. Joins it with the band below while this has fewer than `most`
  // bytes.
  addLow(block: number, bottom: number, most: number, x: number): void {
    this.lowX = x;
    const bytes = this.blocks.bytes[block]!;
    const last = this.low[this.low.length - 1];
    if (!last || last.bytes >= most || last.bottom + last.bytes !== bottom) {
      this.low.push({block, bottom, bytes});
      return;
    }
    if (bytes > this.blocks.bytes[last.block]!) last.block = block;
    last.bytes += bytes;
  }

  closeLow(x: number): void {
    for (const {block, bottom, bytes} of this.low)
      this.rectangle(block, {x: this.lowX, width: x - this.lowX, bottom, bytes});
    this.low = [];
  }

  paintEdge(): void {
    const {context} = this.ink;
    context.strokeStyle = this.ink.edge;
    context.lineWidth = 2;
    context.beginPath();
    this.edge.forEach(({x, width, bottom, bytes}, i) => {
      const [top, low] = [yOf(this.frame, bottom + bytes), yOf(this.frame, bottom)];
      if (i === 0) context.moveTo(x, low);
      for (const y of [top, low]) {
        context.moveTo(x, y);
        context.lineTo(x + width, y);
      }
      for (const side of [...(i === 0 ? [x] : []), ...(i + 1 === this.edge.length ? [x + width] : [])]) {
        context.moveTo(side, top);
        context.lineTo(side, low);
      }
    });
    context.stroke();
    context.lineWidth = 1;
  }
}
