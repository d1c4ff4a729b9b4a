// The trees of the flame graph: ranges inside each other as they were recorded, modules by their paths with the
// operators that allocated in them, and Python lines by who called whom.
import type {App} from './app';
import type {Blocks, Callers, Places} from './device';
import {callerName, modulePath, unwrapped} from './paths';

export interface Node {
  name: string;
  kind: 'root'|'module'|'operator'|'function'|'backward'|'user'|'dispatch'|'frame';
  children: Map<string, Node>;
  own: number[];  // by measure, and behind them what it was before
  sum: number[];
}

export const kMeasures = [
  {value: 'atPeak', text: 'at the peak'},
  {value: 'allocated', text: 'allocated'},
  {value: 'temporary', text: 'temporaries'},
  {value: 'kept', text: 'live at the end'},
  {value: 'grown', text: 'new between two instants'},
  {value: 'either', text: 'at the peak, compared'},
] as const;
export type Measure = (typeof kMeasures)[number]['value'];
const kAtPeak = 0;
const kGrown = 4;
const kEither = 5;  // own: the larger of the two values; the width of a node in a comparison, with its children
const kBefore = 6;

export const changeOf = (of: Node): {before: number; now: number} =>
    ({before: of.sum[kBefore]!, now: of.sum[kAtPeak]!});

export interface FlameTree {
  root: Node;
  nodeOf: (blocks: Blocks, block: number) => Node;
}

type Sums = Record<Exclude<Measure, 'grown'|'either'>, Float64Array>;

const kNothing = [0, 0, 0, 0, 0, 0, 0];
const node = (name: string, kind: Node['kind']): Node =>
    ({name, kind, children: new Map(), own: [...kNothing], sum: [...kNothing]});

const keyOf = (name: string, kind: Node['kind']): string => `${kind} ${name}`;

function child(parent: Node, name: string, kind: Node['kind']): Node {
  const key = keyOf(name, kind);
  let found = parent.children.get(key);
  if (!found) {
    found = node(name, kind);
    parent.children.set(key, found);
  }
  return found;
}

function addOwn(to: Node, sums: Sums, at: number): void {
  (['atPeak', 'allocated', 'temporary', 'kept'] as const).forEach((measure, i) => (to.own[i]! += sums[measure][at]!));
}

function addUp(root: Node): Node {
  root.sum = [...root.own];
  for (const one of root.children.values()) addUp(one).sum.forEach((bytes, i) => (root.sum[i]! += bytes));
  return root;
}

const kSources = ['function', 'backward', 'user', 'dispatch'] as const;

export async function rangeTree(app: App): Promise<FlameTree> {
  const paths = await app.device.paths();
  const root = node('all', 'root');
  const nodes: Node[] = [child(root, '(no range)', 'function')];
  for (let i = 1; i < paths.count; ++i) {
    const parent = paths.parent[i]!;
    nodes.push(child(
        parent === 0 ? root : nodes[parent]!, app.facts.names[paths.name[i]!] ?? '',
        kSources[paths.source[i]!] ?? 'function'));
  }
  for (let i = 0; i < paths.count; ++i) addOwn(nodes[i]!, paths, i);
  return {root: addUp(root), nodeOf: (blocks, block) => nodes[blocks.path[block]!]!};
}

// Returns the nodes of the nested modules in `path`, outermost first. Undefined if a module of the path has no node.
export function nodesAt(root: Node, path: string[]): Node[]|undefined {
  const nodes: Node[] = [];
  for (const part of path) {
    const {children} = nodes[nodes.length - 1] ?? root;
    const next: Node|undefined =
        children.get(keyOf(part, 'module')) ?? [...children.values()].find((one) => one.name === part);
    if (!next) return undefined;
    nodes.push(next);
  }
  return nodes;
}

type Labels = Record<string, string[]>;

