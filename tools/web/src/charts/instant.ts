// The live blocks at the chosen instant: a treemap, rows of a grouping, and single blocks.
import {fitted, kFont, surface, type Surface} from '../drawing/canvas';
import {inkOn, variable} from '../drawing/colours';
import {choice, el, hideTip, replaceContent, showTip} from '../drawing/element';
import {formatBytes, formatCount, formatDuration, formatMoment, formatShare, plural} from '../drawing/units';
import type {App} from '../report/app';
import type {Blocks} from '../report/device';
import {type Labels, labelsOf} from '../report/labels';
import {liveAt, type LiveRow, type LiveSet, nearestExact, rowsOf} from '../report/live';
import {pathText} from '../report/paths';
import {table} from '../tables/table';
import {instantChips, momentOf} from './chips';
import {type Tile, treemap} from './treemap';

export interface InstantPanel {
  element: HTMLElement;
  update(): void;
  step(by: number): void;
}

function headline(app: App, live: LiveSet): HTMLElement {
  const when = live.exact ? momentOf(live.exact) : formatMoment(live.ns);
  const bytes = live.allBytes ?? live.bytes;
  const head = el('h2', {}, el('bdi', {}, `${formatBytes(bytes)} live at ${when}`));
  const count = live.exact ? live.exact.blocks : live.blocks.length;
  const lines: (HTMLElement|string)[] = [`${plural(count, 'block')}. `];
  if (!live.complete) {
    const nearest = nearestExact(app.device, live.ns);
    lines[0] =
        `At least that: ${plural(live.blocks.length, 'block')} that the report of this long recording has singly. `;
    if (nearest) {
      const button = el('button', {type: 'button', class: 'link'}, `nearest exact instant: ${momentOf(nearest)}`);
      button.addEventListener('click', () => app.go({instant: nearest.time_ns}));
      lines.push(button);
    }
  } else if (live.exact && (live.exact.blocks !== live.blocks.length || live.exact.bytes !== live.bytes)) {
    const missing = live.exact.blocks - live.blocks.length;
    lines.push(
        missing > 0 ?
            `${formatCount(missing)} of them began or ended at this very instant and are not in the list.` :
            `Blocks began or ended at this very instant: the list is of its end, ${formatBytes(live.bytes)}.`);
  }
  return el('div', {class: 'headline'}, head, el('p', {class: 'note'}, ...lines));
}

function mapOf(
    rows: LiveRow[], labels: Labels, total: number, choose: (label: number|null) => void,
    chosen: () => number | null): Surface {
  let tiles: Tile<LiveRow>[] = [];
  const made = surface('treemap of what is live', () => 300, ({context, width, height}) => {
    tiles = treemap(rows, (row) => row.bytes, width, height);
    context.font = kFont;
    context.textBaseline = 'top';
    for (const tile of tiles) {
      const colour = labels.colour(tile.item.label);
      context.globalAlpha = chosen() === null || chosen() === tile.item.label ? 1 : 0.3;
      context.fillStyle = colour;
      context.fillRect(tile.x, tile.y, Math.max(0, tile.width - 1.5), Math.max(0, tile.height - 1.5));
      if (tile.height < 16) continue;
      context.fillStyle = inkOn(colour);
      context.fillText(fitted(context, labels.names[tile.item.label] ?? '', tile.width - 10), tile.x + 5, tile.y + 4);
      if (tile.height > 34)
        context.fillText(fitted(context, formatBytes(tile.item.bytes), tile.width - 10), tile.x + 5, tile.y + 19);
    }
    context.globalAlpha = 1;
  });
  const tileAt = (event: MouseEvent): Tile<LiveRow>|undefined => {
    const box = made.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    return tiles.find((tile) => x >= tile.x && x < tile.x + tile.width && y >= tile.y && y < tile.y + tile.height);
  };
  made.canvas.addEventListener('mousemove', (event) => {
    const tile = tileAt(event);
    if (!tile) return hideTip();
    showTip(event, [
      labels.names[tile.item.label] ?? '', `${formatBytes(tile.item.bytes)}, ${formatShare(tile.item.bytes, total)}`,
      plural(tile.item.blocks, 'block')
    ]);
  });
  made.canvas.addEventListener('mouseleave', hideTip);
  made.canvas.addEventListener('click', (event) => choose(tileAt(event)?.item.label ?? null));
  return made;
}

