// The trees of the flame graph: ranges inside each other as they were recorded, or modules by their paths with the
// operators that allocated in them.
import type {App} from './app';

export interface Node {
  name: string;
  kind: 'root'|'module'|'operator'|'function'|'backward'|'user'|'dispatch';
  children: Map<string, Node>;
  own: number[];  // by measure
  sum: number[];
}

export const kMeasures = [
  {value: 'atPeak', text: 'at the peak'},
  {value: 'allocated', text: 'allocated'},
  {value: 'temporary', text: 'temporaries'},
  {value: 'kept', text: 'live at the end'},
] as const;
export type Measure = (typeof kMeasures)[number]['value'];

type Sums = Record<Measure, Float64Array>;

const node = (name: string, kind: Node['kind']): Node =>
    ({name, kind, children: new Map(), own: [0, 0, 0, 0], sum: [0, 0, 0, 0]});

function child(parent: Node, name: string, kind: Node['kind']): Node {
  const key = `${kind} ${name}`;
  let found = parent.children.get(key);
  if (!found) {
    found = node(name, kind);
    parent.children.set(key, found);
  }
  return found;
}

const addOwn = (to: Node, sums: Sums, at: number): void =>
    kMeasures.forEach((measure, i) => (to.own[i]! += sums[measure.value][at]!));

function addUp(root: Node): Node {
  root.sum = [...root.own];
  for (const one of root.children.values()) addUp(one).sum.forEach((bytes, i) => (root.sum[i]! += bytes));
  return root;
}

const kSources = ['function', 'backward', 'user', 'dispatch'] as const;

export async function rangeTree(app: App): Promise<Node> {
  const paths = await app.device.paths();
  const root = node('all', 'root');
  const nodes: Node[] = [root];
  for (let i = 1; i < paths.count; ++i)
    nodes.push(child(
        nodes[paths.parent[i]!]!, app.facts.names[paths.name[i]!] ?? '', kSources[paths.source[i]!] ?? 'function'));
  for (let i = 1; i < paths.count; ++i) addOwn(nodes[i]!, paths, i);
  addOwn(child(root, '(no range)', 'function'), paths, 0);
  return addUp(root);
}

export async function moduleTree(app: App): Promise<Node> {
  const places = await app.device.places();
  const labels = await app.device.labels();
  const root = node('all', 'root');
  for (let i = 0; i < places.count; ++i) {
    const path = labels['module']?.[places.module[i]!] ?? '';
    let at = root;
    for (const part of path.startsWith('(') ? [path] : path.split('.')) at = child(at, part, 'module');
    addOwn(child(at, labels['operator']?.[places.operator[i]!] ?? '', 'operator'), places, i);
  }
  return addUp(root);
}