// Returns a function that finds the node for blocks of a module and an operator. The function adds missing nodes.
function placeIn(root: Node, labels: Labels, pathOf: (name: string) => string[]): (module: number, operator: number) =>
    Node {
  return (module, operator) => {
    let at = root;
    for (const part of pathOf(labels['module']?.[module] ?? '')) at = child(at, part, 'module');
    return child(at, labels['operator']?.[operator] ?? '', 'operator');
  };
}

export async function moduleTree(app: App): Promise<FlameTree> {
  const places = await app.device.places();
  const root = node('all', 'root');
  const placeOf = placeIn(root, await app.device.labels(), modulePath);
  for (let i = 0; i < places.count; ++i) addOwn(placeOf(places.module[i]!, places.operator[i]!), places, i);
  return {
    root: addUp(root),
    nodeOf: (blocks, block) => placeOf(blocks.labels['module']![block]!, blocks.labels['operator']![block]!)
  };
}

// The nodes of a tree of callers below `root`, made where they are not there.
function callersIn(root: Node, callers: Callers, frames: string[], nameOf: (name: string) => string): Node[] {
  const nodes: Node[] = [root];
  for (let i = 1; i < callers.count; ++i)
    nodes.push(child(nodes[callers.parent[i]!]!, nameOf(callerName(callers, frames, i)), 'frame'));
  return nodes;
}

export async function callerTree(app: App): Promise<FlameTree> {
  const callers = await app.device.callers();
  const frames = (await app.device.labels())['frames'] ?? [];
  const nodes = callersIn(node('all', 'root'), callers, frames, (name) => name);
  for (let i = 0; i < callers.count; ++i) addOwn(nodes[i]!, callers, i);
  return {root: addUp(nodes[0]!), nodeOf: (blocks, block) => nodes[blocks.caller[block]!]!};
}

function compare(root: Node): Node {
  root.own[kEither] = Math.max(root.own[kAtPeak]!, root.own[kBefore]!);
  root.children.forEach(compare);
  return root;
}

// Of this capture and of the one it is compared with. Lines move between them, so callers are told apart by functions.
export async function comparedTree(app: App, by: 'modules'|'callers'): Promise<FlameTree> {
  const {device} = app;
  const before = await device.before();
  const root = node('all', 'root');
  const addPlaces = (places: Places, labels: Labels, which: number): void => {
    const placeOf = placeIn(root, labels, unwrapped);
    for (let i = 0; i < places.count; ++i)
      placeOf(places.module[i]!, places.operator[i]!).own[which]! += places.atPeak[i]!;
  };
  const addCallers = (callers: Callers, labels: Labels, which: number): void => {
    const nodes = callersIn(root, callers, labels['frames'] ?? [], (name) => name.replace(/:\d+(?= |$)/, ''));
    for (let i = 0; i < callers.count; ++i) nodes[i]!.own[which]! += callers.atPeak[i]!;
  };
  const labels = await device.labels();
  if (by === 'modules') {
    addPlaces(await device.places(), labels, kAtPeak);
    addPlaces(before.places, before.labels, kBefore);
  } else {
    addCallers(await device.callers(), labels, kAtPeak);
    addCallers(before.callers, before.labels, kBefore);
  }
  return {root: addUp(compare(root)), nodeOf: () => root};
}

// Adds the bytes that are live at `to` and not at `from`. Blocks from before the recording were live all the time
// before.
export async function addGrowth(app: App, tree: FlameTree, from: number, to: number): Promise<void> {
  const clear = (one: Node): void => {
    one.own[kGrown] = 0;
    one.children.forEach(clear);
  };
  clear(tree.root);
  const blocks = await app.device.blocks();
  const live = (block: number, ns: number): boolean =>
      (blocks.begin[block]! <= ns || blocks.before[block] === 1) && blocks.end[block]! > ns;
  for (let i = 0; i < blocks.count; ++i) {
    if (live(i, to) && !live(i, from)) tree.nodeOf(blocks, i).own[kGrown]! += blocks.bytes[i]!;
  }
  addUp(tree.root);
}
