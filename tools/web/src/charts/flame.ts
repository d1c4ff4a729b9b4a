// The flame graph: a tree of bytes, with a choice of the tree and of the bytes, a focus and a search.
import {surface} from '../drawing/canvas';
import {changeColour} from '../drawing/colours';
import {choice, el, hideTip, replaceContent, showTip} from '../drawing/element';
import {formatBytes, formatCount, formatMoment, formatShare} from '../drawing/units';
import type {App, FlameBy} from '../report/app';
import {
  addGrowth,
  callerTree,
  changeOf,
  comparedTree,
  type FlameTree,
  kMeasures,
  type Measure,
  moduleTree,
  type Node,
  nodesAt,
  rangeTree
} from '../report/flame_tree';
import type {View} from '../report/view';
import {momentOf} from './chips';
import {changeText, colourOf, legendOfKinds, matcher, paintShapes, rowHeight, type Shape, shapesOf} from './flame_picture';

const kAbove = 330;  // pixels of the window that the graph leaves to what is above and below it
const kLeastHeight = 120;

const kTrees: {value: FlameBy; text: string; make: (app: App) => Promise<FlameTree>}[] = [
  {value: 'modules', text: 'modules › operators', make: moduleTree},
  {value: 'ranges', text: 'operators and ranges by nesting', make: rangeTree},
  {value: 'callers', text: 'Python lines by caller', make: callerTree},
];

class FlameView implements View {
  readonly element: HTMLElement;
  private by: FlameBy;      // the tree that is shown
  private compares = true;  // unless other bytes were chosen
  private measure: Measure;
  private tree: Node|undefined;
  private between = {from: 0, to: 0};  // ns
  private focus: Node[] = [];          // from the root down
  private shapes: Shape[] = [];
  private row = 0;  // pixels
  private madeFor = '';
  private focusedFor = '';
  private asked = 0;
  private readonly controls = el('div', {class: 'controls'});
  private readonly crumbs = el('div', {class: 'crumbs'});
  private readonly legend = el('div', {class: 'legend'});
  private readonly note = el('p', {class: 'note'});
  private readonly find = el('input', {
    type: 'search',
    class: 'find',
    placeholder: 'search  ( / )',
    'aria-label': 'search the flame graph',
    spellcheck: 'false'
  });
  private readonly drawn = surface('flame graph: bytes by nesting', () => this.layOut(), () => this.paint());

  constructor(private readonly app: App) {
    this.by = app.place.flame;
    this.measure = app.device.hasBefore ? 'either' : 'atPeak';
    this.find.addEventListener('input', () => app.go({find: this.find.value}));
    this.element = el(
        'section', {class: 'flame'}, this.controls, this.crumbs, el('div', {class: 'flame-box'}, this.drawn.canvas),
        this.legend, this.note);
    this.listen();
    this.fillControls();
  }

  private index(): number { return kMeasures.findIndex((one) => one.value === this.measure); }
  private readonly bytes = (node: Node): number => node.sum[this.index()]!;
  private top(): Node { return this.focus[this.focus.length - 1] ?? this.tree!; }

  // Returns the height of the picture.
  private layOut(): number {
    const room = Math.max(kLeastHeight, innerHeight - kAbove);
    if (!this.tree) return room;
    const focus = this.focus.length > 0 ? this.focus : [this.tree];
    this.shapes = shapesOf(focus, this.bytes, this.drawn.canvas.parentElement!.clientWidth);
    const depth = this.shapes.reduce((most, shape) => Math.max(most, shape.depth + 1), 1);
    this.row = rowHeight(depth, room);
    this.drawn.canvas.dataset['row'] = String(this.row);
    return Math.max(kLeastHeight, depth * this.row + 4);
  }

  // Includes narrow nodes that are not drawn; the bytes of a match inside of another match count once.
  private matched(node: Node, isWanted: (node: Node) => boolean): number {
    if (isWanted(node)) return this.bytes(node);
    return [...node.children.values()].reduce((all, one) => all + this.matched(one, isWanted), 0);
  }

  private beginning(): number { return this.app.device.facts.begin_ns - 1; }  // before the first block

  private isExact(ns: number): boolean {
    const {app} = this;
    return app.device.facts.complete || ns === this.beginning() ||
        app.instants().some((instant) => instant.time_ns === ns);
  }

