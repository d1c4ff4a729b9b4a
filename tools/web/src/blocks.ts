// Every block as a band over its life.
import type {App} from './app';
import {type Lanes, layLanes} from './block_lanes';
import {byteTicks, kFont, surface, timeTicks} from './canvas';
import {variable} from './colours';
import type {Blocks} from './device';
import {choice, el, hideTip, replaceContent, showTip} from './element';
import {lifeText} from './instant';
import {type Labels, labelsOf, legendOf} from './labels';
import {callersText, pathText} from './paths';
import type {View} from './timeline';
import {formatBytes, formatCount, formatMoment} from './units';

const kLeft = 78;
const kBottom = 22;
const kMostBands = 60_000;

interface Drawn {
  blocks: Blocks;
  which: Uint32Array;
  lanes: Lanes;
}

async function layOut(app: App): Promise<Drawn> {
  const blocks = await app.device.blocks();
  const end = app.device.facts.end_ns;
  const area = (i: number): number => blocks.bytes[i]! * (Math.min(blocks.end[i]!, end) - blocks.begin[i]!);
  let which = Uint32Array.from({length: blocks.count}, (_, i) => i);
  if (which.length > kMostBands) which = which.sort((a, b) => area(b) - area(a)).slice(0, kMostBands).sort();
  return {blocks, which, lanes: layLanes(which, blocks.begin, blocks.end, blocks.bytes)};
}

