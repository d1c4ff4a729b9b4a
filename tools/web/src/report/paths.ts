// Ranges inside each other, Python callers and paths of modules, as text.
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

// The nested modules of a path, from the root down.
export const modulePath = (name: string): string[] => (name.startsWith('(') ? [name] : name.split('.'));

// As `memoir diff` names modules: without what wraps them (tools/analyze/compare/match/module_names.cc).
const kWrappers = ['_orig_mod', '_fsdp_wrapped_module', '_checkpoint_wrapped_module'];

export function unwrapped(name: string): string[] {
  const path = modulePath(name);
  const inner = path.filter((part, i) => !kWrappers.includes(part) && !(i === 0 && part === 'module'));
  return inner.length > 0 ? inner : path;
}
