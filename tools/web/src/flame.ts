// The flame graph, hanging: each node under the one that it is inside of, as wide as its bytes.
import type {App} from './app';
import {fitted, kFont, surface} from './canvas';
import {inkOn} from './colours';
import {choice, el, hideTip, showTip} from './element';
import {kMeasures, type Measure, moduleTree, type Node, rangeTree} from './flame_tree';
import type {View} from './timeline';
import {formatBytes, formatCount, formatShare} from './units';

const kRow = 23;
const kColours: Record<Node['kind'], string[]> = {
  root: ['rgb(120 128 140)'],
  module: ['rgb(64 122 178)', 'rgb(84 140 192)', 'rgb(105 156 203)'],
  operator: ['rgb(226 150 70)', 'rgb(235 168 96)', 'rgb(240 184 122)'],
  function: ['rgb(226 150 70)', 'rgb(235 168 96)', 'rgb(240 184 122)'],
  dispatch: ['rgb(226 150 70)', 'rgb(235 168 96)', 'rgb(240 184 122)'],
  backward: ['rgb(170 92 112)', 'rgb(184 112 130)', 'rgb(197 132 148)'],
  user: ['rgb(92 150 110)', 'rgb(112 165 128)', 'rgb(132 180 146)'],
};

interface Shape {
  node: Node;
  parents: Node[];
  x: number;
  width: number;
  depth: number;
}

function colourOf(node: Node): string {
  let hash = 0;
  for (const letter of node.name) hash = (hash * 31 + letter.codePointAt(0)!) >>> 0;
  const colours = kColours[node.kind];
  return colours[hash % colours.length]!;
}