function rowTable(
    rows: LiveRow[], labels: Labels, live: LiveSet, one: string, many: string,
    choose: (label: number) => void): HTMLElement {
  const most = rows[0]?.bytes ?? 1;
  return table<LiveRow>({
    noun: many,
    rows,
    sortedBy: 1,
    shown: 12,
    choose: (row) => choose(row.label),
    columns: [
      {
        head: one,
        text: (row) => labels.names[row.label] ?? '',
        sort: (row) => labels.names[row.label] ?? '',
        swatch: (row) => labels.colour(row.label),
        wide: true
      },
      {
        head: 'bytes',
        text: (row) => formatBytes(row.bytes),
        sort: (row) => row.bytes,
        numeric: true,
        bar: (row) => row.bytes / most,
        exact: (row) => `${formatCount(row.bytes)} bytes`
      },
      {head: 'share', text: (row) => formatShare(row.bytes, live.bytes), sort: (row) => row.bytes, numeric: true},
      {head: 'blocks', text: (row) => formatCount(row.blocks), sort: (row) => row.blocks, numeric: true},
      {
        head: 'oldest',
        title: 'age of the oldest',
        text: (row) => formatDuration(live.ns - row.oldest),
        sort: (row) => live.ns - row.oldest,
        numeric: true
      },
    ],
    total: (shown) =>
        ['total', formatBytes(shown.reduce((sum, row) => sum + row.bytes, 0)), '',
         formatCount(shown.reduce((sum, row) => sum + row.blocks, 0)), ''],
  });
}

// The age of a block from before the recording is unknown.
export function lifeText(blocks: Blocks, block: number): string {
  if (blocks.end[block] === Infinity) return 'to the end';
  const life = formatDuration(blocks.end[block]! - blocks.begin[block]!);
  return blocks.before[block] === 1 ? `over ${life}` : life;
}

export async function blockTable(app: App, blocks: Blocks, which: number[], ns: number): Promise<HTMLElement> {
  const names = await app.device.labels();
  const tree = await app.device.paths();
  const label = (word: string) => (block: number) => names[word]?.[blocks.labels[word]![block]!] ?? '';
  const most = which.reduce((largest, block) => Math.max(largest, blocks.bytes[block]!), 1);
  const groupings = app.groupings().filter((grouping) => grouping.word in blocks.labels);
  // The columns that distinguish a block from its neighbours come first; the others need a scroll.
  const first = ['shape', 'category', 'parameter', 'module'];
  const shown = [
    ...first.flatMap((word) => groupings.filter((grouping) => grouping.word === word)),
    ...groupings.filter((grouping) => !first.includes(grouping.word) && grouping.word !== 'layers')
  ];
  const nameOf = (word: string): ((block: number) => string) => {
    const name = label(word);
    return word === 'parameter' ? (block) => name(block).replace('(of no parameter)', '–') : name;
  };
  return table<number>({
    noun: 'blocks',
    rows: which,
    sortedBy: 0,
    shown: 25,
    filterText: (block) => groupings.map((grouping) => label(grouping.word)(block)).join(' '),
    columns: [
      {
        head: 'bytes',
        text: (block) => formatBytes(blocks.bytes[block]!),
        sort: (block) => blocks.bytes[block]!,
        numeric: true,
        bar: (block) => blocks.bytes[block]! / most,
        exact: (block) => `${formatCount(blocks.bytes[block]!)} bytes`
      },
      {
        head: 'age',
        text: (block: number) =>
            (blocks.before[block] === 1 ? 'from before' : formatDuration(ns - blocks.begin[block]!)),
        sort: (block: number) => ns - blocks.begin[block]!,
        numeric: true
      },
      {
        head: 'lives',
        title: 'its whole life',
        text: (block: number) => lifeText(blocks, block),
        sort: (block: number) => blocks.end[block]! - blocks.begin[block]!,
        numeric: true,
      },
      ...shown.map((grouping) => ({
                     head: grouping.word === 'parameter' ? 'of parameter' : grouping.one,
                     text: nameOf(grouping.word),
                     sort: nameOf(grouping.word),
                     wide: grouping.word === 'module'
                   })),
      {
        head: 'allocated in',
        text: (block: number) => pathText(app, tree, blocks.path[block]!),
        sort: (block: number) => pathText(app, tree, blocks.path[block]!),
        wide: true
      },
      {
        head: 'address',
        text: (block: number) => `0x${blocks.address[block]!.toString(16)}`,
        sort: (block: number) => blocks.address[block]!
      },
    ],
  });
}

