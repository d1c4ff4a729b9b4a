// Ranges inside each other, and Python callers, as text.
import type {App} from './app';
import type {Callers, Tree} from './device';

function chainText(parent: Float64Array, node: number, most: number, nameOf: (node: number) => string): string {
  const names: string[] = [];
  for (let at = node; at !== 0 && names.length < 64; at = parent[at]!) names.push(nameOf(at));
  const shown = names.slice(0, most).reverse();
  return (names.length > most ? '… › ' : '') + shown.join(' › ');
}

export function pathText(app: App, tree: Tree, node: number, most = 4): string {
  return chainText(tree.parent, node, most, (at) => app.facts.names[tree.name[at]!] ?? '');
}

const kNoFrame = ['all', '', '(no Python line)', '(a compiled region)', '(before the window)'];

export function callerName(callers: Callers, frames: string[], node: number): string {
  return kNoFrame[callers.kind[node]!] || (frames[callers.frame[node]!] ?? '');
}

export function callersText(callers: Callers, frames: string[], node: number, most = 12): string {
  return chainText(callers.parent, node, most, (at) => callerName(callers, frames, at));
}