export function flameView(app: App): View {
  let by: 'modules'|'ranges' = 'modules';
  let measure: Measure = 'atPeak';
  let tree: Node|undefined;
  let focus: Node[] = [];  // from the root down
  let shapes: Shape[] = [];
  let madeFor = '';
  const controls = el('div', {class: 'controls'});
  const crumbs = el('div', {class: 'crumbs'});
  const note = el('p', {class: 'note'});
  const find = el('input', {
    type: 'search',
    class: 'find',
    placeholder: 'search  ( / )',
    'aria-label': 'search the flame graph',
    spellcheck: 'false'
  });
  const index = (): number => kMeasures.findIndex((one) => one.value === measure);
  const bytes = (node: Node): number => node.sum[index()]!;
  const top = (): Node => focus[focus.length - 1] ?? tree!;

  function lay(width: number): void {
    shapes = [];
    const visit = (node: Node, parents: Node[], x: number, wide: number, depth: number): void => {
      shapes.push({node, parents, x, width: wide, depth});
      const children = [...node.children.values()].filter((one) => bytes(one) > 0).sort((a, b) => bytes(b) - bytes(a));
      let at = x;
      for (const one of children) {
        const share = (bytes(one) / Math.max(bytes(node), 1)) * wide;
        if (share < 0.6) break;  // narrower than a pixel, as are all that follow
        visit(one, [...parents, node], at, share, depth + 1);
        at += share;
      }
    };
    if (bytes(top()) > 0) visit(top(), focus.slice(0, -1), 0, width, 0);
  }

  const depth = (): number => shapes.reduce((most, shape) => Math.max(most, shape.depth + 1), 1);
  const drawn = surface(
      'flame graph: bytes by nesting',
      () => {
        if (tree) lay(drawn.canvas.parentElement!.clientWidth);
        return Math.max(120, depth() * kRow + 4);
      },
      ({context}) => {
        context.font = kFont;
        context.textBaseline = 'middle';
        const wanted = find.value.toLowerCase();
        let found = 0;
        for (const shape of shapes) {
          const matches = wanted !== '' && shape.node.name.toLowerCase().includes(wanted);
          if (matches && !shape.parents.some((parent) => parent.name.toLowerCase().includes(wanted)))
            found += bytes(shape.node);
          context.globalAlpha = wanted === '' || matches ? 1 : 0.28;
          const colour = colourOf(shape.node);
          context.fillStyle = colour;
          context.fillRect(shape.x, shape.depth * kRow, Math.max(0.5, shape.width - 1), kRow - 1.5);
          if (shape.width < 24) continue;
          context.fillStyle = inkOn(colour);
          const name = shape.depth === 0 && focus.length === 0 ?
              `${formatBytes(bytes(shape.node))} ${kMeasures[index()]!.text}` :
              shape.node.name;
          context.fillText(fitted(context, name, shape.width - 10), shape.x + 5, shape.depth * kRow + kRow / 2);
        }
        context.globalAlpha = 1;
        const all = tree ? bytes(tree) : 0;
        note.textContent = all === 0 ?
            'Nothing to show: no block has bytes of this kind.' :
            wanted === '' ?
            `${formatBytes(all)} in all. Click to focus, Escape to go back.` :
            `“${find.value}” matches ${formatBytes(found)}, ${formatShare(found, bytes(top()))} of what is shown.`;
      },
  );

  function fillCrumbs(): void {
    const chain = [tree!, ...focus].filter((one, i, all) => all.indexOf(one) === i);
    crumbs.replaceChildren(
        ...chain.flatMap((one, i) => {
          const button = el('button', {type: 'button', class: 'link'}, el('bdi', {}, one.name));
          button.addEventListener('click', () => setFocus(chain.slice(1, i + 1)));
          return i === 0 ? [button] : [el('span', {}, '›'), button];
        }),
    );
    crumbs.hidden = chain.length < 2;
  }

  function setFocus(nodes: Node[]): void {
    focus = nodes;
    fillCrumbs();
    drawn.draw();
  }

  async function make(): Promise<void> {
    tree = await (by === 'modules' ? moduleTree(app) : rangeTree(app));
    setFocus([]);
  }

  function fillControls(): void {
    controls.replaceChildren(
        choice(
            'tree',
            [
              {value: 'modules', text: 'modules › operators'},
              {value: 'ranges', text: 'operators and ranges by nesting'}
            ],
            by,
            (value) => {
              by = value;
              fillControls();
              app.draws(make());
            }),
        choice(
            'bytes', [...kMeasures], measure,
            (value) => {
              measure = value;
              fillControls();
              drawn.draw();
            }),
        find,
    );
  }

  const shapeAt = (event: MouseEvent): Shape|undefined => {
    const box = drawn.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, Math.floor((event.clientY - box.top) / kRow)];
    return shapes.find((shape) => shape.depth === y && x >= shape.x && x < shape.x + shape.width);
  };
  drawn.canvas.addEventListener('mousemove', (event) => {
    const shape = shapeAt(event);
    if (!shape) return hideTip();
    const {node} = shape;
    const all = bytes(tree!);
    showTip(event, [
      node.name,
      `${formatBytes(bytes(node))} ${kMeasures[index()]!.text}, ${formatShare(bytes(node), all)} (${
          formatCount(bytes(node))} bytes)`,
      ...kMeasures.filter((one) => one.value !== measure)
          .map((one) => `${formatBytes(node.sum[kMeasures.indexOf(one)]!)} ${one.text}`),
      [...shape.parents, node].slice(1).map((one) => one.name).join(' › ')
    ]);
  });
  drawn.canvas.addEventListener('mouseleave', hideTip);
  drawn.canvas.addEventListener('click', (event) => {
    const shape = shapeAt(event);
    if (shape) setFocus([...shape.parents, shape.node].filter((one) => one !== tree));
  });
  find.addEventListener('input', () => drawn.draw());
  const element =
      el('section', {class: 'flame'}, controls, crumbs, el('div', {class: 'flame-box'}, drawn.canvas), note);
  fillControls();
  return {
    element,
    update() {
      if (app.place.find !== '') {
        find.value = app.place.find;
        app.place.find = '';
      }
      const key = `${app.place.device}`;
      if (key !== madeFor) {
        madeFor = key;
        app.draws(make());
      }
      drawn.draw();
    },
    key(event) {
      if (event.key !== 'Escape' || focus.length === 0) return false;
      setFocus(focus.slice(0, -1));
      return true;
    },
  };
}
