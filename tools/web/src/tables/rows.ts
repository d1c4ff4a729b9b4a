// Modules, operators, lines and parameters as tables, with the numbers of `memoir show --json`.
import {choice, el, replaceContent} from '../drawing/element';
import {formatBytes, formatCount, formatDuration, formatSigned, plural} from '../drawing/units';
import type {App, Changes, ViewName} from '../report/app';
import {type BytesBefore, bytesBefore} from '../report/compared';
import type {Columns, Row} from '../report/facts';
import {modulePath} from '../report/paths';
import type {View} from '../report/view';
import {sumOfColumns, sumOfRows, withLayersMerged} from './layers';
import {callersOfLine} from './line_callers';
import {columnsOf} from './parts';
import {sourceCard} from './source';
import {type Column, mergedLines, type Merging, table} from './table';

const kOfBlocks = 'The bytes are sizes of blocks, which can be larger than the bytes that a tensor requests: ' +
    'torch\'s allocator rounds up to 512 bytes, and does not split a large block if the rest would be at most 1 MiB. ';
const kNoModules = 'No call of an nn.Module allocated here, or modules were not recorded. ';

interface Shown {
  row: Row;
  columns: Columns;
  before?: number;  // bytes at the peak of the capture with which the page compares
}

const kNothing: Columns = {
  allocations: 0,
  allocated_bytes: 0,
  deallocations: 0,
  deallocated_bytes: 0,
  net_blocks: 0,
  net_bytes: 0,
  bytes_at_peak: 0,
  blocks_at_peak: 0,
  temporaries: 0,
  temporary_bytes: 0,
  mean_life_ns: 0,
  reserved_bytes: 0
};

const kMerging: Merging<Shown> = {
  name: ({row}) => `${withLayersMerged(row.name)}\n${row.kind}`,
  sum: (rows) => ({
    row: sumOfRows(rows.map(({row}) => row)),
    columns: sumOfColumns(rows.map(({columns}) => columns)),
    ...(isCompared(rows) ?
            {before: rows.reduce((sum, {before}) => sum + (before ?? 0), 0)} :
            {}),
  }),
};

const bytes = (head: string, title: string, get: (shown: Shown) => number, most?: number): Column<Shown> => ({
  head,
  title,
  text: (shown) => formatBytes(get(shown)),
  sort: get,
  numeric: true,
  exact: (shown) => `${formatCount(get(shown))} bytes`,
  ...(most ? {bar: (shown: Shown) => get(shown) / most} : {}),
});
const count = (head: string, title: string, get: (shown: Shown) => number): Column<Shown> =>
    ({head, title, text: (shown) => formatCount(get(shown)), sort: get, numeric: true});

const changeOf = ({columns, before}: Shown): number => columns.bytes_at_peak - (before ?? 0);
const kCompared: Column<Shown>[] = [
  bytes('before', 'bytes at the peak of the capture with which the page compares', ({before}) => before ?? 0),
  {
    head: 'change',
    title: 'at the peak, from the capture with which the page compares',
    text: (shown) => (changeOf(shown) === 0 ? '' : formatSigned(changeOf(shown))),
    sort: changeOf,
    numeric: true,
    exact: (shown) => `${formatCount(changeOf(shown))} bytes`,
  },
];

const isCompared = (rows: Shown[]): boolean => rows.some(({before}) => before !== undefined);

function columnsFor(word: string, rows: Shown[]): Column<Shown>[] {
  const most = (get: (shown: Shown) => number): number => rows.reduce((largest, row) => Math.max(largest, get(row)), 1);
  const name: Column<Shown> = {head: word, text: ({row}) => row.name, sort: ({row}) => row.name, wide: true};
  const atPeak: Column<Shown>[] = [
    bytes(
        'at the peak', 'bytes live at the device\'s peak', ({columns}) => columns.bytes_at_peak,
        most(({columns}) => columns.bytes_at_peak)),
    ...(isCompared(rows) ? kCompared : []),
  ];
  const own: Column<Shown>[] = [
    bytes(
        'allocated', 'bytes of all allocations', ({columns}) => columns.allocated_bytes,
        most(({columns}) => columns.allocated_bytes)),
    bytes('live at the end', 'allocated and not freed', ({columns}) => columns.net_bytes),
    bytes(
        'temporaries', 'freed before the operator call that allocated them ended',
        ({columns}) => columns.temporary_bytes),
    count('allocations', 'number of allocations', ({columns}) => columns.allocations),
    {
      head: 'mean life',
      title: 'of blocks that were freed',
      text: ({columns}) => (columns.deallocations > 0 ? formatDuration(columns.mean_life_ns) : '–'),
      sort: ({columns}) => columns.mean_life_ns,
      numeric: true
    },
  ];
  if (word === 'parameter') {
    const part = (head: string, key: 'parameter'|'gradient'|'optimizer_state'): Column<Shown> =>
        bytes(head, `${head}, at the peak`, ({row}) => row[key]?.bytes_at_peak ?? 0);
    return [
      name, ...atPeak, part('itself', 'parameter'), part('gradient', 'gradient'),
      part('optimizer state', 'optimizer_state'), ...own.slice(0, 2)
    ];
  }
  if (word === 'line') return [name, ...atPeak, ...own];
  const calls = count('calls', 'calls that began', ({row}) => row.count ?? 0);
  if (word !== 'module') return [name, ...atPeak, own[0]!, calls, ...own.slice(1)];
  const subtree = bytes(
      'with children', 'bytes at the peak of it and the modules inside it, all devices',
      ({row}) => row.subtree?.bytes_at_peak ?? row.bytes_at_peak);
  return [
    name, {head: 'class', text: ({row}) => row.class ?? '', sort: ({row}) => row.class ?? ''}, ...atPeak, subtree,
    own[0]!, calls, ...own.slice(1)
  ];
}

