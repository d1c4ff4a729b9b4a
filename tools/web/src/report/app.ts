// State that all views share: the report, the chosen device, and the reader's place in it.
import {addressOf, placeOf} from './address';
import {lowerBound} from './curves';
import {Device} from './device';
import type {Facts, GroupingFacts, Instant, Tables} from './facts';

export type ViewName =
    'overview'|'timeline'|'blocks'|'flame'|'segments'|'modules'|'operators'|'lines'|'parameters'|'ranks';
export type FlameBy = 'modules'|'ranges'|'callers';

export interface Place {
  view: ViewName;
  device: number;
  by: string;       // the grouping by which things are coloured and stacked
  instant: number;  // ns
  from: number;     // ns, what the timeline and the blocks show
  to: number;
  found: Partial<Record<ViewName, string>>;  // by view: what is searched for in its graph or table
  focus: string[];                           // names of nodes, one in the other, that the flame graph is focused on
  flame: FlameBy;                            // the tree that the flame graph shows
}

// A new place: what is not named stays as it is. `find`: what is searched for in the view that is then shown.
export type Changes = Partial<Omit<Place, 'found'>>&{find?: string};

// Changes that a drag, a wheel or a key press makes many times a second: they replace the newest entry of the history.
const kContinuous = new Set<string>(['from', 'to', 'find']);
const kPauseMs = 250;  // without such a change, before the address shows it: browsers refuse more than some a second

type Listener = () => void;

function wholeTimeOf(device: Device): {from: number; to: number} {
  const {begin_ns, end_ns} = device.facts;
  return {from: begin_ns, to: Math.max(end_ns, begin_ns + 1000)};
}

// The whole recording. If more than a third of it lies before the first step or forward pass: from shortly before that
// on.
export function busyTimeOf(device: Device): {from: number; to: number} {
  const whole = wholeTimeOf(device);
  const first = device.process.iterations[0];
  const begin =
      Math.min(first?.fw_start ?? Infinity, first?.fw_bw_boundary ?? Infinity, device.process.steps_ns[0] ?? Infinity);
  if (!(begin > whole.from) || begin >= whole.to) return whole;
  const margin = (whole.to - begin) * 0.04;
  return begin - whole.from > (whole.to - whole.from) / 3 ? {from: Math.max(whole.from, begin - margin), to: whole.to} :
                                                            whole;
}

// The step of the peak, with a margin. Without such a step, the time of busyTimeOf().
export function timeOfPeak(device: Device): {from: number; to: number} {
  const whole = wholeTimeOf(device);
  const {steps_ns, all_steps} = device.process;
  const peak = device.facts.instants.find((instant) => instant.kind === 'peak')?.time_ns;
  if (peak === undefined) return busyTimeOf(device);
  const step = lowerBound(steps_ns.length, peak + 1, (i) => steps_ns[i]!) - 1;
  const isCut = step + 1 === steps_ns.length && steps_ns.length < all_steps;  // the report lacks the end of the step
  if (step < 0 || isCut) return busyTimeOf(device);
  const [begin, end] = [steps_ns[step]!, steps_ns[step + 1] ?? whole.to];
  const margin = (end - begin) * 0.04;
  const [from, to] = [Math.max(whole.from, begin - margin), Math.min(whole.to, end + margin)];
  return to > from ? {from, to} : whole;
}

export class App {
  readonly devices: Device[];
  firstDevice = 0;  // shown where the address names none
  place: Place;
  private drawing = 0;
  private addressTimer = 0;
  private readonly listeners = new Set<Listener>();

  constructor(
      readonly facts: Facts,
      readonly tables: Tables,
  ) {
    this.devices = facts.devices.map((_, i) => new Device(facts, i));
    this.place = this.placeAtFirst(0);
  }

  private placeAtFirst(device: number): Place {
    return {
      view: 'overview',
      device,
      by: this.mainGrouping,
      found: {},
      focus: [],
      flame: 'modules',
      ...(this.devices[device] ? this.wholeOf(this.devices[device]!) : {instant: 0, from: 0, to: 1}),
    };
  }

