// The pictures of segments: lines of segments with their blocks and holes, in one scale for all pools, and a ruler.
import {byteTicks, kFont, surface, type Surface} from '../drawing/canvas';
import {kOther, variable} from '../drawing/colours';
import {hideTip, showTip} from '../drawing/element';
import {formatBytes, formatMoment, formatTick} from '../drawing/units';
import type {Blocks} from '../report/device';
import type {Labels} from '../report/labels';
import type {Segment} from '../report/segment_map';

const kLine = 22;
const kBar = kLine - 4;
const kMostLines = 600;
const kLeastWidth = 3;  // pixels of a segment
const kRulerHeight = 24;

interface Placed {
  segment: Segment;
  x: number;
  width: number;
  line: number;
}

export interface PictureOptions {
  segments: Segment[];  // of one pool and stream
  capacity: number;     // bytes of a line: the largest segment of all pools
  blocks: Blocks;
  labels: Labels;
  placeText: (segment: Segment) => string;  // its pool and stream
}

// Segments one after another, wrapped into lines, the largest first.
function place(segments: Segment[], capacity: number, width: number): Placed[] {
  const scale = width / capacity;
  const placed: Placed[] = [];
  let [x, line] = [0, 0];
  for (const segment of [...segments].sort((a, b) => b.bytes - a.bytes || a.address - b.address)) {
    const wide = Math.max(kLeastWidth, segment.bytes * scale - 2);
    if (x > 0 && x + wide > width) [x, line] = [0, line + 1];
    placed.push({segment, x, width: wide, line});
    x += wide + 3;
  }
  return placed;
}

// The number of segments that a picture has room for.
export const mostShown = (segments: Segment[], capacity: number, width: number): number =>
    place(segments, capacity, width).reduce((count, {line}) => count + (line < kMostLines ? 1 : 0), 0);

function drawSegment(
    context: CanvasRenderingContext2D, {segment, x, width, line}: Placed, blocks: Blocks, labels: Labels): void {
  const column = blocks.labels[labels.word]!;
  const y = line * kLine;
  const scale = width / segment.bytes;
  context.fillStyle = variable('--hole');
  context.fillRect(x, y, width, kBar);
  context.fillStyle = kOther();
  for (const {address, bytes} of segment.others)
    context.fillRect(x + (address - segment.address) * scale, y, Math.max(0.6, bytes * scale - 0.7), kBar);
  for (const block of segment.blocks) {
    context.fillStyle = labels.colour(column[block]!);
    const wide = blocks.bytes[block]! * scale;
    const left = x + (blocks.address[block]! - segment.address) * scale;
    context.fillRect(left, y, Math.max(0.6, wide - (wide > 3 ? 0.7 : 0)), kBar);
  }
  context.strokeStyle = variable('--ink-soft');
  context.lineWidth = 1;
  context.strokeRect(x + 0.5, y + 0.5, width - 1, kBar - 1);
}

// Lines about the place `share` of a segment.
function tipLines({blocks, labels, placeText}: PictureOptions, segment: Segment, share: number): string[] {
  const address = segment.address + share * segment.bytes;
  const has = (one: {address: number; bytes: number}): boolean =>
      address >= one.address && address < one.address + one.bytes;
  const free = formatBytes(segment.bytes - segment.used);
  const about = [
    `segment ${segment.number}: ${formatBytes(segment.bytes)}, ${free} free`, placeText(segment),
    `at 0x${segment.address.toString(16)}`
  ];
  const other = segment.others.find(has);
  if (other) return [`${formatBytes(other.bytes)} of another block`, ...about];
  const block = segment.blocks.find((one) => has({address: blocks.address[one]!, bytes: blocks.bytes[one]!}));
  if (block === undefined) return ['free', ...about];
  const name = labels.names[blocks.labels[labels.word]![block]!] ?? '';
  return [`${formatBytes(blocks.bytes[block]!)} ${name}`, `since ${formatMoment(blocks.begin[block]!)}`, ...about];
}

export function segmentPicture(options: PictureOptions): Surface {
  const {segments, capacity, blocks, labels} = options;
  let placed: Placed[] = [];
  const drawn = surface(
      'segments with their blocks and holes',
      () => {
        placed = place(segments, capacity, drawn.canvas.parentElement!.clientWidth);
        return Math.min(kMostLines, (placed[placed.length - 1]?.line ?? 0) + 1) * kLine;
      },
      ({context}) => {
        for (const one of placed)
          if (one.line < kMostLines) drawSegment(context, one, blocks, labels);
      },
  );
  drawn.canvas.addEventListener('mousemove', (event) => {
    const box = drawn.canvas.getBoundingClientRect();
    const [x, line] = [event.clientX - box.left, Math.floor((event.clientY - box.top) / kLine)];
    const at = placed.find((one) => one.line === line && x >= one.x && x < one.x + one.width);
    if (!at) return hideTip();
    showTip(event, tipLines(options, at.segment, (x - at.x) / at.width));
  });
  drawn.canvas.addEventListener('mouseleave', hideTip);
  return drawn;
}

// The scale of all pictures: bytes from the left edge.
export function segmentRuler(capacity: number): Surface {
  return surface(`ruler: a line has room for ${formatBytes(capacity)}`, () => kRulerHeight, ({context, width}) => {
    context.font = kFont;
    context.textBaseline = 'top';
    context.fillStyle = context.strokeStyle = variable('--ink-soft');
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(0, kRulerHeight - 0.5);
    context.lineTo(width, kRulerHeight - 0.5);
    for (const bytes of byteTicks(capacity, Math.max(1, Math.floor(width / 110)))) {
      const x = Math.min(width - 0.5, (bytes / capacity) * width + 0.5);
      context.moveTo(x, kRulerHeight - 8);
      context.lineTo(x, kRulerHeight);
      const text = formatTick(bytes);
      context.textAlign = x < 20 ? 'left' : x + context.measureText(text).width / 2 > width ? 'right' : 'center';
      context.fillText(text, x, 2);
    }
    context.stroke();
    context.textAlign = 'left';
  });
}
