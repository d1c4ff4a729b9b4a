// A table that is sorted by a click on a head, filtered by a word, and shows more rows when asked. Rows that belong
// together, such as the layers of a model, can be one row, which a triangle opens.
import {chosenByClick, el, opensRows, triangleButton, turnTriangle} from '../drawing/element';
import {scrollBox} from '../drawing/scroll_edges';
import {formatCount} from '../drawing/units';

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

// Rows with the same name are one row, `sum` of them. A row that shares its name with no other stays as it is.
export interface Merging<T> {
  name: (row: T) => string;
  sum: (rows: T[]) => T;
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
  total?: (rows: T[]) => string[];    // a last row over those that are filtered
  merging?: Merging<T>|undefined;
  details?: Details<T>|undefined;
}

// The part of a row that a triangle opens below the row. `label`: its name for screen readers.
export interface Details<T> {
  label: string;
  of: (row: T) => Promise<HTMLElement>;
}

interface Line<T> {
  row: T;
  members: T[];  // empty: a row that stands for itself
}

const kMore = 500;  // rows that a click on "show more" adds
const hiddenColumns = new Map<string, Set<string>>();  // heads that the reader has hidden, by the noun of a table

// Merges rows with equal names, in the order of their first rows.
export function mergedLines<T>(rows: T[], merging: Merging<T>|undefined): Line<T>[] {
  if (!merging) return rows.map((row) => ({row, members: []}));
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const name = merging.name(row);
    const known = groups.get(name);
    if (known)
      known.push(row);
    else
      groups.set(name, [row]);
  }
  return [...groups.values()].map(
      (members) => members.length > 1 ? {row: merging.sum(members), members} : {row: members[0]!, members: []});
}

class Table<T> {
  readonly element = el('div', {class: 'table'});
  private readonly lines: Line<T>[];
  private readonly opened = new Set<Line<T>>();
  private readonly triangles = new Map<Line<T>, HTMLElement>();  // of the merged lines that are shown
  private readonly heads: HTMLElement[];
  private readonly body = el('tbody');
  private readonly foot = el('tfoot');
  private readonly note = el('p', {class: 'note'});
  private readonly more = el('button', {type: 'button', class: 'more'}, 'show more');
  private sortedBy: number;
  private down: boolean;
  private shown: number;
  private filter: string;

  constructor(private readonly options: TableOptions<T>) {
    this.lines = mergedLines(options.rows, options.merging);
    this.sortedBy = options.sortedBy;
    this.down = options.columns[options.sortedBy]!.numeric ?? false;
    this.shown = options.shown ?? 50;
    this.filter = options.filter ?? '';
    this.heads = options.columns.map((column, i) => this.headOf(column, i));
    this.more.addEventListener('click', () => {
      this.shown += kMore;
      this.fill();
    });
    const table = el('table', {}, el('thead', {}, el('tr', {}, ...this.heads)), this.body, this.foot);
    const box = scrollBox(table);
    const above = el('div', {class: 'above'}, this.searchField(), this.columnsChoice());
    this.element.append(above, box, el('div', {class: 'below'}, this.note, this.more));
    this.fill();
  }

  private get hidden(): Set<string> {
    const {noun} = this.options;
    if (!hiddenColumns.has(noun)) hiddenColumns.set(noun, new Set());
    return hiddenColumns.get(noun)!;
  }

  // The first column and the column that sorts the table stay.
  private columnsChoice(): HTMLElement {
    const boxes = this.options.columns.slice(1).map((column) => {
      const box = el('input', {type: 'checkbox'});
      box.checked = !this.hidden.has(column.head);
      box.addEventListener('change', () => {
        if (box.checked)
          this.hidden.delete(column.head);
        else
          this.hidden.add(column.head);
        this.fill();
      });
      return el('label', {title: column.title ?? ''}, box, column.head);
    });
    return el('details', {class: 'columns'}, el('summary', {}, 'columns'), el('div', {class: 'menu'}, ...boxes));
  }

  private hides(i: number): boolean {
    return i > 0 && i !== this.sortedBy && this.hidden.has(this.options.columns[i]!.head);
  }

  // Hides the cells of hidden columns in all rows that have a cell for each column.
  private hideColumns(): void {
    for (const row of this.element.querySelectorAll('tr')) {
      if (row.cells.length !== this.options.columns.length) continue;
      [...row.cells].forEach((cell, i) => (cell.hidden = this.hides(i)));
    }
  }

  private headOf(column: Column<T>, i: number): HTMLElement {
    const button = el('button', {type: 'button', title: column.title ?? 'sort'}, column.head);
    button.addEventListener('click', () => {
      this.down = i === this.sortedBy ? !this.down : (column.numeric ?? false);
      this.sortedBy = i;
      this.fill();
    });
    return el('th', {scope: 'col', class: column.numeric ? 'number' : column.wide ? 'wide' : ''}, button);
  }