  get device(): Device { return this.devices[this.place.device]!; }

  get simulated(): string[] {
    return [...new Set(
        this.facts.summary.processes.map((process) => process.simulated_device).filter((name) => name !== ''))];
  }

  // "the window" for a part of a recording, otherwise "the recording".
  get span(): string { return this.facts.part?.window ? 'the window' : 'the recording'; }

  // Whether blocks are left out by their module or size.
  get choosesBlocks(): boolean { return Boolean(this.facts.part?.blocks); }

  // An imported one, which has no calls of operators (docs/imports.md).
  get isSnapshot(): boolean {
    return this.facts.summary.processes.some((process) => process.sources.includes('torch-snapshot'));
  }

  // The grouping that separates blocks at first. A memory snapshot has no categories.
  get mainGrouping(): 'category'|'line' { return this.isSnapshot && this.facts.has_lines ? 'line' : 'category'; }

  private wholeOf(device: Device): Pick<Place, 'instant'|'from'|'to'> {
    const peak = device.facts.instants.find((instant) => instant.kind === 'peak');
    const {end_ns} = device.facts;
    return {instant: peak ? peak.time_ns : end_ns, ...timeOfPeak(device)};
  }

  // The groupings of the device's blocks; pools exist only with a caching allocator.
  groupings(): GroupingFacts[] {
    return this.facts.groupings.filter((grouping) => grouping.word !== 'pool' || this.device.facts.caching);
  }

  busyTime(): {from: number; to: number} { return busyTimeOf(this.device); }

  whole(): {from: number; to: number} { return wholeTimeOf(this.device); }

  // Whether what is shown is a part of the recording.
  isZoomed(): boolean {
    const {from, to} = this.place;
    const whole = wholeTimeOf(this.device);
    return from > whole.from || to < whole.to;
  }

  // Goes somewhere. Every view is told, and the address shows it; Back returns.
  go({find, ...changes}: Changes): void {
    const device = changes.device;
    if (device !== undefined && device !== this.place.device)
      changes = {...this.wholeOf(this.devices[device]!), focus: [], ...changes};
    Object.assign(this.place, changes);
    if (find !== undefined) this.place.found[this.place.view] = find;
    this.show(Object.keys(changes).every((key) => kContinuous.has(key)) ? 'replace' : 'push');
  }

  // Goes where the address leads.
  goToAddress(views: ViewName[]): void {
    const found = this.place.found;  // stays, in views that the address does not name
    const atFirst = (device: number): Place => this.placeAtFirst(device);
    this.place = placeOf(location.hash, views, this.devices.length, this.firstDevice, atFirst);
    this.place.found = {...found, ...this.place.found, [this.place.view]: this.place.found[this.place.view] ?? ''};
    this.show('none');
  }

  private show(history: 'none'|'push'|'replace'): void {
    if (!this.groupings().some((grouping) => grouping.word === this.place.by)) this.place.by = this.mainGrouping;
    clearTimeout(this.addressTimer);
    if (history === 'push') this.writeAddress('pushState');
    if (history === 'replace')
      this.addressTimer = setTimeout(() => this.writeAddress('replaceState'), kPauseMs);
    for (const listener of [...this.listeners]) listener();
  }

  private writeAddress(write: 'pushState'|'replaceState'): void {
    const address = addressOf(this.place, this.placeAtFirst(this.place.device), this.firstDevice);
    if (location.hash !== address) history[write](null, '', address);
  }

  // Counts a running drawing in the page's `data-drawing`.
  draws(drawing: Promise<unknown>): void {
    const count = (by: number): void => {
      this.drawing += by;
      document.documentElement.dataset['drawing'] = String(this.drawing);
    };
    count(1);
    void drawing.finally(() => count(-1));
  }

  onChange(listener: Listener): void { this.listeners.add(listener); }

  wholeTime(): void { this.go(wholeTimeOf(this.device)); }

  // The exact instants of the device, those that mean something first.
  instants(): Instant[] { return this.device.facts.instants; }
}
