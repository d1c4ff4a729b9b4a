// The program's text with bytes in the margin, below the table of lines.
import {el} from '../drawing/element';
import {scrollBox} from '../drawing/scroll_edges';
import {formatBytes, formatCount} from '../drawing/units';
import type {App} from '../report/app';
import type {Columns} from '../report/facts';
import {hasSection, sectionJson} from '../report/payload';
import {sumOfColumns} from './layers';
import {columnsOf} from './parts';

interface Sources {
  files: {file: string; lines: [number, string][]}[];  // those with the most bytes first
  missing: {file: string; why: string}[];
}

const kOpenAtFirst = 2;  // files

// The columns of each line of the file on the chosen device. Several rows may have the same line.
function columnsByLine(app: App, file: string): Map<number, Columns> {
  const byLine = new Map<number, Columns[]>();
  for (const row of app.tables['line'] ?? []) {
    const columns = row.file === file && row.line ? columnsOf(app, row) : null;
    if (columns) byLine.set(row.line!, [...(byLine.get(row.line!) ?? []), columns]);
  }
  return new Map([...byLine].map(([line, columns]) => [line, sumOfColumns(columns)]));
}

function lineRow(number: number, text: string, columns: Columns|undefined, most: number): HTMLElement {
  const cell = (bytes: number|undefined, bar: boolean): HTMLElement => {
    if (!bytes) return el('td', {class: 'number'});
    const made = el('td', {class: 'number', title: `${formatCount(bytes)} bytes`});
    if (bar) {
      const drawn = el('b', {class: 'bar'});
      drawn.style.width = `${(100 * bytes) / most}%`;
      made.append(drawn);
    }
    made.append(el('bdi', {}, formatBytes(bytes)));
    return made;
  };
  return el(
      'tr', columns ? {class: 'held'} : {}, cell(columns?.bytes_at_peak, true), cell(columns?.allocated_bytes, false),
      el('td', {class: 'line-number'}, String(number)), el('td', {class: 'code'}, el('code', {}, text)));
}

function fileText(app: App, {file, lines}: Sources['files'][0], open: boolean): HTMLElement|null {
  const columns = columnsByLine(app, file);
  const most = Math.max(1, ...[...columns.values()].map(({bytes_at_peak}) => bytes_at_peak));
  const rows: HTMLElement[] = [];
  let before = 0;
  for (const [number, text] of lines) {
    if (rows.length > 0 && number > before + 1)
      rows.push(el('tr', {class: 'gap'}, el('td', {colspan: '4'}, '⋯')));
    rows.push(lineRow(number, text, columns.get(number), most));
    before = number;
  }
  if (columns.size === 0 || rows.length === 0) return null;
  const head = ['at the peak', 'allocated', 'line', ''].map((text) => el('th', {}, text));
  const table = el('table', {class: 'source'}, el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...rows));
  return el('details', {open}, el('summary', {}, el('bdi', {}, file)), scrollBox(table));
}

// Null if the report has no text of the program.
export async function sourceCard(app: App): Promise<HTMLElement|null> {
  if (!hasSection('sources')) return null;
  const {files, missing} = await sectionJson<Sources>('sources');
  const shown = files.map((file, i) => fileText(app, file, i < kOpenAtFirst)).filter((made) => made !== null);
  const left = missing.map(({file, why}) => el('li', {}, el('bdi', {}, file), `: ${why}`));
  if (shown.length + left.length === 0) return null;
  return el(
      'div', {class: 'card source-card'}, el('h2', {}, 'Source'), ...shown,
      left.length > 0 && el('p', {class: 'note'}, 'Without their text:', el('ul', {}, ...left)));
}