export function instantPanel(app: App): InstantPanel {
  const element = el('div', {class: 'instant'});
  const chips = instantChips(app, ['peak', 'oom', 'end', 'mark', 'regular']);
  let shownFor = '';
  let asked = 0;
  let by = '';

  async function fill(): Promise<void> {
    const mine = ++asked;
    const live = await liveAt(app.device, app.place.instant);
    const blocks = await app.device.blocks();
    const labels = await labelsOf(app, by);
    const rows = await rowsOf(app.device, live, by);
    if (mine !== asked) return;
    const column = blocks.labels[by]!;
    let chosen: number|null = null;
    const blocksBox = el('div', {class: 'blocks-of'});
    const showBlocks = async(): Promise<void> => {
      const shown = chosen;
      const which = shown === null ? live.blocks : live.blocks.filter((block) => column[block] === shown);
      const title = shown === null ? 'single blocks' : `blocks of ${labels.names[shown] ?? ''}`;
      const rows = await blockTable(app, blocks, which, live.ns);
      if (mine === asked && shown === chosen) blocksBox.replaceChildren(el('h3', {}, el('bdi', {}, title)), rows);
    };
    const choose = (label: number|null): void => {
      chosen = label === chosen ? null : label;
      map.draw();
      app.draws(showBlocks());
    };
    const map = mapOf(rows, labels, live.bytes, choose, () => chosen);
    const grouping = app.groupings().find((one) => one.word === by)!;
    const groupings = app.groupings().map((one) => ({value: one.word, text: one.one}));
    replaceContent(
        element,
        chips(),
        headline(app, live),
        choice(
            'rows', groupings, by,
            (word) => {
              by = word;
              app.draws(fill());
            }),
        el('div', {class: 'split'}, el('div', {class: 'map'}, map.canvas),
           rowTable(rows, labels, live, grouping.one, grouping.many, (label) => choose(label))),
        blocksBox,
    );
    map.draw();
    await showBlocks();
  }

  return {
    element,
    update() {
      const key = `${app.place.device} ${app.place.instant} ${app.place.by} ${variable('--surface')}`;
      if (key === shownFor) return;
      if (!app.groupings().some((one) => one.word === by)) by = app.place.by;
      if (!shownFor.endsWith(`${app.place.by} ${variable('--surface')}`) || by === '') by = app.place.by;
      shownFor = key;
      app.draws(fill());
    },
    step(direction) {
      const instants = [...app.instants()].sort((a, b) => a.time_ns - b.time_ns);
      const now = app.place.instant;
      const next = direction > 0 ? instants.find((one) => one.time_ns > now) :
                                   instants.reverse().find((one) => one.time_ns < now);
      if (next) app.go({instant: next.time_ns});
    },
  };
}
