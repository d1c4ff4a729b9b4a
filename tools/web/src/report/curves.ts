// The points of the timeline: for a span of time, the maximum of each point and its composition. No zoom level omits a
// maximum.
import type {Blocks, Device} from './device';

export interface Points {
  exact: boolean;  // false: coarser than what is asked for; each point is a bucket of the recording
  ns: number[];    // where each begins
  most: number[];
  mostNs: number[];  // when its most was
  active: (number|null)[];
  reserved: (number|null)[];
  labels: number[];  // of `parts`; what is missing to `most` is others'
  parts: number[][];
}

const kMostSweptEvents = 60_000;

const ends = new WeakMap<Blocks, Uint32Array>();

// The blocks that ended, in the order of their ends.
export function endsOf(blocks: Blocks): Uint32Array {
  const known = ends.get(blocks);
  if (known) return known;
  const ended: number[] = [];
  for (let i = 0; i < blocks.count; ++i)
    if (blocks.end[i] !== Infinity) ended.push(i);
  const made = Uint32Array.from(ended).sort((a, b) => blocks.end[a]! - blocks.end[b]! || a - b);
  ends.set(blocks, made);
  return made;
}

// The first index for which `at` is not below `value`.
export function lowerBound(count: number, value: number, at: (index: number) => number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (at(middle) < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

export async function pointsOf(device: Device, word: string, from: number, to: number, width: number): Promise<Points> {
  const curve = await device.curve();
  const {begin_ns, end_ns} = device.facts;
  const inView = ((to - from) / Math.max(end_ns - begin_ns, 1)) * curve.buckets;
  if (inView < width && device.facts.complete) {
    const swept = sweep(await device.blocks(), word, from, to, width, (await device.stack(word)).labels);
    if (swept) return withLines(await withMost(swept, device, word), device, curve);
  }
  return bucketsOf(device, word, from, to, width);
}

async function bucketsOf(device: Device, word: string, from: number, to: number, width: number): Promise<Points> {
  const curve = await device.curve();
  const stack = await device.stack(word);
  const {begin_ns, end_ns} = device.facts;
  const span = Math.max(end_ns - begin_ns, 1) / curve.buckets;
  const first = Math.max(0, Math.floor((from - begin_ns) / span));
  const last = Math.min(curve.buckets - 1, Math.floor((to - begin_ns) / span));
  const points: Points = {
    exact: (to - from) / span >= width,
    ns: [],
    most: [],
    mostNs: [],
    active: [],
    reserved: [],
    labels: stack.labels,
    parts: stack.labels.map(() => []),
  };
  const count = last - first + 1;
  const shown = Math.min(width, count);
  for (let point = 0; point < shown; ++point) {
    const begin = first + Math.floor((point * count) / shown);
    const end = first + Math.floor(((point + 1) * count) / shown);
    let best = begin;
    let active = -1;
    let reserved = -1;
    for (let i = begin; i < end; ++i) {
      if (curve.most[i]! > curve.most[best]!) best = i;
      if (curve.active) active = Math.max(active, curve.active[i]!);
      if (curve.reserved) reserved = Math.max(reserved, curve.reserved[i]!);
    }
    points.ns.push(begin_ns + begin * span);
    points.most.push(curve.most[best]!);
    points.mostNs.push(curve.mostNs[best]!);
    points.active.push(active < 0 ? null : active);
    points.reserved.push(reserved < 0 ? null : reserved);
    stack.curves.forEach((values, i) => points.parts[i]!.push(values[best]!));
  }
  close(points, Math.min(to, end_ns));
  return points;
}

// The last point holds until the end of what is shown.
function close(points: Points, end: number): void {
  const last = points.ns.length - 1;
  if (last < 0) return;
  points.ns.push(Math.max(end, points.ns[last]! + 1));
  for (const column of [points.most, points.mostNs, points.active, points.reserved, ...points.parts]) {
    (column as (number | null)[]).push(column[last]!);
  }
}

// From single blocks: every change is known, so any zoom is exact. Nothing where there are too many in view.
function sweep(blocks: Blocks, word: string, from: number, to: number, width: number, labels: number[]): Points|
    undefined {
  const ends = endsOf(blocks);
  let nextBegin = lowerBound(blocks.count, from, (i) => blocks.begin[i]!);
  let nextEnd = lowerBound(ends.length, from, (i) => blocks.end[ends[i]!]!);
  const lastBegin = lowerBound(blocks.count, to, (i) => blocks.begin[i]!);
  const lastEnd = lowerBound(ends.length, to, (i) => blocks.end[ends[i]!]!);
  if (lastBegin - nextBegin + lastEnd - nextEnd > kMostSweptEvents) return undefined;
  const place = new Map(labels.map((label, i) => [label, i]));
  const column = blocks.labels[word]!;
  const now = new Float64Array(labels.length + 1);
  const placeOf = (block: number): number => place.get(column[block]!) ?? labels.length;
  let live = 0;
  for (let i = 0; i < blocks.count && blocks.begin[i]! < from; ++i) {
    if (blocks.end[i]! < from) continue;
    live += blocks.bytes[i]!;
    now[placeOf(i)]! += blocks.bytes[i]!;
  }
  const points: Points =
      {exact: true, ns: [], most: [], mostNs: [], active: [], reserved: [], labels, parts: labels.map(() => [])};
  const step = (to - from) / width;
  const note = (index: number, ns: number): void => {
    points.most[index] = live;
    points.mostNs[index] = ns;
    points.parts.forEach((part, i) => (part[index] = now[i]!));
  };
  let open = -1;
  const openAt = (ns: number): void => {
    const index = Math.min(width - 1, Math.floor((ns - from) / step));
    if (index === open) return;
    // A value lasts until the next change, so the points between are one.
    for (const wanted of index > open + 1 ? [open + 1, index] : [index]) {
      points.ns.push(from + wanted * step);
      note(points.ns.length - 1, from + wanted * step);
    }
    open = index;
  };
  openAt(from);
  while (nextBegin < lastBegin || nextEnd < lastEnd) {
    const begin = nextBegin < lastBegin ? blocks.begin[nextBegin]! : Infinity;
    const end = nextEnd < lastEnd ? blocks.end[ends[nextEnd]!]! : Infinity;
    const ends1st = end <= begin;
    openAt(ends1st ? end : begin);
    const block = ends1st ? ends[nextEnd++]! : nextBegin++;
    const bytes = ends1st ? -blocks.bytes[block]! : blocks.bytes[block]!;
    live += bytes;
    now[placeOf(block)]! += bytes;
    const index = points.ns.length - 1;
    if (live > points.most[index]!) note(index, begin);
  }
  openAt(to);  // what is live behind the last change, and not the most of its pixel
  close(points, to);
  return points;
}

// The order of blocks that began and ended within one nanosecond is unknown; the maximum of each bucket is known.
async function withMost(points: Points, device: Device, word: string): Promise<Points> {
  const curve = await device.curve();
  const stack = await device.stack(word);
  const {begin_ns, end_ns} = device.facts;
  const span = Math.max(end_ns - begin_ns, 1) / curve.buckets;
  const last = points.ns.length - 2;  // the last point closes
  const bucketOf = (ns: number): number => Math.max(0, Math.min(curve.buckets - 1, Math.floor((ns - begin_ns) / span)));
  for (let bucket = bucketOf(points.ns[0]!); bucket <= bucketOf(points.ns[last + 1]!); ++bucket) {
    const ns = curve.mostNs[bucket]!;
    if (ns < points.ns[0]! || ns > points.ns[last + 1]!) continue;
    const index = Math.min(last, lowerBound(last + 1, ns + 1, (i) => points.ns[i]!) - 1);
    if (curve.most[bucket]! <= points.most[index]!) continue;
    for (const at of index === last ? [last, last + 1] : [index]) {
      points.most[at] = curve.most[bucket]!;
      points.mostNs[at] = ns;
      points.parts.forEach((part, i) => (part[at] = stack.curves[i]![bucket]!));
    }
  }
  return points;
}

// Active and reserved bytes are known by buckets alone.
function withLines(points: Points, device: Device, curve: Awaited<ReturnType<Device['curve']>>): Points {
  const {begin_ns, end_ns} = device.facts;
  const span = Math.max(end_ns - begin_ns, 1) / curve.buckets;
  const at = (values: Float64Array|null, ns: number): number|null =>
      values ? values[Math.max(0, Math.min(curve.buckets - 1, Math.floor((ns - begin_ns) / span)))]! : null;
  points.active = points.ns.map((ns) => at(curve.active, ns));
  points.reserved = points.ns.map((ns) => at(curve.reserved, ns));
  return points;
}

export interface Snapped {
  index: number;  // of the point
  ns: number;
}

// Returns the highest point that overlaps the time from `ns - reach` to `ns + reach`, and the time to choose in it: the
// time of its maximum if it is within reach or the points are not exact, else its time nearest to `ns`.
export function snapTo(points: Points, ns: number, reach: number): Snapped {
  if (points.ns.length === 0) return {index: 0, ns};
  const last = Math.max(0, points.ns.length - 2);  // the last point closes
  const indexOf = (at: number): number =>
      Math.min(last, Math.max(0, lowerBound(points.ns.length, at + 1, (i) => points.ns[i]!) - 1));
  const [begin, end] = [indexOf(ns - reach), indexOf(ns + reach)];
  let best = indexOf(ns);
  for (let i = begin; i <= end; ++i)
    if (points.most[i]! > points.most[best]!) best = i;
  const mostNs = points.mostNs[best]!;
  if (Math.abs(mostNs - ns) <= reach || !points.exact) return {index: best, ns: mostNs};
  const until = points.ns[best + 1] ?? Infinity;
  return {index: best, ns: Math.max(points.ns[best]!, Math.min(ns, until - 1))};
}