function flameOf(word: string, row: Row): Changes {
  const flame = word === 'line' ? 'callers' : 'modules';
  if (word === 'module') return {view: 'flame', flame, focus: modulePath(row.name), find: ''};
  return {view: 'flame', flame, focus: [], find: `"${row.name}"`};
}

const kMergedWords = ['module', 'parameter'];

class RowsView implements View {
  readonly element = el('section', {class: 'rows'});
  private merges: boolean;
  private shownFor = '';
  private before: BytesBefore|undefined;
  private beforeFor = -1;  // number of the device that `before` belongs to

  constructor(
      private readonly app: App, private readonly word: string, private readonly many: string,
      private readonly view: ViewName) {
    this.merges = kMergedWords.includes(word);
  }

  private rows(): Shown[] {
    const {word, before} = this;
    const rows = (this.app.tables[word] ?? []).flatMap((row): Shown[] => {
      const columns = columnsOf(this.app, row);
      const isUsed = columns &&
          (columns.allocations > 0 || columns.bytes_at_peak > 0 || (row.count ?? 0) > 0 || row.kind === 'container');
      return isUsed ? [{row, columns}] : [];
    });
    if (!before?.has(word)) return rows;
    const gone = before.missing(word, rows.map(({row}) => row.name)).map((name): Shown => {
      return {row: {...kNothing, name, kind: 'named'}, columns: kNothing};
    });
    return [...rows, ...gone].map((shown) => ({...shown, before: before.of(word, shown.row.name)}));
  }

  // Loads the rows of the capture with which the page compares. Returns false until they are there.
  private hasLoaded(): boolean {
    const {app} = this;
    const {device} = app.place;
    if (!app.device.hasBefore) this.before = undefined;
    if (!app.device.hasBefore || this.beforeFor === device) return true;
    app.draws(bytesBefore(app).then((before) => {
      this.before = before;
      this.beforeFor = device;
      this.shownFor = '';
      this.update();
    }));
    return false;
  }

  private heading(rows: Shown[], leads: boolean): HTMLElement {
    const {app, word, many} = this;
    const named = rows.filter(({row}) => row.kind === 'named' || row.kind === 'container').length;
    const none = named === 0 && word === 'module' ? kNoModules : '';
    const blocks = word === 'parameter' && app.device.facts.caching ? kOfBlocks : '';
    const click = leads ? 'A click shows one in the flame graph. ' : '';
    const counted = `${plural(named, word, many)} of ${app.device.name}. `;
    return el(
        'p', {class: 'note'}, `${counted}${none}${blocks}${click}The same numbers: `,
        el('code', {}, `memoir show --by ${word} --json ${app.facts.part?.options ?? ''}${app.facts.path}`));
  }

  // Only where some layers are alike.
  private layersChoice(rows: Shown[]): HTMLElement|null {
    if (!kMergedWords.includes(this.word)) return null;
    if (mergedLines(rows, kMerging).length === rows.length) return null;
    const options = [{value: 'merged' as const, text: 'merged'}, {value: 'single' as const, text: 'one by one'}];
    const choose = choice('layers', options, this.merges ? 'merged' : 'single', (value) => {
      this.merges = value === 'merged';
      this.shownFor = '';
      this.update();
    });
    return el('div', {class: 'controls'}, choose);
  }

  update(): void {
    const {app, word, many, view, element} = this;
    const key = `${app.place.device}`;
    const filter = element.querySelector<HTMLInputElement>('input.find');
    if (key === this.shownFor && (filter?.value ?? '') === (app.place.found[view] ?? '')) return;
    if (!this.hasLoaded()) return;
    this.shownFor = key;
    const rows = this.rows();
    if (rows.length === 0) {
      const why =
          word === 'line' && !app.facts.has_lines ? ' No Python stack was recorded (memoir run --stacks).' : '';
      element.replaceChildren(el('p', {class: 'empty'}, `No ${word} is known of ${app.device.name}.${why}`));
      return;
    }
    const leads = word !== 'parameter' && (word !== 'line' || app.facts.has_callers);
    const merging = this.merges ? kMerging : undefined;
    const lines = mergedLines(rows, merging).map(({row}) => row);
    replaceContent(
        element, this.heading(rows, leads), this.layersChoice(rows),
        table<Shown>({
          noun: many,
          rows,
          sortedBy: (word === 'module' ? 2 : 1) + (isCompared(rows) ? 2 : 0),
          shown: 60,
          columns: columnsFor(word, lines),
          merging,
          filter: app.place.found[view] ?? '',
          filtered: (find) => app.go({find}),
          details: word === 'line' && app.facts.has_callers ?
              {label: 'callers', of: ({row}: Shown) => callersOfLine(app, row.name)} :
              undefined,
          ...(leads ? {choose: ({row}: Shown) => app.go(flameOf(word, row))} : {}),
        }),
    );
    if (word === 'line') app.draws(this.addSource(key));
  }

  private async addSource(key: string): Promise<void> {
    const card = await sourceCard(this.app);
    if (!card || this.shownFor !== key) return;
    this.element.querySelector('.source-card')?.remove();
    this.element.append(card);
  }
}

export const rowsView = (app: App, word: string, many: string, view: ViewName): View =>
    new RowsView(app, word, many, view);
