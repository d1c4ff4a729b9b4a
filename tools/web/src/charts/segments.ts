// The caching allocator's segments at the chosen instant, by pool and stream: their blocks and holes, and a table.
import type {Surface} from '../drawing/canvas';
import {kOther} from '../drawing/colours';
import {choice, el, replaceContent} from '../drawing/element';
import {formatBytes, formatCount, formatMoment, formatShare, plural} from '../drawing/units';
import type {App} from '../report/app';
import type {Blocks} from '../report/device';
import {legendOf, labelsOf} from '../report/labels';
import {liveAt, type LiveSet} from '../report/live';
import {type Segment, segmentsAt, streamNumbers} from '../report/segment_map';
import type {View} from '../report/view';
import {table} from '../tables/table';
import {instantChips} from './chips';
import {mostShown, type PictureOptions, segmentPicture, segmentRuler} from './segment_picture';

const sum = (segments: Segment[]): number => segments.reduce((all, segment) => all + segment.bytes, 0);
const freeOf = (segment: Segment): number => segment.bytes - segment.used;
const hex = (address: number): string => `0x${address.toString(16)}`;

function largestHole(segment: Segment, blocks: Blocks): number {
  let [largest, at] = [0, segment.address];
  const taken = segment.blocks.map((block) => ({address: blocks.address[block]!, bytes: blocks.bytes[block]!}));
  for (const {address, bytes} of [...taken, ...segment.others].sort((a, b) => a.address - b.address)) {
    largest = Math.max(largest, address - at);
    at = address + bytes;
  }
  return Math.max(largest, segment.address + segment.bytes - at);
}

// Names of segments and streams: numbers, or addresses if the reader wants them.
interface Names {
  segment(segment: Segment): string;
  stream(segment: Segment): string;
}

function namesOf(streams: Map<number, number>, addresses: boolean): Names {
  return {
    segment: (one) => addresses ? hex(one.address) : String(one.number),
    stream: (one) => addresses ? hex(one.stream) : String(streams.get(one.stream) ?? '?'),
  };
}

// By pool and stream, those with the most bytes first.
function byPlace(segments: Segment[], placeText: (segment: Segment) => string): [string, Segment[]][] {
  const places = new Map<string, Segment[]>();
  for (const segment of segments) {
    const key = placeText(segment);
    const known = places.get(key);
    if (known) {
      known.push(segment);
    } else {
      places.set(key, [segment]);
    }
  }
  return [...places].sort((a, b) => sum(b[1]) - sum(a[1]));
}

function segmentTable(segments: Segment[], blocks: Blocks, names: Names): HTMLElement {
  const hole = (one: Segment): number => largestHole(one, blocks);
  const blocksOf = (one: Segment): number => one.blocks.length + one.others.length;
  return table<Segment>({
    noun: 'segments',
    rows: segments,
    sortedBy: 2,
    shown: 20,
    filterText: (one) => `${hex(one.address)} ${one.pool} stream ${names.stream(one)}`,
    columns: [
      {head: 'segment', text: names.segment, sort: (one) => one.address, exact: (one) => `at ${hex(one.address)}`},
      {
        head: 'bytes',
        text: (one) => formatBytes(one.bytes),
        sort: (one) => one.bytes,
        numeric: true,
        exact: (one) => `${formatCount(one.bytes)} bytes`
      },
      {
        head: 'free',
        text: (one) => formatBytes(freeOf(one)),
        sort: freeOf,
        numeric: true,
        bar: (one) => freeOf(one) / one.bytes,
        exact: (one) => `${formatCount(freeOf(one))} bytes`
      },
      {head: 'largest hole', text: (one) => formatBytes(hole(one)), sort: hole, numeric: true},
      {head: 'blocks', text: (one) => formatCount(blocksOf(one)), sort: blocksOf, numeric: true},
      {head: 'pool', text: (one) => one.pool, sort: (one) => one.pool},
      {
        head: 'stream',
        text: names.stream,
        sort: (one) => one.stream,
        numeric: true,
        exact: (one) => `handle ${hex(one.stream)}`
      },
    ],
  });
}

class SegmentsView implements View {
  readonly element = el('section', {class: 'segments'});
  private readonly chips: () => HTMLElement;
  private addresses = false;
  private asked = 0;

  constructor(private readonly app: App) { this.chips = instantChips(app, ['peak', 'oom', 'end', 'mark']); }

  private whyEmpty(): string {
    const {device} = this.app;
    if (!device.facts.caching) return `${device.name} has no caching allocator: only CUDA devices have segments.`;
    return device.hasSegments ? '' : `Not known: ${device.imported} has sums of segments, but not their addresses.`;
  }

