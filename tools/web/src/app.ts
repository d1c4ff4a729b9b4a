// State that all views share: the report, the chosen device, and the reader's place in it.
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
  find: string;       // what is searched for in the flame graph and in tables
  focus: string[];    // names of modules, one in the other, that the flame graph is to focus
  flame: FlameBy|'';  // the tree that the flame graph shows next; '': the one that it shows
}

type Listener = () => void;

function wholeTimeOf(device: Device): {from: number; to: number} {
  const {begin_ns, end_ns} = device.facts;
  return {from: begin_ns, to: Math.max(end_ns, begin_ns + 1000)};
}

// Where a program prepares for much longer than it trains, its steps; the rest is a zoom away.
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

export class App {
  readonly devices: Device[];
  place: Place;
  private drawing = 0;
  private readonly listeners = new Set<Listener>();

  constructor(
      readonly facts: Facts,
      readonly tables: Tables,
  ) {
    this.devices = facts.devices.map((_, i) => new Device(facts, i));
    const device = this.devices[0];
    const nowhere = {instant: 0, from: 0, to: 1, find: '', focus: [], flame: ''} as const;
    this.place = {...nowhere, view: 'overview', device: 0, by: this.mainGrouping, focus: []};
    if (device) Object.assign(this.place, this.wholeOf(device));
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
    return {instant: peak ? peak.time_ns : end_ns, ...busyTimeOf(device)};
  }

  // The groupings of the device's blocks; pools exist only with a caching allocator.
  groupings(): GroupingFacts[] {
    return this.facts.groupings.filter((grouping) => grouping.word !== 'pool' || this.device.facts.caching);
  }

  busyTime(): {from: number; to: number} { return busyTimeOf(this.device); }

  // Whether what is shown is a part of the recording.
  isZoomed(): boolean {
    const {from, to} = this.place;
    const whole = wholeTimeOf(this.device);
    return from > whole.from || to < whole.to;
  }

  // Goes somewhere; every view is told, and the address remembers it.
  go(changes: Partial<Place>): void {
    const device = changes.device;
    if (device !== undefined && device !== this.place.device)
      changes = {...this.wholeOf(this.devices[device]!), ...changes};
    Object.assign(this.place, changes);
    if (!this.groupings().some((grouping) => grouping.word === this.place.by)) this.place.by = this.mainGrouping;
    const hash = `#${this.place.view}${this.place.device > 0 ? `;device=${this.place.device}` : ''}`;
    if (location.hash !== hash) history.replaceState(null, '', hash);
    for (const listener of [...this.listeners]) listener();
  }

  // From the address; what it says wrongly is left out.
  goToHash(views: ViewName[]): void {
    const [view, ...rest] = location.hash.slice(1).split(';');
    const device = Number(rest.find((part) => part.startsWith('device='))?.slice(7) ?? this.place.device);
    this.go({
      ...(views.includes(view as ViewName) ? {view: view as ViewName} : {}),
      ...(Number.isInteger(device) && device >= 0 && device < this.devices.length ? {device} : {}),
    });
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
