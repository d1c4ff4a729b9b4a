// The caching allocator's map at the instant that is chosen: segments by pool and stream, blocks and holes in them.
import type {App} from './app';
import {surface, type Surface} from './canvas';
import {instantChips} from './chips';
import {kOther, variable} from './colours';
import type {Blocks} from './device';
import {choice, el, hideTip, replaceContent, showTip} from './element';
import {type Labels, labelsOf, legendOf} from './labels';
import {liveAt} from './live';
import {type Segment, segmentsAt, streamName} from './segment_map';
import {table} from './table';
import type {View} from './timeline';
import {formatBytes, formatCount, formatMoment, formatShare, plural} from './units';

const kLine = 22;
const kMostLines = 600;

interface Placed {
  segment: Segment;
  x: number;
  width: number;
  line: number;
}

// Segments one after another, as lines of text: as many bytes to a line as the largest segment has.
function place(segments: Segment[], width: number): Placed[] {
  const capacity = segments.reduce((most, segment) => Math.max(most, segment.bytes), 1);
  const scale = width / capacity;
  const placed: Placed[] = [];
  let [x, line] = [0, 0];
  for (const segment of [...segments].sort((a, b) => b.bytes - a.bytes || a.address - b.address)) {
    const wide = Math.max(3, segment.bytes * scale - 2);
    if (x > 0 && x + wide > width) [x, line] = [0, line + 1];
    placed.push({segment, x, width: wide, line});
    x += wide + 3;
  }
  return placed;
}

// How many of them the map has room for.
const mostShown = (segments: Segment[], width: number): number =>
    place(segments, width).reduce((count, {line}) => count + (line < kMostLines ? 1 : 0), 0);

// By pool and stream, those with the most bytes first.
function byPlace(segments: Segment[]): [string, Segment[]][] {
  const places = new Map<string, Segment[]>();
  for (const segment of segments) {
    const key = `${segment.pool}, stream ${streamName(segment.stream)}`;
    const known = places.get(key);
    if (known) {
      known.push(segment);
    } else {
      places.set(key, [segment]);
    }
  }
  return [...places].sort((a, b) => sum(b[1]) - sum(a[1]));
}

const sum = (segments: Segment[]): number => segments.reduce((all, segment) => all + segment.bytes, 0);

function mapOf(segments: Segment[], blocks: Blocks, labels: Labels): Surface {
  let placed: Placed[] = [];
  const column = blocks.labels[labels.word]!;
  const drawn = surface(
      'segments with their blocks and holes',
      () => {
        placed = place(segments, drawn.canvas.parentElement!.clientWidth);
        return Math.min(kMostLines, (placed[placed.length - 1]?.line ?? 0) + 1) * kLine;
      },
      ({context}) => {
        for (const {segment, x, width, line} of placed) {
          if (line >= kMostLines) break;
          const y = line * kLine;
          const scale = width / segment.bytes;
          context.fillStyle = variable('--hole');
          context.fillRect(x, y, width, kLine - 4);
          context.fillStyle = kOther();
          for (const other of segment.others)
            context.fillRect(
                x + (other.address - segment.address) * scale, y, Math.max(0.6, other.bytes * scale - 0.7), kLine - 4);
          for (const block of segment.blocks) {
            context.fillStyle = labels.colour(column[block]!);
            const wide = blocks.bytes[block]! * scale;
            context.fillRect(
                x + (blocks.address[block]! - segment.address) * scale, y, Math.max(0.6, wide - (wide > 3 ? 0.7 : 0)),
                kLine - 4);
          }
          context.strokeStyle = variable('--ink-soft');
          context.lineWidth = 1;
          context.strokeRect(x + 0.5, y + 0.5, width - 1, kLine - 5);
        }
      },
  );
  drawn.canvas.addEventListener('mousemove', (event) => {
    const box = drawn.canvas.getBoundingClientRect();
    const [x, line] = [event.clientX - box.left, Math.floor((event.clientY - box.top) / kLine)];
    const at = placed.find((one) => one.line === line && x >= one.x && x < one.x + one.width);
    if (!at) return hideTip();
    const address = at.segment.address + ((x - at.x) / at.width) * at.segment.bytes;
    const block = at.segment.blocks.find(
        (one) => address >= blocks.address[one]! && address < blocks.address[one]! + blocks.bytes[one]!);
    const segment = [
      `segment 0x${at.segment.address.toString(16)}: ${formatBytes(at.segment.bytes)}, ${
          formatBytes(at.segment.bytes - at.segment.used)} free`,
      `${at.segment.pool}, stream ${streamName(at.segment.stream)}`
    ];
    const other = at.segment.others.find((one) => address >= one.address && address < one.address + one.bytes);
    if (other) return showTip(event, [`${formatBytes(other.bytes)} of another block`, ...segment]);
    if (block === undefined) return showTip(event, ['free', ...segment]);
    showTip(event, [
      `${formatBytes(blocks.bytes[block]!)} ${labels.names[column[block]!] ?? ''}`,
      `since ${formatMoment(blocks.begin[block]!)}`, ...segment
    ]);
    return undefined;
  });
  drawn.canvas.addEventListener('mouseleave', hideTip);
  return drawn;
}

