// One device of the report, with its columns as they are first wanted.
import {stackingOrder} from '../drawing/colours';
import type {DeviceFacts, DeviceSummary, Facts, ProcessFacts} from './facts';
import {hasSection, type Reader, sectionJson, sectionReader} from './payload';

export interface Curve {
  buckets: number;
  most: Float64Array;
  mostNs: Float64Array;
  active: Float64Array|null;
  reserved: Float64Array|null;
}

export interface Stack {
  labels: number[];  // those that have a curve of their own: the largest first, categories by how long they live
  curves: Float64Array[];
}

export interface Blocks {
  count: number;
  begin: Float64Array;
  end: Float64Array;  // Infinity: live at the end
  bytes: Float64Array;
  address: Float64Array;
  before: Float64Array;
  labels: Record<string, Float64Array>;  // by word of the grouping
  path: Float64Array;
  caller: Float64Array;
}

// Bytes of the nodes of a flame graph, without their children.
export interface Sums {
  allocated: Float64Array;
  temporary: Float64Array;
  atPeak: Float64Array;
  kept: Float64Array;
}

export interface Tree extends Sums {
  count: number;
  parent: Float64Array;
  name: Float64Array;
  source: Float64Array;
}

export interface Places extends Sums {
  count: number;
  module: Float64Array;
  operator: Float64Array;
}

// Frames of Python by who called whom; kinds as CallerNode::Kind.
export interface Callers extends Sums {
  count: number;
  parent: Float64Array;
  frame: Float64Array;
  kind: Float64Array;
}

// Blocks that the report leaves out: where they lie.
export interface Others {
  count: number;
  begin: Float64Array;
  end: Float64Array;  // Infinity: live at the end
  bytes: Float64Array;
  address: Float64Array;
}

export interface SegmentChanges {
  count: number;
  ns: Float64Array;
  grows: Float64Array;
  mapped: Float64Array;  // of an expandable segment
  small: Float64Array;   // of the pool for blocks of up to 1 MiB
  address: Float64Array;
  bytes: Float64Array;
  stream: Float64Array;
  poolGraph: Float64Array;
  poolUser: Float64Array;
}

function livesFrom(reader: Reader, count: number): {begin: Float64Array; end: Float64Array} {
  const begin = reader.differences(count);
  const end = reader.numbers(count);
  for (let i = 0; i < count; ++i) end[i] = end[i] === 0 ? Infinity : begin[i]! + end[i]! - 1;
  return {begin, end};
}

function sumsFrom(reader: Reader, count: number): Sums {
  const allocated = reader.numbers(count);
  const temporary = reader.numbers(count);
  const atPeak = reader.numbers(count);
  return {allocated, temporary, atPeak, kept: reader.numbers(count)};
}

function once<T>(make: () => T): () => T {
  let made: {value: T}|undefined;
  return () => (made ??= {value: make()}).value;
}

// The same device in the baseline capture.
export interface Before {
  labels: Record<string, string[]>;
  places: Places;
  callers: Callers;
}

async function readPlaces(section: string): Promise<Places> {
  const reader = await sectionReader(section);
  const count = reader.number();
  const module = reader.differences(count);
  return {count, module, operator: reader.differences(count), ...sumsFrom(reader, count)};
}

async function readCallers(section: string): Promise<Callers> {
  const reader = await sectionReader(section);
  const count = reader.number();
  const parent = reader.differences(count);
  const frame = reader.repeated(count);
  return {count, parent, frame, kind: reader.repeated(count), ...sumsFrom(reader, count)};
}

export class Device {
  readonly facts: DeviceFacts;
  readonly summary: DeviceSummary;
  readonly process: ProcessFacts;
  private readonly stacks = new Map<string, Promise<Stack>>();

  constructor(
      readonly all: Facts,
      readonly number: number,
  ) {
    this.facts = all.devices[number]!;
    const same = (device: DeviceSummary) =>
        device.device === this.facts.device && device.process === this.facts.process;
    this.summary = all.summary.devices.find(same)!;
    this.process = all.processes.find((process) => process.process === this.facts.process)!;
  }

  get name(): string {
    const rank = this.facts.rank;
    const several = this.all.summary.processes.length > 1;
    if (!several) return this.facts.device;
    const name = `${rank === null ? `process ${this.facts.process}` : `rank ${rank}`} ${this.facts.device}`;
    return rank !== null && this.isOneOfSeveral() ?
        `${name} (pid ${this.all.summary.processes[this.facts.process]?.pid})` :
        name;
  }

  // A rank that was started again, or a job of several nodes whose ranks are not known apart.
  private readonly isOneOfSeveral = once(
      () => this.all.devices.filter((one) => one.rank === this.facts.rank && one.device === this.facts.device).length >
          1);

