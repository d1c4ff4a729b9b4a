// The callers of a line: who called it, with the bytes that were live at the peak through each chain of callers.
import {el} from '../drawing/element';
import {formatBytes, formatCount} from '../drawing/units';
import type {App} from '../report/app';
import {liveAt} from '../report/live';
import {callerName, callersText} from '../report/paths';

const kMost = 12;  // chains

// Returns the bytes of a line at the peak by chain of callers. A block that the line itself did not allocate, such as a
// workspace or a gradient, has the chain down to the line that allocated it.
async function bytesByChain(app: App, line: string): Promise<Map<string, number>> {
  const chains = new Map<string, number>();
  const peak = app.device.facts.instants.find((instant) => instant.kind === 'peak');
  if (!peak) return chains;
  const {line: lines = [], frames = []} = await app.device.labels();
  const [blocks, callers] = [await app.device.blocks(), await app.device.callers()];
  for (const block of (await liveAt(app.device, peak.time_ns)).blocks) {
    if (lines[blocks.labels['line']![block]!] !== line) continue;
    const node = blocks.caller[block]!;
    const innermost = callerName(callers, frames, node) === line ? callers.parent[node]! : node;
    const chain = innermost === 0 ? 'no other line' : callersText(callers, frames, innermost);
    chains.set(chain, (chains.get(chain) ?? 0) + blocks.bytes[block]!);
  }
  return chains;
}

// Returns a list for the row with this name, "net.py:12 Net.forward", the chain with most bytes first.
export async function callersOfLine(app: App, line: string): Promise<HTMLElement> {
  const sorted = [...await bytesByChain(app, line)].sort((a, b) => b[1] - a[1]);
  if (sorted.length === 0) return el('p', {class: 'note'}, 'No block of this line was live at the peak.');
  const rows = sorted.slice(0, kMost).map(
      ([chain, bytes]) =>
          el('tr', {}, el('td', {class: 'number', title: `${formatCount(bytes)} bytes`}, formatBytes(bytes)),
             el('td', {}, el('bdi', {}, chain))));
  const more = sorted.length > kMost && el('p', {class: 'note'}, `${formatCount(sorted.length - kMost)} more`);
  return el(
      'div', {class: 'callers'}, el('p', {class: 'note'}, 'Called by, at the peak:'),
      el('table', {class: 'plain'}, el('tbody', {}, ...rows)), more);
}
