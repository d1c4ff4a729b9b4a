// The composition of a number of bytes: a stacked bar, and a list.
import {categoryColour, kOther} from '../drawing/colours';
import {el, hideTip, opensRows, showTip, turnTriangle} from '../drawing/element';
import {formatBytes, formatCount, formatShare, formatSigned} from '../drawing/units';
import type {App} from '../report/app';
import {type BytesBefore, bytesBefore} from '../report/compared';
import type {Columns, Row} from '../report/facts';
import {labelsOf} from '../report/labels';
import {withLayersMerged} from './layers';

// The columns of a row for the chosen device. With one device these are the row's.
export function columnsOf(app: App, row: Row): Columns|null {
  if (app.facts.summary.devices.length < 2) return row;
  const {device, process} = app.device.facts;
  return row.devices?.find((one) => one.device === device && one.process === process) ?? null;
}

export interface Part {
  name: string;
  bytes: number;
  colour: string;
  before?: number;   // bytes in the capture with which the page compares
  members?: Part[];  // of several layers
}

// The rows of a grouping with bytes at the peak, most first. Modules of all layers are one row, where there are
// several.
export function partsAtPeak(app: App, word: string, before?: BytesBefore): Part[] {
  const groups = new Map<string, Part[]>();
  const compares = before?.has(word) ?? false;
  const add = (key: string, part: Part): void => {
    const known = groups.get(key);
    if (known)
      known.push(part);
    else
      groups.set(key, [part]);
  };
  const keyOf = (name: string, kind: string): string =>
      `${word === 'module' ? withLayersMerged(name) : name}\n${kind}`;
  for (const row of app.tables[word] ?? []) {
    const bytes = columnsOf(app, row)?.bytes_at_peak ?? 0;
    if (bytes === 0) continue;
    const colour = row.category ? categoryColour(row.category, row.detail ?? '') : kOther();
    const part: Part = {name: row.name, bytes, colour};
    if (compares) part.before = before!.of(word, row.name);
    add(keyOf(row.name, row.kind), part);
  }
  const shown = [...groups.values()].flat().map(({name}) => name);
  for (const name of compares ? before!.missing(word, shown) : [])
    add(keyOf(name, 'named'), {name, bytes: 0, colour: kOther(), before: before!.of(word, name)});
  const sorted = (parts: Part[]): Part[] =>
      parts.sort((a, b) => b.bytes - a.bytes || a.name.localeCompare(b.name, 'en', {numeric: true}));
  return sorted([...groups.values()].map((members) => {
    const [first] = members;
    if (members.length === 1) return first!;
    const bytes = members.reduce((sum, part) => sum + part.bytes, 0);
    const merged: Part = {name: withLayersMerged(first!.name), bytes, colour: first!.colour, members: sorted(members)};
    if (compares) merged.before = members.reduce((sum, part) => sum + (part.before ?? 0), 0);
    return merged;
  }));
}

export function stackedBar(parts: Part[], total: number, label: string): HTMLElement {
  const bar = el('div', {
    class: 'stacked',
    role: 'img',
    'aria-label': `${label}: ${parts.map((part) => `${part.name} ${formatBytes(part.bytes)}`).join(', ')}`
  });
  for (const part of parts) {
    const piece = el('div', {});
    piece.style.flexGrow = String(part.bytes);
    piece.style.background = part.colour;
    piece.addEventListener(
        'mousemove',
        (event) => showTip(event, [part.name, `${formatBytes(part.bytes)}, ${formatShare(part.bytes, total)}`]));
    piece.addEventListener('mouseleave', hideTip);
    bar.append(piece);
  }
  return bar;
}

export interface PartList {
  element: HTMLElement;
  swatches: HTMLElement[];  // of the parts that are shown
}

// "+1.5 GiB", and the bytes before when the pointer is over it.
function changeCell(now: number, before: number): HTMLElement {
  const text = now === before ? '' : formatSigned(now - before);
  const kind = now > before ? 'more-bytes' : 'fewer-bytes';
  return el('td', {class: `number ${kind}`, title: `${formatBytes(before)} before`}, text);
}

// The share of the total. In a comparison the change has its place.
const lastCell = ({bytes, before}: Part, total: number): HTMLElement => before === undefined ?
    el('td', {class: 'number'}, formatShare(bytes, total)) :
    changeCell(bytes, before);