const largestHole = (segment: Segment, blocks: Blocks): number => {
  let [largest, at] = [0, segment.address];
  const taken = segment.blocks.map((block) => ({address: blocks.address[block]!, bytes: blocks.bytes[block]!}));
  for (const {address, bytes} of [...taken, ...segment.others].sort((a, b) => a.address - b.address)) {
    largest = Math.max(largest, address - at);
    at = address + bytes;
  }
  return Math.max(largest, segment.address + segment.bytes - at);
};

export function segmentsView(app: App): View {
  const element = el('section', {class: 'segments'});
  const chips = instantChips(app, ['peak', 'oom', 'end', 'mark']);
  let asked = 0;

  async function fill(): Promise<void> {
    const mine = ++asked;
    if (!app.device.facts.caching) {
      element.replaceChildren(
          el('p', {class: 'empty'}, `${app.device.name} has no caching allocator: only CUDA devices have segments.`));
      return;
    }
    if (!app.device.hasSegments) {
      element.replaceChildren(
          el('p', {class: 'empty'}, `Not known: ${app.device.imported} has sums of segments, but not their addresses.`));
      return;
    }
    const live = await liveAt(app.device, app.place.instant);
    const blocks = await app.device.blocks();
    const segments = await segmentsAt(app.device, live);
    const labels = await labelsOf(app, app.place.by);
    const names = await legendOf(app, labels);
    if (mine !== asked) return;
    const maps: (() => void)[] = [];
    const hole = el('span', {class: 'entry'}, el('i', {class: 'swatch hole'}), 'in no block');
    const other = el('i', {class: 'swatch'});
    other.style.background = kOther();
    const others =
        app.choosesBlocks ? el('span', {class: 'entry other-blocks'}, other, 'other blocks, left out elsewhere') : '';
    const reserved = segments.reduce((sum, segment) => sum + segment.bytes, 0);
    const used = segments.reduce((sum, segment) => sum + segment.used, 0);
    const places = byPlace(segments).map(([name, of]) => {
      const map = mapOf(of, blocks, labels);
      const free = sum(of) - of.reduce((all, segment) => all + segment.used, 0);
      const cut = el('p', {class: 'note'});
      maps.push(() => {
        map.draw();
        const shown = mostShown(of, map.canvas.parentElement!.clientWidth);
        cut.textContent = shown < of.length ?
            `The map shows the largest ${formatCount(shown)} of ${plural(of.length, 'segment')}; the table has all.` :
            '';
      });
      return el(
          'div', {class: 'pool'}, el('h3', {}, `${name}: ${formatBytes(sum(of))}, ${formatBytes(free)} free`),
          el('div', {class: 'map'}, map.canvas), cut);
    });
    replaceContent(
        element,
        chips(),
        el('div', {class: 'headline'},
           el('h2', {},
              `${formatBytes(reserved)} reserved in ${plural(segments.length, 'segment')} at ${formatMoment(live.ns)}`),
           el('p', {class: 'note'},
              `${formatBytes(used)} in blocks, ${formatBytes(reserved - used)} (${
                  formatShare(reserved - used, reserved)}) in none.${
                  live.complete && (app.device.facts.all_others || live.exact !== null) ?
                      '' :
                      ' Some blocks are not in the report of this long recording: choose an exact instant.'}${
                  app.device.facts.all_segments ? '' : ' The first segments\' changes alone are in this report.'}`)),
        choice(
            'colour by', app.groupings().filter((one) => one.stacked).map((one) => ({value: one.word, text: one.one})),
            app.place.by, (by) => app.go({by})),
        el('div', {class: 'legend'}, ...names, others, hole),
        ...places,
        el('h3', {}, 'segments'),
        segmentTable(segments, blocks),
    );
    for (const draw of maps) draw();
  }

  function segmentTable(segments: Segment[], blocks: Blocks): HTMLElement {
    const free = (segment: Segment): number => segment.bytes - segment.used;
    return table<Segment>({
      noun: 'segments',
      rows: segments,
      sortedBy: 2,
      shown: 20,
      filterText: (segment) => `0x${segment.address.toString(16)} ${segment.pool} stream ${segment.stream}`,
      columns: [
        {head: 'segment', text: (one) => `0x${one.address.toString(16)}`, sort: (one) => one.address},
        {
          head: 'bytes',
          text: (one) => formatBytes(one.bytes),
          sort: (one) => one.bytes,
          numeric: true,
          exact: (one) => `${formatCount(one.bytes)} bytes`
        },
        {
          head: 'free',
          text: (one) => formatBytes(free(one)),
          sort: free,
          numeric: true,
          bar: (one) => free(one) / one.bytes,
          exact: (one) => `${formatCount(free(one))} bytes`
        },
        {
          head: 'largest hole',
          text: (one) => formatBytes(largestHole(one, blocks)),
          sort: (one) => largestHole(one, blocks),
          numeric: true
        },
        {
          head: 'blocks',
          text: (one) => formatCount(one.blocks.length + one.others.length),
          sort: (one) => one.blocks.length + one.others.length,
          numeric: true
        },
        {head: 'pool', text: (one) => one.pool, sort: (one) => one.pool},
        {head: 'stream', text: (one) => streamName(one.stream), sort: (one) => one.stream, numeric: true},
      ],
    });
  }

  return {element, update: () => app.draws(fill())};
}