export function blocksView(app: App): View {
  const controls = el('div', {class: 'controls'});
  const note = el('p', {class: 'note'});
  const details = el('div', {class: 'details'});
  const legend = el('div', {class: 'legend'});
  let drawn: Drawn|undefined;
  let labels: Labels|undefined;
  let madeFor = '';
  let low = 0;  // bytes, of what is shown
  let high = 1;
  let chosen = -1;  // place in drawn.which
  let asked = 0;    // of several calls only the last is shown

  const canvas = surface(
      'blocks as bands over their lives', () => Math.max(320, innerHeight - 330), ({context, width, height}) => {
        if (!drawn || !labels) return;
        const {blocks, which, lanes} = drawn;
        const {from, to, by} = app.place;
        const x = (ns: number): number => kLeft + ((ns - from) / (to - from)) * (width - kLeft);
        const y = (bytes: number): number => (1 - (bytes - low) / (high - low)) * (height - kBottom);
        context.font = kFont;
        context.textBaseline = 'middle';
        context.strokeStyle = variable('--grid');
        context.fillStyle = variable('--ink-soft');
        context.textAlign = 'right';
        for (const bytes of byteTicks(high - low, 7)) {
          const at = y(low + bytes);
          context.strokeRect(kLeft, at, width, 0);
          context.fillText(formatBytes(low + bytes), kLeft - 8, Math.max(8, at));
        }
        context.textAlign = 'center';
        for (const tick of timeTicks(from, to, width / 130)) {
          const text = formatMoment(tick.ns, tick.step);
          const half = context.measureText(text).width / 2;
          context.fillText(text, Math.min(x(tick.ns), width - half), height - 9);
        }
        context.textAlign = 'left';
        context.save();
        context.beginPath();
        context.rect(kLeft, 0, width - kLeft, height - kBottom);
        context.clip();
        const column = blocks.labels[by]!;
        let filled = '';
        for (let i = 0; i < which.length; ++i) {
          const block = which[i]!;
          if (blocks.begin[block]! > to) break;
          if (blocks.end[block]! < from) continue;
          const top = y(lanes.offset[i]! + blocks.bytes[block]!);
          const bottom = y(lanes.offset[i]!);
          if (bottom < 0 || top > height) continue;
          const left = Math.max(kLeft - 2, x(blocks.begin[block]!));
          const right = Math.min(width + 2, x(blocks.end[block]!));
          const colour = labels.colour(column[block]!);
          if (colour !== filled) context.fillStyle = filled = colour;
          const gap = bottom - top > 3 ? 0.8 : 0;
          context.fillRect(
              left, top, Math.max(0.7, right - left - (right - left > 4 ? 0.8 : 0)), Math.max(0.7, bottom - top - gap));
          if (i !== chosen) continue;
          context.strokeStyle = variable('--ink');
          context.lineWidth = 2;
          context.strokeRect(left, top, Math.max(2, right - left), Math.max(2, bottom - top));
          context.lineWidth = 1;
        }
        const at = x(app.place.instant);
        context.fillStyle = variable('--accent');
        context.fillRect(at, 0, 1.5, height);
        context.restore();
      });

  const bandAt = (event: MouseEvent): number => {
    if (!drawn) return -1;
    const box = canvas.canvas.getBoundingClientRect();
    const {from, to} = app.place;
    const ns = from + ((event.clientX - box.left - kLeft) / (canvas.width - kLeft)) * (to - from);
    const bytes = low + (1 - (event.clientY - box.top) / (canvas.height - kBottom)) * (high - low);
    const slack = (to - from) / canvas.width;
    for (let i = drawn.which.length - 1; i >= 0; --i) {
      const block = drawn.which[i]!;
      const offset = drawn.lanes.offset[i]!;
      if (bytes >= offset && bytes < offset + drawn.blocks.bytes[block]! && ns >= drawn.blocks.begin[block]! - slack &&
          ns <= drawn.blocks.end[block]! + slack)
        return i;
    }
    return -1;
  };

  const linesOf = (i: number): string[] => {
    const {blocks, which} = drawn!;
    const block = which[i]!;
    return [
      `${formatBytes(blocks.bytes[block]!)} ${labels!.names[blocks.labels[app.place.by]![block]!] ?? ''}`,
      `from ${blocks.before[block] === 1 ? 'before ' : ''}${formatMoment(blocks.begin[block]!, 1e3)}, lives ${
          lifeText(blocks, block)}`
    ];
  };

  async function showDetails(): Promise<void> {
    if (chosen < 0 || !drawn) return details.replaceChildren();
    const [shown, band] = [drawn, chosen];
    const {blocks, which} = shown;
    const block = which[band]!;
    const names = await app.device.labels();
    const tree = await app.device.paths();
    const callers = await app.device.callers();
    if (shown !== drawn || band !== chosen) return;
    const row = (name: string, value: string): HTMLElement =>
        el('tr', {}, el('th', {scope: 'row'}, name), el('td', {}, el('bdi', {}, value)));
    const at = el('button', {type: 'button'}, 'what was live when it was allocated');
    at.addEventListener('click', () => app.go({view: 'timeline', instant: blocks.begin[block]!}));
    details.replaceChildren(
        el('h3', {}, linesOf(band)[0]!),
        el('table', {class: 'plain'},
           el('tbody', {}, row('bytes', formatCount(blocks.bytes[block]!)), row('life', linesOf(band)[1]!),
              ...app.groupings().map(
                  (grouping) => row(grouping.one, names[grouping.word]?.[blocks.labels[grouping.word]![block]!] ?? '')),
              row('allocated in', pathText(app, tree, blocks.path[block]!, 12)),
              row('Python callers', callersText(callers, names['frames'] ?? [], blocks.caller[block]!)),
              row('address', `0x${blocks.address[block]!.toString(16)}`))),
        at,
    );
  }

  const zoom = (times: number, xShare: number, yShare: number, both: boolean): void => {
    const {begin_ns, end_ns} = app.device.facts;
    const whole = Math.max(end_ns - begin_ns, 1000);
    const {from, to} = app.place;
    const span = Math.min(whole, Math.max(1000, (to - from) * times));
    const begin = Math.min(Math.max(begin_ns, from + xShare * (to - from - span)), begin_ns + whole - span);
    if (both && drawn) {
      const tall = Math.min(drawn.lanes.height * 1.02, (high - low) * times);
      low = Math.min(Math.max(0, low + yShare * (high - low - tall)), drawn.lanes.height * 1.02 - tall);
      high = low + tall;
    }
    app.go({from: begin, to: begin + span});
  };

  const move = (x: number, y: number): void => {
    const {begin_ns, end_ns} = app.device.facts;
    const {from, to} = app.place;
    const span = to - from;
    const begin =
        Math.min(Math.max(begin_ns, from + x * span), Math.max(begin_ns, Math.max(end_ns, begin_ns + 1000) - span));
    const tall = high - low;
    low = Math.max(0, Math.min((drawn?.lanes.height ?? 1) * 1.02 - tall, low + y * tall));
    high = low + tall;
    app.go({from: begin, to: begin + span});
  };

  let down: {x: number; y: number; moved: boolean}|undefined;
  const surfaceCanvas = canvas.canvas;
  surfaceCanvas.addEventListener('mousedown', (event) => (down = {x: event.clientX, y: event.clientY, moved: false}));
  addEventListener('mouseup', () => (down = undefined));
  surfaceCanvas.addEventListener('mousemove', (event) => {
    if (down && (down.moved || Math.hypot(event.clientX - down.x, event.clientY - down.y) > 4)) {
      move((down.x - event.clientX) / (canvas.width - kLeft), (event.clientY - down.y) / (canvas.height - kBottom));
      down = {x: event.clientX, y: event.clientY, moved: true};
      return hideTip();
    }
    const band = bandAt(event);
    if (band < 0) return hideTip();
    showTip(event, linesOf(band));
  });
  surfaceCanvas.addEventListener('mouseleave', hideTip);
  surfaceCanvas.addEventListener('mouseup', (event) => {
    if (down?.moved) return;
    chosen = bandAt(event);
    canvas.draw();
    app.draws(showDetails());
  });
  surfaceCanvas.addEventListener('dblclick', () => whole());
  surfaceCanvas.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        const box = surfaceCanvas.getBoundingClientRect();
        zoom(
            event.deltaY > 0 ? 1.3 : 1 / 1.3, (event.clientX - box.left - kLeft) / (canvas.width - kLeft),
            1 - (event.clientY - box.top) / (canvas.height - kBottom), !event.shiftKey);
      },
      {passive: false},
  );

  function whole(): void {
    low = 0;
    high = Math.max(1, (drawn?.lanes.height ?? 1) * 1.02);
    app.wholeTime();
  }

  async function nameColours(): Promise<void> {
    const mine = ++asked;
    const named = await labelsOf(app, app.place.by);
    const entries = await legendOf(app, named);
    if (mine !== asked) return;
    labels = named;
    legend.replaceChildren(...entries);
    canvas.draw();
  }

  async function make(key: string): Promise<void> {
    const mine = ++asked;
    const laid = await layOut(app);
    const named = await labelsOf(app, app.place.by);
    const entries = await legendOf(app, named);
    if (mine !== asked) return;
    madeFor = key;
    drawn = laid;
    labels = named;
    legend.replaceChildren(...entries);
    low = 0;
    high = Math.max(1, drawn.lanes.height * 1.02);
    const {facts} = app.device;
    note.textContent = drawn.which.length < facts.all_blocks ?
        `The ${formatCount(drawn.which.length)} bands that take most room, of ${
            formatCount(
                facts.all_blocks)} blocks. A band stays at its height; the space below it is freed memory.` :
        `All ${
            formatCount(
                facts.all_blocks)} blocks. A band stays at its height; the space below it is freed memory.`;
    chosen = -1;
    canvas.draw();
    app.draws(showDetails());
  }

  const element = el(
      'section', {class: 'blocks'}, controls, el('div', {class: 'canvas-box'}, canvas.canvas), legend, note, details);
  return {
    element,
    update() {
      const groupings = app.groupings().filter((grouping) => grouping.stacked);
      const button = el('button', {type: 'button', title: `all of ${app.span} (0)`}, 'whole');
      button.addEventListener('click', whole);
      replaceContent(
          controls,
          choice(
              'colour by', groupings.map((grouping) => ({value: grouping.word, text: grouping.one})), app.place.by,
              (by) => app.go({by})),
          el('div', {class: 'zoom'}, button),
          el('span', {class: 'hint'}, 'scroll to zoom (shift: time alone) · drag to move · click for a block'));
      const key = `${app.place.device}`;
      app.draws(key === madeFor ? nameColours() : make(key));
    },
    key(event) {
      const acts: Record<string, () => void> = {
        '+': () => zoom(1 / 1.4, 0.5, 0.5, true),
        '=': () => zoom(1 / 1.4, 0.5, 0.5, true),
        '-': () => zoom(1.4, 0.5, 0.5, true),
        '0': whole,
        ArrowLeft: () => move(-0.15, 0),
        ArrowRight: () => move(0.15, 0),
        ArrowUp: () => move(0, 0.15),
        ArrowDown: () => move(0, -0.15)
      };
      const act = acts[event.key];
      act?.();
      return act !== undefined;
    },
  };
}
