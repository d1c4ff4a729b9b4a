// Modules, operators, lines and parameters as tables, with the numbers of `memoir show --json`.
import type {App, Changes, ViewName} from './app';
import {el, replaceContent} from './element';
import type {Columns, Row} from './facts';
import {modulePath} from './flame_tree';
import {columnsOf} from './parts';
import {type Column, table} from './table';
import type {View} from './timeline';
import {formatBytes, formatCount, formatDuration, plural} from './units';

const kNoModules = 'No call of an nn.Module allocated here, or modules were not recorded. ';

interface Shown {
  row: Row;
  columns: Columns;
}

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

function columnsFor(word: string, rows: Shown[]): Column<Shown>[] {
  const most = (get: (shown: Shown) => number): number => rows.reduce((largest, row) => Math.max(largest, get(row)), 1);
  const name: Column<Shown> = {head: word, text: ({row}) => row.name, sort: ({row}) => row.name, wide: true};
  const own: Column<Shown>[] = [
    bytes(
        'at the peak', 'bytes live at the device\'s peak', ({columns}) => columns.bytes_at_peak,
        most(({columns}) => columns.bytes_at_peak)),
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
      name, own[0]!, part('itself', 'parameter'), part('gradient', 'gradient'),
      part('optimizer state', 'optimizer_state'), ...own.slice(1, 3)
    ];
  }
  if (word === 'line') return [name, ...own];
  const calls = count('calls', 'calls that began', ({row}) => row.count ?? 0);
  if (word !== 'module') return [name, own[0]!, own[1]!, calls, ...own.slice(2)];
  const subtree = bytes(
      'with children', 'bytes at the peak of it and the modules inside it, all devices',
      ({row}) => row.subtree?.bytes_at_peak ?? row.bytes_at_peak);
  return [
    name, {head: 'class', text: ({row}) => row.class ?? '', sort: ({row}) => row.class ?? ''}, own[0]!, subtree,
    own[1]!, calls, ...own.slice(2)
  ];
}

function flameOf(word: string, row: Row): Changes {
  const flame = word === 'line' ? 'callers' : 'modules';
  if (word === 'module') return {view: 'flame', flame, focus: modulePath(row.name), find: ''};
  return {view: 'flame', flame, focus: [], find: `"${row.name}"`};
}

export function rowsView(app: App, word: string, many: string, view: ViewName): View {
  const element = el('section', {class: 'rows'});
  let shownFor = '';
  return {
    element,
    update() {
      const key = `${app.place.device}`;
      const filter = element.querySelector<HTMLInputElement>('input.find');
      if (key === shownFor && (filter?.value ?? '') === (app.place.found[view] ?? '')) return;
      shownFor = key;
      const all = app.tables[word] ?? [];
      const shown = all.flatMap((row) => {
        const columns = columnsOf(app, row);
        return columns &&
                (columns.allocations > 0 || columns.bytes_at_peak > 0 || (row.count ?? 0) > 0 ||
                 row.kind === 'container') ?
            [{row, columns}] :
            [];
      });
      const named = shown.filter(({row}) => row.kind === 'named' || row.kind === 'container').length;
      const leads = word !== 'parameter' && (word !== 'line' || app.facts.has_callers);
      const command = `memoir show --by ${word} --json ${app.facts.part?.options ?? ''}${app.facts.path}`;
      if (shown.length === 0) {
        const why =
            word === 'line' && !app.facts.has_lines ? ' No Python stack was recorded (memoir run --stacks).' : '';
        element.replaceChildren(el('p', {class: 'empty'}, `No ${word} is known of ${app.device.name}.${why}`));
        return;
      }
      replaceContent(
          element,
          el('p', {class: 'note'},
             `${plural(named, word, many)} of ${app.device.name}. ${
                 named === 0 && word === 'module' ?
                     kNoModules :
                     ''}${leads ? 'A click shows one in the flame graph. ' : ''}The same numbers: `,
             el('code', {}, command)),
          table<Shown>({
            noun: many,
            rows: shown,
            sortedBy: word === 'module' ? 2 : 1,
            shown: 60,
            columns: columnsFor(word, shown),
            filter: app.place.found[view] ?? '',
            filtered: (find) => app.go({find}),
            ...(leads ? {choose: ({row}: Shown) => app.go(flameOf(word, row))} : {}),
          }),
      );
    },
  };
}