  // The simulated GPU that it is; "" for none.
  get simulated(): string {
    return this.facts.device.startsWith('cuda') ?
        (this.all.summary.processes[this.facts.process]?.simulated_device ?? '') :
        '';
  }

  // Who asked for the snapshot that it is; "" of a recording.
  get snapshot(): string { return this.all.summary.processes[this.facts.process]?.snapshot ?? ''; }

  // The file of another program that it was made of; "" for none.
  get imported(): string { return this.all.summary.processes[this.facts.process]?.imported_from ?? ''; }

  // A device without known active bytes has no segments either: a trace of torch.profiler.
  get hasSegments(): boolean { return this.summary.peak_active_bytes !== null; }

  readonly curve = once(async(): Promise<Curve> => {
    const reader = await sectionReader(`curve${this.number}`);
    const buckets = reader.number();
    const most = reader.differences(buckets);
    const mostNs = reader.differences(buckets);
    const caching = reader.number() === 1;
    const active = caching ? reader.differences(buckets) : null;
    return {
      buckets,
      most,
      mostNs,
      active: this.hasSegments ? active : null,
      reserved: caching ? reader.differences(buckets) : null,
    };
  });

  readonly labels = once(() => sectionJson<Record<string, string[]>>(`labels${this.number}`));

  async stack(word: string): Promise<Stack> {
    const known = this.stacks.get(word);
    if (known) return known;
    const made = this.readStack(word);
    this.stacks.set(word, made);
    return made;
  }

  private async readStack(word: string): Promise<Stack> {
    const {buckets} = await this.curve();
    const reader = await sectionReader(`stack${this.number}.${word}`);
    const stack: Stack = {labels: [], curves: []};
    const count = reader.number();
    for (let i = 0; i < count; ++i) {
      stack.labels.push(reader.number());
      stack.curves.push(reader.differences(buckets));
    }
    if (word === 'category') await this.sortByLife(stack);
    return stack;
  }

  private async sortByLife(stack: Stack): Promise<void> {
    const names = (await this.labels())['category'] ?? [];
    const orderOf = (label: number): number => stackingOrder(this.all.categories[names[label] ?? '']?.category ?? '');
    const order = stack.labels.map((_, i) => i).sort(
        (a, b) => orderOf(stack.labels[a]!) - orderOf(stack.labels[b]!) || a - b);
    Object.assign(stack, {labels: order.map((i) => stack.labels[i]!), curves: order.map((i) => stack.curves[i]!)});
  }

  readonly blocks = once(async(): Promise<Blocks> => {
    const reader = await sectionReader(`blocks${this.number}`);
    const count = reader.number();
    const {begin, end} = livesFrom(reader, count);
    const bytes = reader.repeated(count);
    const address = reader.repeated(count);
    const before = reader.repeated(count);
    const labels: Record<string, Float64Array> = {};
    for (const grouping of this.all.groupings) labels[grouping.word] = reader.repeated(count);
    const path = reader.repeated(count);
    return {count, begin, end, bytes, address, before, labels, path, caller: reader.repeated(count)};
  });

  readonly paths = once(async(): Promise<Tree> => {
    const reader = await sectionReader(`paths${this.number}`);
    const count = reader.number();
    const parent = reader.differences(count);
    const name = reader.repeated(count);
    return {count, parent, name, source: reader.repeated(count), ...sumsFrom(reader, count)};
  });

  readonly places = once(() => readPlaces(`places${this.number}`));

  readonly callers = once(() => readCallers(`callers${this.number}`));

  // True if the baseline capture has this device.
  get hasBefore(): boolean { return this.all.baseline?.devices.includes(this.number) ?? false; }

  readonly before = once(async(): Promise<Before> => ({
                           labels: await sectionJson<Record<string, string[]>>(`before-labels${this.number}`),
                           places: await readPlaces(`before-places${this.number}`),
                           callers: await readCallers(`before-callers${this.number}`),
                         }));

  readonly others = once(async(): Promise<Others> => {
    const none = new Float64Array();
    if (!hasSection(`others${this.number}`)) return {count: 0, begin: none, end: none, bytes: none, address: none};
    const reader = await sectionReader(`others${this.number}`);
    const count = reader.number();
    const {begin, end} = livesFrom(reader, count);
    const bytes = reader.repeated(count);
    return {count, begin, end, bytes, address: reader.repeated(count)};
  });

  readonly segments = once(async(): Promise<SegmentChanges> => {
    const reader = await sectionReader(`segments${this.number}`);
    const count = reader.number();
    const ns = reader.differences(count);
    const column = () => reader.repeated(count);
    return {
      count,
      ns,
      grows: column(),
      mapped: column(),
      small: column(),
      address: column(),
      bytes: column(),
      stream: column(),
      poolGraph: column(),
      poolUser: column(),
    };
  });
}
