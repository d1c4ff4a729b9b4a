// Every block as a band over its life: compacted, or at its address.
import {byteTicks, kFont, surface, timeTicks} from '../drawing/canvas';
import {variable} from '../drawing/colours';
import {choice, el, hideTip, replaceContent, showTip} from '../drawing/element';
import {formatBytes, formatCount, formatMoment} from '../drawing/units';
import type {App} from '../report/app';
import type {Blocks} from '../report/device';
import {type Labels, labelsOf, legendOf} from '../report/labels';
import {callersText, pathText} from '../report/paths';
import type {View} from '../report/view';
import {addressedBlocks} from './addressed_blocks';
import {type BlockFrame, type BlockLayout, xOf, yOf} from './block_layout';
import {CompactedBlocks} from './compacted_blocks';
import {lifeText} from './instant';

type Mode = 'compacted'|'addresses';

const kLeft: Record<Mode, number> = {compacted: 78, addresses: 118};
const kBottom = 22;
const kRoomAbove = 1.02;
const kModes: Record<Mode, {axis: string; note: string}> = {
  compacted: {
    axis: 'y axis: allocated bytes',
    note: 'The oldest block is at the bottom. A band falls when a block below it is freed.'
  },
  addresses: {
    axis: 'y axis: addresses, without the gaps between segments',
    note: 'A band stays at its address; the space between the bands is free.'
  },
};

class BlocksView implements View {
  readonly element: HTMLElement;
  private readonly controls = el('div', {class: 'controls'});
  private readonly axis = el('p', {class: 'note axis'});
  private readonly note = el('p', {class: 'note below-blocks'});
  private readonly details = el('div', {class: 'details'});
  private readonly legend = el('div', {class: 'legend'});
  private readonly canvas = surface(
      'blocks as bands over their lives', () => Math.max(320, innerHeight - 350), () => this.paint());
  private mode: Mode = 'compacted';
  private blocks: Blocks|undefined;
  private layout: BlockLayout|undefined;
  private labels: Labels|undefined;
  private madeFor = '';
  private vertical: {low: number; high: number}|null = null;  // bytes; null: all bands between the times that are shown
  private chosen = -1;
  private asked = 0;  // of several calls only the last is shown
  private down: {x: number; y: number; moved: boolean}|undefined;

  constructor(private readonly app: App) {
    this.element = el(
        'section', {class: 'blocks'}, this.controls, this.axis, el('div', {class: 'canvas-box'}, this.canvas.canvas),
        this.legend, this.note, this.details);
    this.listen();
  }

  private frame(): BlockFrame {
    const {from, to} = this.app.place;
    const left = kLeft[this.mode];
    const [width, height] = [Math.max(1, this.canvas.width - left), Math.max(1, this.canvas.height - kBottom)];
    const high = kRoomAbove * Math.max(1, this.layout?.topBetween(from, to, width) ?? 1);
    return {from, to, left, width, height, low: 0, high, ...this.vertical};
  }

