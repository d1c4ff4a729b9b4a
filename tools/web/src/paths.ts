// Ranges inside each other, as text.
import type {App} from './app';
import type {Tree} from './device';

export function pathText(app: App, tree: Tree, node: number, most = 4): string {
  const names: string[] = [];
  for (let at = node; at !== 0 && names.length < 64; at = tree.parent[at]!)
    names.push(app.facts.names[tree.name[at]!] ?? '');
  const shown = names.slice(0, most).reverse();
  return (names.length > most ? '… › ' : '') + shown.join(' › ');
}
