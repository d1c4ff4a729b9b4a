// The picture of a flame graph, hanging: each node below the node that it is inside of, as wide as its bytes.
import {fitted, kFont} from '../drawing/canvas';
import {inkOn, variable} from '../drawing/colours';
import {el} from '../drawing/element';
import {formatBytes} from '../drawing/units';
import {changeOf, type Node} from '../report/flame_tree';

export interface Shape {
  node: Node;
  parents: Node[];  // from the root down
  x: number;
  width: number;
  depth: number;
}

const kLeastRow = 23;  // pixels
const kMostRow = 96;
const kTwoLines = 40;  // pixels of a row that has room for a second line of text
const kLeastWidth = 0.6;

const kKinds: Record<Node['kind'], {text: string; colours: string[]}> = {
  root: {text: '', colours: ['rgb(120 128 140)']},
  module: {text: 'module', colours: ['rgb(64 122 178)', 'rgb(84 140 192)', 'rgb(105 156 203)']},
  operator: {text: 'operator', colours: ['rgb(226 150 70)', 'rgb(235 168 96)', 'rgb(240 184 122)']},
  function: {text: 'operator', colours: ['rgb(226 150 70)', 'rgb(235 168 96)', 'rgb(240 184 122)']},
  dispatch: {text: 'operator', colours: ['rgb(226 150 70)', 'rgb(235 168 96)', 'rgb(240 184 122)']},
  backward: {text: 'autograd node', colours: ['rgb(170 92 112)', 'rgb(184 112 130)', 'rgb(197 132 148)']},
  frame: {text: 'Python line', colours: ['rgb(126 108 176)', 'rgb(142 126 188)', 'rgb(158 144 200)']},
  user: {text: 'range of the program', colours: ['rgb(92 150 110)', 'rgb(112 165 128)', 'rgb(132 180 146)']},
};

export function colourOf(node: Node): string {
  let hash = 0;
  for (const letter of node.name) hash = (hash * 31 + letter.codePointAt(0)!) >>> 0;
  const {colours} = kKinds[node.kind];
  return colours[hash % colours.length]!;
}

// "+2.0 GiB: 12.0 GiB, 10.0 GiB before"
export function changeText(node: Node): string {
  const {before, now} = changeOf(node);
  const change = now === before ? 'the same' : `${now > before ? '+' : '−'}${formatBytes(Math.abs(now - before))}`;
  return `${change}: ${formatBytes(now)}, ${formatBytes(before)} before`;
}

// A name in quotes matches as a whole, another text as a part of a name.
export function matcher(text: string): (node: Node) => boolean {
  const whole = /^"(.*)"$/.exec(text)?.[1];
  if (whole !== undefined) return (node) => node.kind !== 'root' && node.name === whole;
  const part = text.toLowerCase();
  return (node) => node.kind !== 'root' && node.name.toLowerCase().includes(part);
}

// By bytes, the largest first. Layers, whose names are numbers, stand together in the order of their numbers, at the
// place of the largest layer.
function inOrder(children: Node[], bytes: (node: Node) => number): Node[] {
  const isLayer = (node: Node): boolean => node.kind === 'module' && /^\d+$/.test(node.name);
  const mostOfLayers = Math.max(0, ...children.filter(isLayer).map(bytes));
  const rank = (node: Node): number => isLayer(node) ? mostOfLayers : bytes(node);
  return children.sort(
      (a, b) => rank(b) - rank(a) || Number(isLayer(b)) - Number(isLayer(a)) ||
          (isLayer(a) ? Number(a.name) - Number(b.name) : 0));
}

// The shapes of the last node of `focus` and of its descendants, which have the width of the picture together. Nodes
// that are narrower than a pixel have no shape. `focus`: from the root down.
export function shapesOf(focus: Node[], bytes: (node: Node) => number, width: number): Shape[] {
  const shapes: Shape[] = [];
  const visit = (node: Node, parents: Node[], x: number, wide: number, depth: number): void => {
    shapes.push({node, parents, x, width: wide, depth});
    let at = x;
    for (const one of inOrder([...node.children.values()].filter((child) => bytes(child) > 0), bytes)) {
      const share = (bytes(one) / Math.max(bytes(node), 1)) * wide;
      if (share >= kLeastWidth) visit(one, [...parents, node], at, share, depth + 1);
      at += share;
    }
  };
  const top = focus[focus.length - 1]!;
  if (bytes(top) > 0) visit(top, focus.slice(0, -1), 0, width, 0);
  return shapes;
}

// Pixels of a row, so that `depth` rows fill `height` if they can.
export const rowHeight = (depth: number, height: number): number =>
    Math.max(kLeastRow, Math.min(kMostRow, Math.floor(height / Math.max(1, depth))));

export interface FlamePaint {
  row: number;
  isWanted: ((node: Node) => boolean)|null;  // null: nothing is searched for
  colour: (node: Node) => string;
  text: (shape: Shape) => string;
  detail: (node: Node) => string;  // a second line of text, where there is room
}

// Nodes that match, and all that is inside of them, keep their colours; other nodes fade.
export function paintShapes(context: CanvasRenderingContext2D, shapes: Shape[], paint: FlamePaint): void {
  const {row, isWanted} = paint;
  context.font = kFont;
  context.textBaseline = 'middle';
  for (const shape of shapes) {
    const {node, parents, x, width, depth} = shape;
    const fades = isWanted !== null && !isWanted(node) && !parents.some(isWanted);
    const colour = paint.colour(node);
    context.globalAlpha = fades ? 0.28 : 1;
    context.fillStyle = colour;
    context.fillRect(x, depth * row, Math.max(0.5, width - 1), row - 1.5);
    context.globalAlpha = 1;
    if (width < 24) continue;
    context.fillStyle = fades ? variable('--ink-soft') : inkOn(colour);
    const middle = depth * row + row / 2;
    const two = row >= kTwoLines && depth > 0;
    context.fillText(fitted(context, paint.text(shape), width - 10), x + 5, two ? middle - 9 : middle);
    if (two) context.fillText(fitted(context, paint.detail(node), width - 10), x + 5, middle + 9);
  }
}

// The kinds of nodes among `shapes`.
export function legendOfKinds(shapes: Shape[]): HTMLElement[] {
  const shown = new Set(shapes.map(({node}) => kKinds[node.kind].text).filter((text) => text !== ''));
  const entries = Object.values(kKinds).filter(({text}) => shown.delete(text));
  return entries.map(({text, colours}) => {
    const swatch = el('i', {class: 'swatch'});
    swatch.style.background = colours[0]!;
    return el('span', {class: 'entry'}, swatch, text);
  });
}