function partRow(part: Part, total: number, largest: number): {row: HTMLElement; swatch: HTMLElement} {
  const swatch = el('i', {class: 'swatch'});
  swatch.style.background = part.colour;
  const bar = el('b', {class: 'bar'});
  bar.style.width = `${(100 * part.bytes) / largest}%`;
  const row = el(
      'tr', {}, el('td', {class: 'wide'}, swatch, el('bdi', {title: part.name}, part.name)),
      el('td', {class: 'number', title: `${formatCount(part.bytes)} bytes`}, bar,
         el('bdi', {}, formatBytes(part.bytes))),
      lastCell(part, total));
  return {row, swatch};
}

// Makes the row of several layers open and close on a click. Returns the rows of the layers.
function openOnClick(row: HTMLElement, members: Part[], total: number, largest: number): HTMLElement[] {
  const rows = members.map((part) => partRow(part, total, largest).row);
  for (const member of rows) {
    member.classList.add('member');
    member.hidden = true;
  }
  const triangle = opensRows(row, false, () => {
    const open = rows[0]!.hidden;
    turnTriangle(triangle, open);
    for (const member of rows) member.hidden = !open;
  });
  return rows;
}

// The first `most`; the others are a sum, and `more` shows them.
export function partList(
    parts: Part[], total: number, most: number, more: () => void, noun: string, one = noun): PartList {
  const shown = parts.slice(0, most);
  const rest = parts.slice(most);
  const largest = parts.reduce((all, part) => Math.max(all, part.bytes), 1);
  const swatches: HTMLElement[] = [];
  const rows = shown.flatMap((part) => {
    const {row, swatch} = partRow(part, total, largest);
    swatches.push(swatch);
    return part.members ? [row, ...openOnClick(row, part.members, total, largest)] : [row];
  });
  if (rest.length > 0) {
    const bytes = rest.reduce((all, part) => all + part.bytes, 0);
    const before = rest.reduce((all, part) => all + (part.before ?? 0), 0);
    const sum: Part = {name: '', bytes, colour: kOther()};
    const text = `${formatCount(rest.length)} more ${rest.length === 1 ? one : noun}`;
    const button = el('button', {type: 'button', class: 'link'}, el('bdi', {}, text));
    button.addEventListener('click', more);
    rows.push(
        el('tr', {}, el('td', {class: 'wide'}, button), el('td', {class: 'number'}, formatBytes(bytes)),
           lastCell(shown[0]?.before === undefined ? sum : {...sum, before}, total)));
  }
  return {element: el('table', {class: 'plain bars'}, el('tbody', {}, ...rows)), swatches};
}

// As every other view colours them.
async function colourRows(app: App, word: string, parts: Part[], swatches: HTMLElement[]): Promise<void> {
  for (const grouping of word === 'module' ? ['layers', 'module'] : [word]) {
    const labels = await labelsOf(app, grouping);
    const known = new Map(labels.names.map((name, label) => [name, label]));
    swatches.forEach((swatch, i) => {
      const {name} = parts[i]!;
      const label = known.get(name) ?? known.get(name.replace(/ \(before the window\)$/, ''));
      if (label !== undefined) swatch.style.background = labels.colour(label);
    });
  }
}

export function madeOf(
    app: App, title: string, word: string, many: string, most: number, more: () => void): HTMLElement {
  const card = el('div', {class: `card ${word}`});
  const fill = (before?: BytesBefore): void =>
      card.replaceChildren(...madeOfParts(app, title, word, many, most, more, before));
  if (app.device.hasBefore)
    app.draws(bytesBefore(app).then(fill));
  else
    fill();
  return card;
}

function madeOfParts(
    app: App, title: string, word: string, many: string, most: number, more: () => void,
    before: BytesBefore|undefined): HTMLElement[] {
  const parts = partsAtPeak(app, word, before);
  const total = app.device.summary.peak_allocated_bytes ?? 0;
  const empty =
      parts.length === 0 ? el('p', {class: 'note'}, total > 0 ? 'Nothing is known of it.' : 'Nothing was live.') : null;
  const bar = word === 'category' && parts.length > 0 ? stackedBar(parts, total, title) : null;
  const list = partList(parts, total, most, more, many, word);
  if (word !== 'category') app.draws(colourRows(app, word, parts, list.swatches));
  return [el('h2', {}, title), bar, empty, list.element].filter((child) => child !== null);
}
