// The memory of a device at an out-of-memory error as a bar, and below it the refused request to the same scale: the
// part of the request that fits into the largest free piece, and the missing part, beyond the end of the device.
import {categoryColour, kOther, stackingOrder} from '../drawing/colours';
import {el, hideTip, showTip} from '../drawing/element';
import {formatBytes, formatShare} from '../drawing/units';
import type {App} from '../report/app';
import type {OutOfMemory} from '../report/facts';

interface Piece {
  name: string;
  bytes: number;
  colour: string;
  details: string[];  // lines of the tip
}

export interface MemoryAtError {
  pieces: Piece[];
  total: number;    // bytes of the device, or of the pieces if the device's size is not known
  fits: number;     // bytes of the request that the largest free piece has room for
  missing: number;  // bytes of the request that it has no room for
}

const sum = (parts: {bytes: number}[]): number => parts.reduce((all, part) => all + part.bytes, 0);

function allocatedPieces(app: App, error: OutOfMemory): Piece[] {
  const known = app.facts.categories;
  const order = (name: string): number => stackingOrder(known[name]?.category ?? 'UNKNOWN');
  const pieces = [...error.by_category].sort((a, b) => order(a.name) - order(b.name)).map(({name, bytes}) => {
    const category = known[name];
    const colour = category ? categoryColour(category.category, category.detail) : kOther();
    return {name, bytes, colour, details: ['allocated by torch']};
  });
  return [...pieces, {
           name: 'other allocated',
           bytes: error.allocated_bytes - sum(pieces),
           colour: kOther(),
           details: ['allocated by torch; its category is not known']
         }];
}

// Bytes that torch's allocator may take from the free bytes of the device.
function usableFree(error: OutOfMemory): number {
  const free = error.device_free_bytes ?? 0;
  if (error.cause !== 'limit' || error.device_limit_bytes === null) return free;
  return Math.max(0, Math.min(free, error.device_limit_bytes - error.reserved_bytes));
}

function piecesOf(app: App, error: OutOfMemory): Piece[] {
  const reserved = Math.max(error.reserved_bytes, error.active_bytes, error.allocated_bytes);
  const usable = usableFree(error);
  const outside = error.outside_torch ?? [];
  const taken: Piece[] = [
    ...allocatedPieces(app, error),
    {
      name: 'waiting for a stream',
      bytes: error.active_bytes - error.allocated_bytes,
      colour: 'var(--step-odd)',
      details: ['freed by the program, and still used by a stream']
    },
    {
      name: 'non-PyTorch memory',
      bytes: sum(outside),
      colour: 'var(--outside)',
      details: outside.map(({name, bytes}) => `${name}: ${formatBytes(bytes)}`)
    },
    {
      name: 'other processes',
      bytes: error.other_processes_bytes ?? 0,
      colour: 'var(--ink-soft)',
      details: ['memory of other programs on this device']
    },
    {
      name: 'beyond torch\'s limit',
      bytes: (error.device_free_bytes ?? 0) - usable,
      colour: 'var(--waste-faint)',
      details: ['free on the device, above the limit that set_per_process_memory_fraction set']
    },
  ];
  const free: Piece[] = [
    {
      name: 'free in torch\'s segments',
      bytes: reserved - Math.max(error.active_bytes, error.allocated_bytes),
      colour: 'var(--waste)',
      details: [
        'reserved by torch and in no block',
        `the largest usable piece: ${formatBytes(error.free.largest_hole_bytes)}`,
      ]
    },
    {name: 'free on the device', bytes: usable, colour: 'var(--free)', details: ['in no program\'s use']},
  ];
  const rest = error.device_total_bytes === null ? error.unaccounted_bytes :
                                                   error.device_total_bytes - sum([...taken, ...free]);
  const unknown: Piece = {
    name: 'owner not known',
    bytes: rest,
    colour: kOther(),
    details: ['used on the device; the recording does not contain its owner']
  };
  return [...taken, unknown, ...free].filter((piece) => piece.bytes > 0);
}

export function memoryAtError(app: App, error: OutOfMemory): MemoryAtError {
  const pieces = piecesOf(app, error);
  const largest = Math.max(error.free.largest_hole_bytes, usableFree(error));
  const fits = Math.min(error.asked_bytes, largest);
  return {pieces, total: Math.max(error.device_total_bytes ?? 0, sum(pieces)), fits, missing: error.asked_bytes - fits};
}

function block(name: string, left: number, width: number, whole: number): HTMLElement {
  const made = el('div', {class: name});
  made.style.left = `${(100 * left) / whole}%`;
  made.style.width = `${(100 * width) / whole}%`;
  return made;
}

// A missing part that is larger than the device is drawn shorter, with a jagged end.
export function memoryPicture(memory: MemoryAtError): HTMLElement {
  const {pieces, total, fits, missing} = memory;
  const drawnMissing = Math.min(missing, total);
  const whole = total + drawnMissing;
  const bar = el('div', {class: 'stacked device-bar'});
  bar.style.width = `${(100 * total) / whole}%`;
  for (const piece of pieces) {
    const part = el('div', {'data-name': piece.name, 'data-bytes': String(piece.bytes)});
    part.style.flexGrow = String(piece.bytes);
    part.style.background = piece.colour;
    const lines = [piece.name, `${formatBytes(piece.bytes)}, ${formatShare(piece.bytes, total)}`, ...piece.details];
    part.addEventListener('mousemove', (event) => showTip(event, lines));
    part.addEventListener('mouseleave', hideTip);
    bar.append(part);
  }
  const request = el('div', {class: 'request'});
  if (fits > 0) request.append(block('fits', total - fits, fits, whole));
  const over = block(drawnMissing < missing ? 'missing jagged' : 'missing', total, drawnMissing, whole);
  if (missing > 0) request.append(over);
  const end = block('device-end', total, 0, whole);
  const text = pieces.map((piece) => `${piece.name} ${formatBytes(piece.bytes)}`).join(', ');
  return el(
      'div', {
        class: 'memory-picture',
        role: 'img',
        'aria-label': `${formatBytes(total)}: ${text}. The request: ${formatBytes(fits + missing)}, of which ${
            formatBytes(missing)} are missing.`
      },
      bar, fits + missing > 0 ? request : null, end);
}

// The names of the pieces, and of the two parts of the request.
export function memoryLegend({pieces, fits, missing}: MemoryAtError): HTMLElement {
  const entry = (swatchClass: string, colour: string, name: string, bytes: number): HTMLElement => {
    const swatch = el('i', {class: `swatch ${swatchClass}`});
    if (colour !== '') swatch.style.background = colour;
    return el('span', {class: 'entry'}, swatch, el('bdi', {}, `${name} ${formatBytes(bytes)}`));
  };
  return el(
      'div', {class: 'legend'}, ...pieces.map((piece) => entry('', piece.colour, piece.name, piece.bytes)),
      fits > 0 ? entry('fits', '', 'the request: fits', fits) : null,
      missing > 0 ? entry('missing', '', 'the request: missing', missing) : null);
}