  private searchField(): HTMLElement {
    const {noun, filtered} = this.options;
    const input = el('input', {
      type: 'search',
      class: 'find',
      placeholder: `filter ${noun}  ( / )`,
      'aria-label': `filter ${noun}`,
      spellcheck: 'false'
    });
    input.value = this.filter;
    input.addEventListener('input', () => {
      this.filter = input.value;
      this.fill();
      filtered?.(this.filter);
    });
    return input;
  }

  private cell(column: Column<T>, row: T): HTMLElement {
    const kind = column.numeric ? 'number' : column.wide ? 'wide' : '';
    const data = el('td', {class: kind, title: column.exact?.(row) ?? column.text(row)});
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
  }

  private rowOf(row: T): HTMLElement {
    const line = el('tr', {}, ...this.options.columns.map((column) => this.cell(column, row)));
    const {choose, details} = this.options;
    if (choose) chosenByClick(line, () => choose(row));
    if (details) line.firstElementChild!.prepend(this.triangleOf(line, row, details));
    return line;
  }

  // A button that opens the details of a row below it.
  private triangleOf(line: HTMLElement, row: T, {label, of}: Details<T>): HTMLElement {
    const button = triangleButton(label, false);
    let opened: HTMLElement|undefined;
    button.addEventListener('click', (event) => {
      event.stopPropagation();
      if (opened) {
        opened.remove();
        opened = undefined;
      } else {
        const cell = el('td', {colspan: String(this.options.columns.length)});
        opened = el('tr', {class: 'details-row'}, cell);
        line.after(opened);
        void of(row).then((made) => cell.replaceChildren(made));
      }
      turnTriangle(button, opened !== undefined);
    });
    return button;
  }

  // Returns the row of a merged line, and the rows of its members if the line is open.
  private rowsOf(line: Line<T>): HTMLElement[] {
    const top = el('tr', {}, ...this.options.columns.map((column) => this.cell(column, line.row)));
    const open = this.opened.has(line);
    const toggle = (): void => {
      if (!this.opened.delete(line)) this.opened.add(line);
      this.fill();
      this.triangles.get(line)?.focus({preventScroll: true});
    };
    this.triangles.set(line, opensRows(top, open, toggle));
    if (!open) return [top];
    const name = (row: T): string => this.options.columns[0]!.text(row);
    const byName = [...line.members].sort((a, b) => name(a).localeCompare(name(b), 'en', {numeric: true}));
    const members = this.sorted(byName.map((row) => ({row, members: []}))).map(({row}) => this.rowOf(row));
    for (const member of members) member.classList.add('member');
    return [top, ...members];
  }

  private sorted(lines: Line<T>[]): Line<T>[] {
    const column = this.options.columns[this.sortedBy]!;
    return [...lines].sort((a, b) => {
      const [left, right] = [column.sort(a.row), column.sort(b.row)];
      const order = left < right ? -1 : left > right ? 1 : 0;
      return this.down ? -order : order;
    });
  }

  // A merged row whose own name does not contain the filter is replaced by its members that contain it.
  private filtered(): Line<T>[] {
    const wanted = this.filter.toLowerCase();
    if (wanted === '') return this.lines;
    const text = this.options.filterText ?? this.options.columns[0]!.text;
    const has = (row: T): boolean => text(row).toLowerCase().includes(wanted);
    return this.lines.flatMap(
        (line) => has(line.row) ? [line] : line.members.filter(has).map((row) => ({row, members: []})));
  }

  private fill(): void {
    const {options} = this;
    const lines = this.sorted(this.filtered());
    this.heads.forEach(
        (head, i) => head.setAttribute(
            'aria-sort', i !== this.sortedBy ? 'none' : this.down ? 'descending' : 'ascending'));
    const rowsOf = (line: Line<T>): HTMLElement[] =>
        line.members.length > 0 ? this.rowsOf(line) : [this.rowOf(line.row)];
    this.body.replaceChildren(...lines.slice(0, this.shown).flatMap(rowsOf));
    this.foot.replaceChildren();
    if (options.total) {
      const parts = options.total(lines.map(({row}) => row));
      this.foot.append(el(
          'tr', {},
          ...parts.map((part, i) => el('td', {class: options.columns[i]!.numeric ? 'number' : ''}, part))));
    }
    this.hideColumns();
    this.note.textContent = this.countText(lines);
    this.more.hidden = lines.length <= this.shown;
  }

  private countText(lines: Line<T>[]): string {
    const {noun, rows} = this.options;
    const drawn = lines.slice(0, this.shown);
    const count = (some: Line<T>[]): number => some.reduce((sum, {members}) => sum + Math.max(1, members.length), 0);
    const all = count(lines);
    const inRows = count(drawn) === drawn.length ? '' : ` in ${formatCount(drawn.length)} rows`;
    const of = all < rows.length ? `, of ${formatCount(rows.length)} in all` : '';
    return `${formatCount(count(drawn))} of ${formatCount(all)} ${noun}${inRows}${of}`;
  }
}

export function table<T>(options: TableOptions<T>): HTMLElement { return new Table(options).element; }
