// The flame graph, hanging: each node under the one that it is inside of, as wide as its bytes.
import type {App, FlameBy} from './app';
import {fitted, kFont, surface} from './canvas';
import {momentOf} from './chips';
import {changeColour, inkOn} from './colours';
import {choice, el, hideTip, replaceContent, showTip} from './element';
import {addGrowth, callerTree, changeOf, comparedTree, type FlameTree, kMeasures, type Measure, moduleTree, type Node, nodesAt, rangeTree} from './flame_tree';
import type {View} from './timeline';
import {formatBytes, formatCount, formatMoment, formatShare} from './units';

const kRow = 23;
const kColours: Record<Node['kind'], string[]> = {
  root: ['rgb(120 128 140)'],
  module: ['rgb(64 122 178)', 'rgb(84 140 192)', 'rgb(105 156 203)'],
  operator: ['rgb(226 150 70)', 'rgb(235 168 96)', 'rgb(240 184 122)'],
  function: ['rgb(226 150 70)', 'rgb(235 168 96)', 'rgb(240 184 122)'],
  dispatch: ['rgb(226 150 70)', 'rgb(235 168 96)', 'rgb(240 184 122)'],
  backward: ['rgb(170 92 112)', 'rgb(184 112 130)', 'rgb(197 132 148)'],
  frame: ['rgb(126 108 176)', 'rgb(142 126 188)', 'rgb(158 144 200)'],
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

// "+2.0 GiB: 12.0 GiB, 10.0 GiB before"
function changeText(node: Node): string {
  const {before, now} = changeOf(node);
  const change = now === before ? 'the same' : `${now > before ? '+' : '−'}${formatBytes(Math.abs(now - before))}`;
  return `${change}: ${formatBytes(now)}, ${formatBytes(before)} before`;
}

// In quotes a whole name, else a part of one.
function matcher(text: string): (node: Node) => boolean {
  const whole = /^"(.*)"$/.exec(text)?.[1];
  if (whole !== undefined) return (node) => node.kind !== 'root' && node.name === whole;
  const part = text.toLowerCase();
  return (node) => node.kind !== 'root' && node.name.toLowerCase().includes(part);
}

const kTrees: {value: FlameBy; text: string; make: (app: App) => Promise<FlameTree>}[] = [
  {value: 'modules', text: 'modules › operators', make: moduleTree},
  {value: 'ranges', text: 'operators and ranges by nesting', make: rangeTree},
  {value: 'callers', text: 'Python lines by caller', make: callerTree},
];

export function flameView(app: App): View {
  let by: FlameBy = app.place.flame;  // of the tree that is shown
  let compares = true;  // unless other bytes were chosen
  let measure: Measure = app.device.hasBefore ? 'either' : 'atPeak';
  let tree: Node|undefined;
  let between = {from: 0, to: 0};  // ns
  let focus: Node[] = [];          // from the root down
  let shapes: Shape[] = [];
  let madeFor = '';
  let focusedFor = '';
  let asked = 0;
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

  // Includes narrow nodes that are not drawn; the bytes of a match inside of another match count once.
  const matched = (node: Node, isWanted: (node: Node) => boolean): number =>
      isWanted(node) ? bytes(node) : [...node.children.values()].reduce((all, one) => all + matched(one, isWanted), 0);

  const beginning = (): number => app.device.facts.begin_ns - 1;  // before the first block
  const isExact = (ns: number): boolean =>
      app.device.facts.complete || ns === beginning() || app.instants().some((instant) => instant.time_ns === ns);
  const partial = (): string => measure !== 'grown' ?
      '' :
      isExact(between.from) && isExact(between.to) ?
      ' Blocks that are live at the second instant and were not at the first.' :
      ' Of the blocks that this report has singly: choose two exact instants for all.';
  const missing = (): string => {
    const {baseline} = app.facts;
    return !baseline || app.device.hasBefore ? '' : ` ${baseline.path} has no ${app.device.name} to compare with.`;
  };
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
        const wanted = find.value;
        const isWanted = matcher(wanted);
        for (const shape of shapes) {
          context.globalAlpha = wanted === '' || isWanted(shape.node) ? 1 : 0.28;
          const change = changeOf(shape.node);
          const colour = measure === 'either' ? changeColour(change.before, change.now) : colourOf(shape.node);
          context.fillStyle = colour;
          context.fillRect(shape.x, shape.depth * kRow, Math.max(0.5, shape.width - 1), kRow - 1.5);
          if (shape.width < 24) continue;
          context.fillStyle = inkOn(colour);
          const isTop = shape.depth === 0 && focus.length === 0;
          const name = !isTop      ? shape.node.name :
              measure === 'either' ? changeText(shape.node) :
                                     `${formatBytes(bytes(shape.node))} ${kMeasures[index()]!.text}`;
          context.fillText(fitted(context, name, shape.width - 10), shape.x + 5, shape.depth * kRow + kRow / 2);
        }
        context.globalAlpha = 1;
        const all = tree ? bytes(tree) : 0;
        note.textContent = all === 0 ? 'Nothing to show: no block has bytes of this kind.' :
            wanted === '' && measure === 'either' ?
                                       `Red has more than ${app.facts.baseline!.path}, blue less. The width of an innermost ${
                                           ''}frame is the larger of both. Click to focus, Escape to go back.${
                                           app.facts.baseline!.notes}` :
            wanted === ''            ? `${formatBytes(all)} in all. Click to focus, Escape to go back.${partial()}${missing()}` :
                                       `“${wanted}” matches ${formatBytes(matched(top(), isWanted))}, ${
                                formatShare(matched(top(), isWanted), bytes(top()))} of what is shown.`;
      },
  );

  function fillCrumbs(): void {
    const chain = [tree!, ...focus].filter((one, i, all) => all.indexOf(one) === i);
    crumbs.replaceChildren(
        ...chain.flatMap((one, i) => {
          const button = el('button', {type: 'button', class: 'link'}, el('bdi', {}, one.name));
          button.addEventListener('click', () => goTo(chain.slice(1, i + 1)));
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

  const goTo = (nodes: Node[]): void => app.go({focus: nodes.map((node) => node.name)});

  // Focuses what the place names, as far as the tree has it.
  function focusPlace(): void {
    const nodes = nodesAt(tree!, app.place.focus);
    setFocus(nodes && nodes.every((node) => bytes(node) > 0) ? nodes : []);
    // A name that is not found exactly may be a part of a name.
    const last = app.place.focus[app.place.focus.length - 1];
    if (last !== undefined && focus.length === 0) find.value = `"${last}"`;
    if (find.value.startsWith('"') && matched(tree!, matcher(find.value)) === 0)
      find.value = find.value.replace(/^"(.*)"$/, '$1');
    app.place.found.flame = find.value;
  }

  async function make(): Promise<void> {
    const mine = ++asked;
    const made = measure === 'either' && by !== 'ranges' ? await comparedTree(app, by) :
                                                           await kTrees.find((one) => one.value === by)!.make(app);
    if (measure === 'grown') await addGrowth(app, made, between.from, between.to);
    if (mine !== asked) return;
    tree = made.root;
    focusPlace();
  }

  function instantChoice(label: string, which: 'from'|'to'): HTMLElement {
    const offered = new Map([[beginning(), 'the beginning']]);
    offered.set(app.place.instant, `the chosen instant, ${formatMoment(app.place.instant)}`);
    for (const instant of app.instants()) offered.set(instant.time_ns, momentOf(instant));
    offered.set(between[which], offered.get(between[which]) ?? formatMoment(between[which]));
    const select =
        el('select', {'aria-label': `instant: ${label}`},
           ...[...offered].sort(([a], [b]) => a - b).map(([ns, text]) => el('option', {value: String(ns)}, text)));
    select.value = String(between[which]);
    select.addEventListener('change', () => {
      between[which] = Number(select.value);
      app.draws(make());
    });
    return el('label', {class: 'choice'}, el('span', {class: 'label'}, label), select);
  }

  function fillControls(): void {
    if (by === 'ranges' || !app.device.hasBefore) {
      if (measure === 'either') measure = 'atPeak';
    } else if (compares && measure === 'atPeak') {
      measure = 'either';
    }
    replaceContent(
        controls,
        choice(
            'tree', kTrees.filter((one) => one.value !== 'callers' || app.facts.has_callers), by,
            (flame) => app.go({flame, focus: []})),
        choice(
            'bytes',
            kMeasures.filter((one) => one.value !== 'either' || (by !== 'ranges' && app.device.hasBefore)), measure,
            (value) => {
              measure = value;
              compares = value === 'either';
              fillControls();
              app.draws(make());
            }),
        ...(measure === 'grown' ? [instantChoice('from', 'from'), instantChoice('to', 'to')] : []),
        find,
    );
  }

  const pathOf = ({parents, node}: Shape): string => [...parents, node].slice(1).map((one) => one.name).join(' › ');
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
    if (measure === 'either') return showTip(event, [node.name, changeText(node), pathOf(shape)]);
    showTip(event, [
      node.name,
      `${formatBytes(bytes(node))} ${kMeasures[index()]!.text}, ${formatShare(bytes(node), all)} (${
          formatCount(bytes(node))} bytes)`,
      ...kMeasures.filter((one) => one.value !== measure && one.value !== 'either')
          .map((one) => `${formatBytes(node.sum[kMeasures.indexOf(one)]!)} ${one.text}`),
      pathOf(shape),
    ]);
  });
  drawn.canvas.addEventListener('mouseleave', hideTip);
  drawn.canvas.addEventListener('click', (event) => {
    const shape = shapeAt(event);
    if (shape) goTo([...shape.parents, shape.node].filter((one) => one !== tree));
  });
  find.addEventListener('input', () => app.go({find: find.value}));
  const element =
      el('section', {class: 'flame'}, controls, crumbs, el('div', {class: 'flame-box'}, drawn.canvas), note);
  fillControls();
  return {
    element,
    update() {
      const {device, flame, focus: path, found} = app.place;
      const wanted = found.flame ?? '';
      if (wanted !== find.value && document.activeElement !== find) find.value = wanted;
      const key = `${device}`;
      const named = path.join('\n');
      if (key !== madeFor || flame !== by) {
        if (key !== madeFor) between = {from: beginning(), to: app.place.instant};
        madeFor = key;
        by = flame;
        fillControls();
        app.draws(make());
      } else if (tree && (named !== focusedFor || wanted.startsWith('"'))) {
        focusPlace();
      }
      focusedFor = named;
      drawn.draw();
    },
    key(event) {
      if (event.key !== 'Escape' || focus.length === 0) return false;
      goTo(focus.slice(0, -1));
      return true;
    },
  };
}