  private headline(segments: Segment[], live: LiveSet): HTMLElement {
    const {facts} = this.app.device;
    const reserved = sum(segments);
    const used = segments.reduce((all, segment) => all + segment.used, 0);
    const complete = live.complete && (facts.all_others || live.exact !== null);
    return el(
        'div', {class: 'headline'},
        el('h2', {},
           `${formatBytes(reserved)} reserved in ${plural(segments.length, 'segment')} at ${formatMoment(live.ns)}`),
        el('p', {class: 'note'},
           `${formatBytes(used)} in blocks, ${formatBytes(reserved - used)} (${
               formatShare(reserved - used, reserved)}) in none.${
               complete ? '' :
                          ' Some blocks are not in the report of this long recording: choose an exact instant.'}${
               facts.all_segments ? '' : ' The first segments\' changes alone are in this report.'}`));
  }

  private choices(): HTMLElement {
    const {app} = this;
    const groupings = app.groupings().filter((one) => one.stacked).map((one) => ({value: one.word, text: one.one}));
    const names = [{value: 'numbers' as const, text: 'numbers'}, {value: 'addresses' as const, text: 'addresses'}];
    return el(
        'div', {class: 'controls'}, choice('colour by', groupings, app.place.by, (by) => app.go({by})),
        choice('segments as', names, this.addresses ? 'addresses' : 'numbers', (value) => {
          this.addresses = value === 'addresses';
          this.update();
        }));
  }

  private async legend(): Promise<HTMLElement> {
    const {app} = this;
    const entries = await legendOf(app, await labelsOf(app, app.place.by));
    const hole = el('span', {class: 'entry'}, el('i', {class: 'swatch hole'}), 'in no block');
    const other = el('i', {class: 'swatch'});
    other.style.background = kOther();
    const others = el('span', {class: 'entry other-blocks'}, other, 'other blocks, left out elsewhere');
    return el('div', {class: 'legend'}, ...entries, app.choosesBlocks ? others : null, hole);
  }

  // Segments of one pool and stream. Appends to `draws` a function that draws the picture; call it after the element is
  // in the page.
  private pool(name: string, options: PictureOptions, draws: (() => void)[]): HTMLElement {
    const {segments, capacity} = options;
    const picture: Surface = segmentPicture(options);
    const cut = el('p', {class: 'note'});
    draws.push(() => {
      picture.draw();
      const shown = mostShown(segments, capacity, picture.canvas.parentElement!.clientWidth);
      cut.textContent = shown < segments.length ?
          `The map shows the largest ${formatCount(shown)} of ${plural(segments.length, 'segment')}; ${
              ''}the table has all.` :
          '';
    });
    const free = segments.reduce((all, segment) => all + freeOf(segment), 0);
    return el(
        'div', {class: 'pool'}, el('h3', {}, `${name}: ${formatBytes(sum(segments))}, ${formatBytes(free)} free`),
        el('div', {class: 'map'}, picture.canvas), cut);
  }

  private async fill(): Promise<void> {
    const {app} = this;
    const asked = ++this.asked;
    const why = this.whyEmpty();
    if (why !== '') return this.element.replaceChildren(el('p', {class: 'empty'}, why));
    const live = await liveAt(app.device, app.place.instant);
    const blocks = await app.device.blocks();
    const segments = await segmentsAt(app.device, live);
    const names = namesOf(streamNumbers(await app.device.segments()), this.addresses);
    const labels = await labelsOf(app, app.place.by);
    const legend = await this.legend();
    if (asked !== this.asked) return;
    const placeText = (one: Segment): string => `${one.pool}, stream ${names.stream(one)}`;
    const capacity = segments.reduce((most, {bytes}) => Math.max(most, bytes), 1);
    const ruler = segmentRuler(capacity);
    const draws: (() => void)[] = [() => ruler.draw()];
    const pools = byPlace(segments, placeText)
                      .map(([name, of]) => this.pool(name, {segments: of, capacity, blocks, labels, placeText}, draws));
    replaceContent(
        this.element, this.chips(), this.headline(segments, live), this.choices(), legend,
        el('p', {class: 'note'}, `One scale for all pools: a line has room for ${formatBytes(capacity)}.`),
        el('div', {class: 'ruler'}, ruler.canvas), ...pools, el('h3', {}, 'segments'),
        segmentTable(segments, blocks, names));
    for (const draw of draws) draw();
  }

  update(): void { this.app.draws(this.fill()); }
}

export const segmentsView = (app: App): View => new SegmentsView(app);
