// Allocated bytes of several ranks on one axis, aligned by time or by step, and how far each is from their median.
import {type App, busyTimeOf} from './app';
import type {Device} from './device';

export type Alignment = 'step'|'time';

const kindOf = (device: Device): string => device.facts.device.replace(/:.*/, '');

// Devices of one kind, of each kind that there are several of; GPUs first.
export function kindsOf(app: App): Map<string, Device[]> {
  const kinds = new Map<string, Device[]>();
  for (const device of app.devices) {
    const known = kinds.get(kindOf(device));
    if (known) {
      known.push(device);
    } else {
      kinds.set(kindOf(device), [device]);
    }
  }
  return new Map([...kinds].filter(([, devices]) => devices.length > 1));
}

// The compared objects: ranks, or the devices of one process with several.
export function nounOf(devices: Device[]): 'rank'|'device' {
  return new Set(devices.map((device) => device.facts.process)).size === devices.length ? 'rank' : 'device';
}

export interface RankCurve {
  device: Device;
  bytes: (number|null)[];  // the most in each cell; null: outside of its recording
  ns: number[];            // when that was
  difference: number;      // bytes above the median where it is furthest from that; negative below
  furthest: number;        // there, as a share of what is shown
  furthestNs: number;
  odd: boolean;  // it stands out
}

export interface RankCurves {
  from: number;  // steps, or ns: what the cells cover
  to: number;
  ranks: RankCurve[];
  median: (number|null)[];
  most: number;  // bytes, over all
}

// The place of a rank's steps on the axis of steps, by their numbers: `number` may have a fraction.
function nsOfStep(device: Device, number: number): number {
  const steps = device.process.steps_ns;
  const step = number - device.process.first_step;
  const {begin_ns, end_ns} = device.facts;
  if (step < 0) return begin_ns + (step + 1) * ((steps[0] ?? begin_ns) - begin_ns);
  const whole = Math.floor(step);
  if (whole >= steps.length) return Infinity;
  const next = steps[whole + 1] ?? Math.max(end_ns, steps[whole]!);
  return steps[whole]! + (step - whole) * (next - steps[whole]!);
}

export const hasSteps = (devices: Device[]): boolean => devices.every((device) => device.process.steps_ns.length > 1);

export function wholeOf(devices: Device[], align: Alignment): {from: number; to: number} {
  if (align === 'step') {
    const from = Math.min(...devices.map((device) => device.process.first_step));
    const end = (device: Device): number => device.process.first_step + device.process.steps_ns.length;
    return {from, to: Math.max(from + 1, ...devices.map(end))};
  }
  const from = Math.min(...devices.map((device) => busyTimeOf(device).from));
  return {from, to: Math.max(from + 1000, ...devices.map((device) => device.facts.end_ns))};
}

function medianOf(values: number[]): number {
  const sorted = values.sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function mediansOf(ranks: RankCurve[], cells: number): (number|null)[] {
  return Array.from({length: cells}, (_, cell) => {
    const known = ranks.map((rank) => rank.bytes[cell]!).filter((bytes) => bytes !== null);
    return known.length > 0 ? medianOf(known) : null;
  });
}

function spanOfMost(bytes: (number|null)[], at: number): number {
  if (bytes[at] === null) return at;
  return [at - 1, at + 1].reduce((best, near) => ((bytes[near] ?? -1) > bytes[best]!? near : best), at);
}

async function curveOf(device: Device, align: Alignment, from: number, to: number, cells: number): Promise<RankCurve> {
  const {most, mostNs, buckets} = await device.curve();
  const {begin_ns, end_ns} = device.facts;
  const span = Math.max(end_ns - begin_ns, 1) / buckets;
  const rank: RankCurve = {device, bytes: [], ns: [], difference: 0, furthest: 0, furthestNs: begin_ns, odd: false};
  const edge = (cell: number): number => {
    const at = from + ((to - from) * cell) / cells;
    return align === 'time' ? at : nsOfStep(device, at);
  };
  for (let cell = 0; cell < cells; ++cell) {
    const [begin, end] = [edge(cell), edge(cell + 1)];
    if (begin > end_ns || end < begin_ns || begin === Infinity) {
      rank.bytes.push(null);
      rank.ns.push(end_ns);
      continue;
    }
    const first = Math.max(0, Math.min(buckets - 1, Math.floor((begin - begin_ns) / span)));
    const last = Math.max(first, Math.min(buckets - 1, Math.ceil((Math.min(end, end_ns) - begin_ns) / span) - 1));
    let best = first;
    for (let i = first + 1; i <= last; ++i)
      if (most[i]! > most[best]!) best = i;
    rank.bytes.push(most[best]!);
    rank.ns.push(mostNs[best]!);
  }
  return rank;
}

export async function rankCurves(
    devices: Device[], align: Alignment, from: number, to: number, cells: number): Promise<RankCurves> {
  const ranks = await Promise.all(devices.map((device) => curveOf(device, align, from, to, cells)));
  // Ranks do the same at slightly different times, and a step begins in the middle of its work. So the view compares
  // the maximum of each step, or of each of 40 spans, and its two neighbours.
  const spans = align === 'step' ? Math.min(400, Math.max(1, Math.round(to - from))) : 40;
  const compared = await Promise.all(devices.map((device) => curveOf(device, align, from, to, spans)));
  const around = compared.map((rank) => rank.bytes.map((_, span) => spanOfMost(rank.bytes, span)));
  const smooth = compared.map((rank, i) => ({...rank, bytes: around[i]!.map((span) => rank.bytes[span]!)}));
  const middles = mediansOf(smooth, spans);
  ranks.forEach((rank, i) => smooth[i]!.bytes.forEach((bytes, span) => {
    const middle = middles[span];
    if (bytes === null || middle === null || middle === undefined) return;
    if (Math.abs(bytes - middle) <= Math.abs(rank.difference)) return;
    rank.difference = bytes - middle;
    rank.furthest = around[i]![span]! / spans;
    rank.furthestNs = compared[i]!.ns[around[i]![span]!]!;
  }));
  const most =
      ranks.reduce((all, rank) => rank.bytes.reduce<number>((one, bytes) => Math.max(one, bytes ?? 0), all), 1);
  // A twentieth of the most bytes from the median, and much further than most ranks are.
  const usual = medianOf(ranks.map((rank) => Math.abs(rank.difference)));
  for (const rank of ranks) rank.odd = Math.abs(rank.difference) > Math.max(most / 20, 2 * usual);
  return {from, to, ranks, median: mediansOf(ranks, cells), most};
}