  private textOf({node, depth}: Shape): string {
    if (depth > 0 || this.focus.length > 0) return node.name;
    if (this.measure === 'either') return changeText(node);
    return `${formatBytes(this.bytes(node))} ${kMeasures[this.index()]!.text}`;
  }

  private paint(): void {
    const wanted = this.find.value;
    const compared = (node: Node): string => {
      const {before, now} = changeOf(node);
      return changeColour(before, now);
    };
    paintShapes(this.drawn.context, this.shapes, {
      row: this.row,
      isWanted: wanted === '' ? null : matcher(wanted),
      colour: this.measure === 'either' ? compared : colourOf,
      text: (shape) => this.textOf(shape),
      detail: this.measure === 'either' ? changeText : (node) => formatBytes(this.bytes(node)),
    });
    this.legend.replaceChildren(...(this.measure === 'either' ? [] : legendOfKinds(this.shapes)));
    this.note.textContent = this.noteText(wanted);
  }

  private noteText(wanted: string): string {
    const {app, tree} = this;
    const all = tree ? this.bytes(tree) : 0;
    if (all === 0) return 'Nothing to show: no block has bytes of this kind.';
    if (wanted !== '') {
      const bytes = this.matched(this.top(), matcher(wanted));
      const share = formatShare(bytes, this.bytes(this.top()));
      return `“${wanted}” matches ${formatBytes(bytes)}, ${share} of what is shown.`;
    }
    const {baseline} = app.facts;
    if (this.measure === 'either') {
      return `Red has more than ${baseline!.path}, blue less. The width of an innermost frame is the larger of both. ${
          ''}Click to focus, Escape to go back.${baseline!.notes}`;
    }
    const missing =
        !baseline || app.device.hasBefore ? '' : ` ${baseline.path} has no ${app.device.name} to compare with.`;
    return `${formatBytes(all)} in all. Click to focus, Escape to go back.${this.growthNote()}${missing}`;
  }

  private growthNote(): string {
    if (this.measure !== 'grown') return '';
    return this.isExact(this.between.from) && this.isExact(this.between.to) ?
        ' Blocks that are live at the second instant and were not at the first.' :
        ' Of the blocks that this report has singly: choose two exact instants for all.';
  }

  private fillCrumbs(): void {
    const chain = [this.tree!, ...this.focus].filter((one, i, all) => all.indexOf(one) === i);
    this.crumbs.replaceChildren(
        ...chain.flatMap((one, i) => {
          const button = el('button', {type: 'button', class: 'link'}, el('bdi', {}, one.name));
          button.addEventListener('click', () => this.goTo(chain.slice(1, i + 1)));
          return i === 0 ? [button] : [el('span', {}, '›'), button];
        }),
    );
    this.crumbs.hidden = chain.length < 2;
  }

  private goTo(nodes: Node[]): void { this.app.go({focus: nodes.map((node) => node.name)}); }

  // Focuses what the place names, as far as the tree has it.
  private focusPlace(): void {
    const {app, find, tree} = this;
    const nodes = nodesAt(tree!, app.place.focus);
    this.focus = nodes && nodes.every((node) => this.bytes(node) > 0) ? nodes : [];
    this.fillCrumbs();
    this.drawn.draw();
    // A name that is not found exactly may be a part of a name.
    const last = app.place.focus[app.place.focus.length - 1];
    if (last !== undefined && this.focus.length === 0) find.value = `"${last}"`;
    if (find.value.startsWith('"') && this.matched(tree!, matcher(find.value)) === 0)
      find.value = find.value.replace(/^"(.*)"$/, '$1');
    app.place.found.flame = find.value;
  }

  private async make(): Promise<void> {
    const {app, by, measure, between} = this;
    const mine = ++this.asked;
    const made = measure === 'either' && by !== 'ranges' ? await comparedTree(app, by) :
                                                           await kTrees.find((one) => one.value === by)!.make(app);
    if (measure === 'grown') await addGrowth(app, made, between.from, between.to);
    if (mine !== this.asked) return;
    this.tree = made.root;
    this.focusPlace();
  }