  private paintAxes(frame: BlockFrame): void {
    const {context, width, height} = this.canvas;
    const {low, high, from, to, left} = frame;
    context.font = kFont;
    context.textBaseline = 'middle';
    context.strokeStyle = variable('--grid');
    context.fillStyle = variable('--ink-soft');
    context.textAlign = 'right';
    for (const bytes of byteTicks(high - low, 7)) {
      const at = yOf(frame, low + bytes);
      context.strokeRect(left, at, width, 0);
      context.fillText(this.layout!.tickText(low + bytes), left - 8, Math.max(8, at));
    }
    context.textAlign = 'center';
    for (const tick of timeTicks(from, to, width / 130)) {
      const text = formatMoment(tick.ns, tick.step);
      const half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(xOf(frame, tick.ns), width - half), height - 9);
    }
    context.textAlign = 'left';
  }

  private paint(): void {
    const {blocks, layout, labels} = this;
    if (!blocks || !layout || !labels) return;
    const {context, height} = this.canvas;
    const frame = this.frame();
    this.paintAxes(frame);
    context.save();
    context.beginPath();
    context.rect(frame.left, 0, frame.width, frame.height);
    context.clip();
    const column = blocks.labels[labels.word]!;
    const colourOf = (block: number): string => labels.colour(column[block]!);
    layout.paint(frame, {context, colourOf, chosen: this.chosen, edge: variable('--ink')});
    context.fillStyle = variable('--accent');
    context.fillRect(xOf(frame, this.app.place.instant), 0, 1.5, height);
    context.restore();
  }

  private blockAt(event: MouseEvent): number {
    if (!this.layout) return -1;
    const frame = this.frame();
    const box = this.canvas.canvas.getBoundingClientRect();
    const ns = frame.from + ((event.clientX - box.left - frame.left) / frame.width) * (frame.to - frame.from);
    const bytes = frame.low + (1 - (event.clientY - box.top) / frame.height) * (frame.high - frame.low);
    return ns < frame.from || bytes < frame.low ? -1 : this.layout.blockAt(frame, ns, bytes);
  }

  private linesOf(block: number): [string, string] {
    const blocks = this.blocks!;
    const {by} = this.app.place;
    const name = this.labels!.names[blocks.labels[by]![block]!] ?? '';
    const begin = `${blocks.before[block] === 1 ? 'before ' : ''}${formatMoment(blocks.begin[block]!, 1e3)}`;
    return [`${formatBytes(blocks.bytes[block]!)} ${name}`, `from ${begin}, lives ${lifeText(blocks, block)}`];
  }

  private async showDetails(): Promise<void> {
    const {app, blocks, chosen: block} = this;
    if (block < 0 || !blocks) return this.details.replaceChildren();
    const names = await app.device.labels();
    const tree = await app.device.paths();
    const callers = await app.device.callers();
    if (blocks !== this.blocks || block !== this.chosen) return;
    const row = (name: string, value: string): HTMLElement =>
        el('tr', {}, el('th', {scope: 'row'}, name), el('td', {}, el('bdi', {}, value)));
    const at = el('button', {type: 'button'}, 'what was live when it was allocated');
    at.addEventListener('click', () => app.go({view: 'timeline', instant: blocks.begin[block]!}));
    const [title, life] = this.linesOf(block);
    const groupings = app.groupings().map(
        ({one, word}) => row(one, names[word]?.[blocks.labels[word]![block]!] ?? ''));
    this.details.replaceChildren(
        el('h3', {}, title),
        el('table', {class: 'plain'},
           el('tbody', {}, row('bytes', formatCount(blocks.bytes[block]!)), row('life', life), ...groupings,
              row('allocated in', pathText(app, tree, blocks.path[block]!, 12)),
              row('Python callers', callersText(callers, names['frames'] ?? [], blocks.caller[block]!)),
              row('address', `0x${blocks.address[block]!.toString(16)}`))),
        at,
    );
  }

  // `times` < 1: nearer. `xShare`, `yShare`: what stays where it is.
  private zoom(times: number, xShare: number, yShare: number, both: boolean): void {
    const whole = this.app.whole();
    const {from, to} = this.app.place;
    const span = Math.min(whole.to - whole.from, Math.max(1000, (to - from) * times));
    const begin = Math.min(Math.max(whole.from, from + xShare * (to - from - span)), whole.to - span);
    if (both && this.layout) {
      const {low, high} = this.frame();
      const top = this.layout.top * kRoomAbove;
      const tall = Math.min(top, (high - low) * times);
      const bottom = Math.min(Math.max(0, low + yShare * (high - low - tall)), top - tall);
      this.vertical = tall >= top ? null : {low: bottom, high: bottom + tall};
    }
    this.app.go({from: begin, to: begin + span});
  }

  private move(x: number, y: number): void {
    const whole = this.app.whole();
    const {from, to} = this.app.place;
    const begin = Math.min(Math.max(whole.from, from + x * (to - from)), Math.max(whole.from, whole.to - (to - from)));
    if (this.vertical && this.layout) {
      const {low, high} = this.vertical;
      const bottom = Math.max(0, Math.min(this.layout.top * kRoomAbove - (high - low), low + y * (high - low)));
      this.vertical = {low: bottom, high: bottom + high - low};
    }
    this.app.go({from: begin, to: begin + to - from});
  }

  private readonly whole = (): void => {
    this.vertical = null;
    this.app.wholeTime();
  };

  private listen(): void {
    const {canvas} = this.canvas;
    canvas.addEventListener('mousedown', (event) => (this.down = {x: event.clientX, y: event.clientY, moved: false}));
    addEventListener('mouseup', () => (this.down = undefined));
    canvas.addEventListener('mousemove', (event) => this.pointerMoved(event));
    canvas.addEventListener('mouseleave', hideTip);
    canvas.addEventListener('mouseup', (event) => {
      if (this.down?.moved) return;
      this.chosen = this.blockAt(event);
      this.canvas.draw();
      this.app.draws(this.showDetails());
    });
    canvas.addEventListener('dblclick', this.whole);
    canvas.addEventListener(
        'wheel',
        (event) => {
          event.preventDefault();
          const box = canvas.getBoundingClientRect();
          const {left, width, height} = this.frame();
          this.zoom(
              event.deltaY > 0 ? 1.3 : 1 / 1.3, (event.clientX - box.left - left) / width,
              1 - (event.clientY - box.top) / height, !event.shiftKey);
        },
        {passive: false},
    );
  }

  private pointerMoved(event: MouseEvent): void {
    const {down} = this;
    if (down && (down.moved || Math.hypot(event.clientX - down.x, event.clientY - down.y) > 4)) {
      const {width, height} = this.frame();
      this.move((down.x - event.clientX) / width, (event.clientY - down.y) / height);
      this.down = {x: event.clientX, y: event.clientY, moved: true};
      return hideTip();
    }
    const block = this.blockAt(event);
    if (block < 0) return hideTip();
    showTip(event, this.linesOf(block));
  }

  private async nameColours(asked: number): Promise<void> {
    const named = await labelsOf(this.app, this.app.place.by);
    const entries = await legendOf(this.app, named);
    if (asked !== this.asked) return;
    this.labels = named;
    this.legend.replaceChildren(...entries);
    this.canvas.draw();
  }

  private async make(key: string): Promise<void> {
    const asked = ++this.asked;
    const {app, mode} = this;
    if (key !== this.madeFor) {
      const blocks = await app.device.blocks();
      const {from, to} = app.whole();
      const layout = mode === 'compacted' ? new CompactedBlocks(blocks, from, to) : await addressedBlocks(app.device);
      if (asked !== this.asked) return;
      if (blocks !== this.blocks) this.chosen = -1;
      [this.blocks, this.layout, this.madeFor, this.vertical] = [blocks, layout, key, null];
      this.describe();
      app.draws(this.showDetails());
    }
    await this.nameColours(asked);
  }

  private describe(): void {
    const {count} = this.layout!;
    const {all_blocks} = this.app.device.facts;
    const {axis, note} = kModes[this.mode];
    this.axis.textContent = axis;
    this.note.textContent = count < all_blocks ?
        `The ${formatCount(count)} bands that take most room, of ${formatCount(all_blocks)} blocks. ${note}` :
        `All ${formatCount(all_blocks)} blocks. ${note}`;
  }

  private fillControls(): void {
    const {app} = this;
    const button = el('button', {type: 'button', title: `all of ${app.span} (0)`}, 'whole');
    button.addEventListener('click', this.whole);
    const modes = [{value: 'compacted' as const, text: 'compacted'}, {value: 'addresses' as const, text: 'addresses'}];
    const groupings = app.groupings().filter((grouping) => grouping.stacked);
    replaceContent(
        this.controls,
        choice('layout', modes, this.mode, (mode) => {
          this.mode = mode;
          this.update();
        }),
        choice(
            'colour by', groupings.map((grouping) => ({value: grouping.word, text: grouping.one})), app.place.by,
            (by) => app.go({by})),
        el('div', {class: 'zoom'}, button),
        el('span', {class: 'hint'}, 'scroll to zoom (shift: time alone) · drag to move · click for a block'));
  }

  update(): void {
    this.fillControls();
    this.app.draws(this.make(`${this.app.place.device} ${this.mode}`));
  }

  key(event: KeyboardEvent): boolean {
    const acts: Record<string, () => void> = {
      '+': () => this.zoom(1 / 1.4, 0.5, 0.5, true),
      '=': () => this.zoom(1 / 1.4, 0.5, 0.5, true),
      '-': () => this.zoom(1.4, 0.5, 0.5, true),
      '0': this.whole,
      ArrowLeft: () => this.move(-0.15, 0),
      ArrowRight: () => this.move(0.15, 0),
      ArrowUp: () => this.move(0, 0.15),
      ArrowDown: () => this.move(0, -0.15)
    };
    const act = acts[event.key];
    act?.();
    return act !== undefined;
  }
}

export const blocksView = (app: App): View => new BlocksView(app);
