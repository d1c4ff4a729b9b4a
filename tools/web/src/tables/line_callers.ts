// The callers of a line: who called it, with the bytes that were live at the peak through each chain of callers.
import {el} from '../drawing/element';
import {formatBytes, formatCount} from '../drawing/units';
import type {App} from '../report/app';
import {callerName, callersText} from '../report/paths';

const kMost = 12;  // chains

// Returns a list for the frame with this name, "net.py:12 Net.forward", the chain with most bytes first.
export async function callersOfLine(app: App, name: string): Promise<HTMLElement> {
  const callers = await app.device.callers();
  const frames = (await app.device.labels())['frames'] ?? [];
  const within = new Float64Array(callers.count);  // bytes of each frame and of all that it called
  for (let i = callers.count - 1; i >= 0; --i) {
    within[i]! += callers.atPeak[i]!;
    if (i > 0) within[callers.parent[i]!]! += within[i]!;
  }
  const inside = new Uint8Array(callers.count);  // 1: called by the frame, which may call itself
  const chains = new Map<string, number>();
  for (let i = 1; i < callers.count; ++i) {
    const parent = callers.parent[i]!;
    const matches = callerName(callers, frames, i) === name;
    inside[i] = matches || inside[parent] ? 1 : 0;
    if (!matches || inside[parent]) continue;
    const chain = parent === 0 ? 'nothing of Python' : callersText(callers, frames, parent);
    chains.set(chain, (chains.get(chain) ?? 0) + within[i]!);
  }
  const sorted = [...chains].filter(([, bytes]) => bytes > 0).sort((a, b) => b[1] - a[1]);
  if (sorted.length === 0) return el('p', {class: 'note'}, 'No block of this line was live at the peak.');
  const rows = sorted.slice(0, kMost).map(
      ([chain, bytes]) => el(
          'tr', {}, el('td', {class: 'number', title: `${formatCount(bytes)} bytes`}, formatBytes(bytes)),
          el('td', {}, el('bdi', {}, chain))));
  const more = sorted.length > kMost && el('p', {class: 'note'}, `${formatCount(sorted.length - kMost)} more`);
  return el(
      'div', {class: 'callers'}, el('p', {class: 'note'}, 'Called by, at the peak:'),
      el('table', {class: 'plain'}, el('tbody', {}, ...rows)), more);
}
