// A table that is sorted by a click on a head, filtered by a word, and shows more rows when asked.
import {chosenByClick, el} from './element';
import {formatCount} from './units';

export interface Column<T> {
  head: string;
  title?: string;
  text: (row: T) => string;
  sort: (row: T) => number | string;
  numeric?: boolean;
  bar?: (row: T) => number;                 // 0..1: drawn behind the number
  swatch?: (row: T) => string | undefined;  // a colour before the text
  exact?: (row: T) => string;               // what a hover shows
  wide?: boolean;
}

export interface TableOptions<T> {
  columns: Column<T>[];
  rows: T[];
  sortedBy: number;
  filterText?: (row: T) => string;
  noun: string;
  shown?: number;
  choose?: (row: T) => void;
  filter?: string;                    // at first
  filtered?: (text: string) => void;  // called when the reader has changed it
  total?: (rows: T[]) => string[];  // a last row over those that are filtered
}

export function table<T>(options: TableOptions<T>): HTMLElement {
  let {sortedBy} = options;
  let down = options.columns[sortedBy]!.numeric ?? false;
  let shown = options.shown ?? 50;
  let filter = options.filter ?? '';
  const box = el('div', {class: 'table'});
  const body = el('tbody');
  const foot = el('tfoot');
  const note = el('p', {class: 'note'});
  const more = el('button', {type: 'button', class: 'more'}, 'show more');
  more.addEventListener('click', () => {
    shown += 500;
    fill();
  });
  const heads = options.columns.map((column, i) => {
    const button = el('button', {type: 'button', title: column.title ?? 'sort'}, column.head);
    const head = el('th', {scope: 'col', class: column.numeric ? 'number' : column.wide ? 'wide' : ''}, button);
    button.addEventListener('click', () => {
      down = i === sortedBy ? !down : (column.numeric ?? false);
      sortedBy = i;
      fill();
    });
    return head;
  });

  const cell = (column: Column<T>, row: T): HTMLElement => {
    const exact = column.exact?.(row);
    const data =
        el('td',
           {class: column.numeric ? 'number' :
                column.wide       ? 'wide' :
                                    '',
            title: exact ?? column.text(row)});
    const colour = column.swatch?.(row);
    if (colour) {
      const swatch = el('i', {class: 'swatch'});
      swatch.style.background = colour;
      data.append(swatch);
    }
    if (column.bar) {
      const bar = el('b', {class: 'bar'});
      bar.style.width = `${Math.max(0, Math.min(1, column.bar(row))) * 100}%`;
      data.append(bar);
    }
    data.append(el('bdi', {}, column.text(row)));
    return data;
  };

  function fill(): void {
    const column = options.columns[sortedBy]!;
    const wanted = filter.toLowerCase();
    const text = options.filterText ?? options.columns[0]!.text;
    const rows =
        wanted === '' ? [...options.rows] : options.rows.filter((row) => text(row).toLowerCase().includes(wanted));
    rows.sort((a, b) => {
      const [left, right] = [column.sort(a), column.sort(b)];
      const order = left < right ? -1 : left > right ? 1 : 0;
      return down ? -order : order;
    });
    heads.forEach(
        (head, i) => head.setAttribute(
            'aria-sort',
            i !== sortedBy ? 'none' :
                down       ? 'descending' :
                             'ascending'));
    body.replaceChildren(
        ...rows.slice(0, shown).map((row) => {
          const line = el('tr', {}, ...options.columns.map((one) => cell(one, row)));
          if (options.choose) chosenByClick(line, () => options.choose!(row));
          return line;
        }),
    );
    foot.replaceChildren();
    if (options.total)
      foot.append(
          el('tr', {},
             ...options.total(rows).map(
                 (part, i) => el('td', {class: options.columns[i]!.numeric ? 'number' : ''}, part))));
    note.textContent = `${formatCount(Math.min(shown, rows.length))} of ${formatCount(rows.length)} ${options.noun}${
        rows.length < options.rows.length ? `, of ${formatCount(options.rows.length)} in all` : ''}`;
    more.hidden = rows.length <= shown;
  }

  const input = el('input', {
    type: 'search',
    class: 'find',
    placeholder: `filter ${options.noun}  ( / )`,
    'aria-label': `filter ${options.noun}`,
    spellcheck: 'false'
  });
  input.value = filter;
  input.addEventListener('input', () => {
    filter = input.value;
    fill();
    options.filtered?.(filter);
  });
  box.append(input);
  fill();
  box.append(
      el('div', {class: 'scroll'}, el('table', {}, el('thead', {}, el('tr', {}, ...heads)), body, foot)),
      el('div', {class: 'below'}, note, more));
  return box;
}