  private instantChoice(label: string, which: 'from'|'to'): HTMLElement {
    const {app, between} = this;
    const offered = new Map([[this.beginning(), 'the beginning']]);
    offered.set(app.place.instant, `the chosen instant, ${formatMoment(app.place.instant)}`);
    for (const instant of app.instants()) offered.set(instant.time_ns, momentOf(instant));
    offered.set(between[which], offered.get(between[which]) ?? formatMoment(between[which]));
    const select =
        el('select', {'aria-label': `instant: ${label}`},
           ...[...offered].sort(([a], [b]) => a - b).map(([ns, text]) => el('option', {value: String(ns)}, text)));
    select.value = String(between[which]);
    select.addEventListener('change', () => {
      between[which] = Number(select.value);
      app.draws(this.make());
    });
    return el('label', {class: 'choice'}, el('span', {class: 'label'}, label), select);
  }

  private fillControls(): void {
    const {app, by} = this;
    if (by === 'ranges' || !app.device.hasBefore) {
      if (this.measure === 'either') this.measure = 'atPeak';
    } else if (this.compares && this.measure === 'atPeak') {
      this.measure = 'either';
    }
    const trees = kTrees.filter((one) => one.value !== 'callers' || app.facts.has_callers);
    const measures = kMeasures.filter((one) => one.value !== 'either' || (by !== 'ranges' && app.device.hasBefore));
    replaceContent(
        this.controls, choice('tree', trees, by, (flame) => app.go({flame, focus: []})),
        choice(
            'bytes', [...measures], this.measure,
            (value) => {
              this.measure = value;
              this.compares = value === 'either';
              this.fillControls();
              app.draws(this.make());
            }),
        ...(this.measure === 'grown' ? [this.instantChoice('from', 'from'), this.instantChoice('to', 'to')] : []),
        this.find,
    );
  }

  private shapeAt(event: MouseEvent): Shape|undefined {
    const box = this.drawn.canvas.getBoundingClientRect();
    const [x, depth] = [event.clientX - box.left, Math.floor((event.clientY - box.top) / this.row)];
    return this.shapes.find((shape) => shape.depth === depth && x >= shape.x && x < shape.x + shape.width);
  }

  private tipLines({node, parents}: Shape): string[] {
    const path = [...parents, node].slice(1).map((one) => one.name).join(' › ');
    if (this.measure === 'either') return [node.name, changeText(node), path];
    const bytes = this.bytes(node);
    const share = formatShare(bytes, this.bytes(this.tree!));
    return [
      node.name,
      `${formatBytes(bytes)} ${kMeasures[this.index()]!.text}, ${share} (${formatCount(bytes)} bytes)`,
      ...kMeasures.filter((one) => one.value !== this.measure && one.value !== 'either')
          .map((one) => `${formatBytes(node.sum[kMeasures.indexOf(one)]!)} ${one.text}`),
      path,
    ];
  }

  private listen(): void {
    const {canvas} = this.drawn;
    canvas.addEventListener('mousemove', (event) => {
      const shape = this.shapeAt(event);
      if (!shape) return hideTip();
      showTip(event, this.tipLines(shape));
    });
    canvas.addEventListener('mouseleave', hideTip);
    canvas.addEventListener('click', (event) => {
      const shape = this.shapeAt(event);
      if (shape) this.goTo([...shape.parents, shape.node].filter((one) => one !== this.tree));
    });
  }

  update(): void {
    const {app, find} = this;
    const {device, flame, focus: path, found} = app.place;
    const wanted = found.flame ?? '';
    if (wanted !== find.value && document.activeElement !== find) find.value = wanted;
    const key = `${device}`;
    const named = path.join('\n');
    if (key !== this.madeFor || flame !== this.by) {
      if (key !== this.madeFor) this.between = {from: this.beginning(), to: app.place.instant};
      this.madeFor = key;
      this.by = flame;
      this.fillControls();
      app.draws(this.make());
    } else if (this.tree && (named !== this.focusedFor || wanted.startsWith('"'))) {
      this.focusPlace();
    }
    this.focusedFor = named;
    this.drawn.draw();
  }

  key(event: KeyboardEvent): boolean {
    if (event.key !== 'Escape' || this.focus.length === 0) return false;
    this.goTo(this.focus.slice(0, -1));
    return true;
  }
}

export const flameView = (app: App): View => new FlameView(app);
