// Ranks, or the devices of one process, over time: all in one chart, and each in a separate row with the median of all.
// A click shows the rank at that instant.
import {byteTicks, kFont, surface, type Surface, timeTicks} from '../drawing/canvas';
import {rowColour, variable} from '../drawing/colours';
import {choice, el, hideTip, replaceContent, showTip} from '../drawing/element';
import {formatBytes, formatCount, formatMoment, formatTick, plural} from '../drawing/units';
import type {App} from '../report/app';
import {type Alignment, hasSteps, kindsOf, nounOf, type RankCurve, rankCurves, type RankCurves, wholeOf} from '../report/rank_curves';
import type {View} from '../report/view';

const kLeft = 78;
const kAxis = 22;
const kMostRows = 128;
const kColours = [0, 1, 2, 4, 5, 6, 9, 8];  // of a few lines, each its own; of none that stands out, which are red

// Of very many those that are furthest from the median. Of many those that stand out come first.
function chosenOf(ranks: RankCurve[]): RankCurve[] {
  if (ranks.length <= kColours.length) return ranks;
  const far = [...ranks].sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference)).slice(0, kMostRows);
  const kept = new Set(far);
  const shown = ranks.filter((rank) => kept.has(rank));
  return [...shown.filter((rank) => rank.odd), ...shown.filter((rank) => !rank.odd)];
}

const signed = (bytes: number): string => `${formatBytes(Math.abs(bytes))} ${bytes < 0 ? 'below' : 'above'}`;

function strokeCells(
    {context}: Surface, values: (number|null)[], x: (cell: number) => number, y: (bytes: number) => number): void {
  context.beginPath();
  let open = false;
  values.forEach((bytes, cell) => {
    if (bytes === null) return (open = false);
    context[open ? 'lineTo' : 'moveTo'](x(cell), y(bytes));
    context.lineTo(x(cell + 1), y(bytes));
    return (open = true);
  });
  context.stroke();
}

export function ranksView(app: App): View {
  const kinds = kindsOf(app);
  let kind = [...kinds.keys()].find((one) => one !== 'cpu') ?? [...kinds.keys()][0] ?? '';
  let devices = kinds.get(kind) ?? [];
  let align: Alignment = hasSteps(devices) ? 'step' : 'time';
  let {from, to} = wholeOf(devices, align);
  let curves: RankCurves|undefined;
  let shown: RankCurve[] = [];  // of them
  let asked = 0;
  const controls = el('div', {class: 'controls'});
  const note = el('p', {class: 'note'});
  const rows = el('div', {class: 'ranks-rows'});
  const few = (): boolean => shown.length <= kColours.length;
  const colourOf = (rank: RankCurve): string => rank.odd ? variable('--bad') :
      few()                                              ? rowColour(kColours[shown.indexOf(rank)]!) :
                                                           variable('--ink-soft');
  const moment = (share: number): string => align === 'step' ?
      `in step\u00a0${formatCount(Math.floor(from + (to - from) * share + 1e-9))}` :
      `at ${formatMoment(from + (to - from) * share, 10 ** Math.floor(Math.log10((to - from) / 100)))}`;
  const shareOf = (cell: number): number => cell / curves!.median.length;

  const cellAt = (drawn: Surface, event: MouseEvent): number|null => {
    const share = (event.clientX - drawn.canvas.getBoundingClientRect().left - kLeft) / (drawn.width - kLeft);
    return curves && share >= 0 && share < 1 ? Math.floor(share * curves.median.length) : null;
  };
  const open = (rank: RankCurve, ns: number|undefined): void =>
      app.go({device: rank.device.number, view: 'timeline', instant: ns ?? rank.furthestNs});

  function drawAxis({context, width, height}: Surface): void {
    const x = (at: number): number => kLeft + ((at - from) / (to - from)) * (width - kLeft);
    context.fillStyle = variable('--ink-soft');
    context.textAlign = 'center';
    for (const tick of timeTicks(from, to, width / 130)) {
      if (align === 'step' && !Number.isInteger(tick.ns)) continue;
      const text = align === 'step' ? `step ${formatCount(tick.ns)}` : formatMoment(tick.ns, tick.step);
      const half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(Math.max(x(tick.ns), kLeft + half), width - half), height - kAxis / 2);
    }
    context.textAlign = 'left';
  }

  const allHeight = (): number => Math.max(240, Math.min(420, innerHeight * 0.3));
  const all = surface('allocated bytes of all of them over time', allHeight, (drawn) => {
    if (!curves) return;
    const {context, width, height} = drawn;
    const x = (cell: number): number => kLeft + (cell / curves!.median.length) * (width - kLeft);
    const y = (bytes: number): number => 6 + (1 - bytes / curves!.most) * (height - kAxis - 8);
    context.font = kFont;
    context.textBaseline = 'middle';
    context.strokeStyle = variable('--grid');
    context.textAlign = 'right';
    context.fillStyle = variable('--ink-soft');
    for (const bytes of byteTicks(curves.most, 5)) {
      context.strokeRect(kLeft, y(bytes), width - kLeft, 0);
      context.fillText(formatTick(bytes), kLeft - 8, y(bytes));
    }
    drawAxis(drawn);
    const sorted = [...shown].sort((a, b) => Math.abs(a.difference) - Math.abs(b.difference));
    for (const rank of sorted) {
      context.strokeStyle = colourOf(rank);
      context.lineWidth = rank.odd ? 2.2 : few() ? 1.6 : 1;
      context.globalAlpha = rank.odd || few() ? 1 : 0.6;
      strokeCells(drawn, rank.bytes, x, y);
    }
    context.globalAlpha = 1;
    context.lineWidth = 1;
    sorted.filter((rank) => rank.odd).slice(-4).forEach((rank) => {
      const text = rank.device.name;
      const cell = Math.min(rank.bytes.length - 1, Math.floor(rank.furthest * rank.bytes.length));
      const at = Math.min(x(cell) + 4, width - context.measureText(text).width - 4);
      const line = Math.max(8, y(rank.bytes[cell] ?? 0) - 8);
      context.fillStyle = variable('--surface');
      context.globalAlpha = 0.85;
      context.fillRect(at - 3, line - 7, context.measureText(text).width + 6, 14);
      context.globalAlpha = 1;
      context.fillStyle = variable('--bad');
      context.fillText(text, at, line);
    });
  });

  // Of two the median is in the middle between them.
  const compared = (bytes: number): string => `${shown.length === 2 ? signed(2 * bytes) : signed(bytes)} ${than()}`;
  const than = (): string => (shown.length === 2 ? 'the other' : 'the median');

  function rowOf(rank: RankCurve): {element: HTMLElement; drawn: Surface} {
    const drawn = surface(
        `allocated bytes of ${rank.device.name} over time`,
        () => Math.max(34, Math.min(160, (innerHeight - allHeight() - 240) / Math.max(1, shown.length))), (made) => {
          const {context, width, height} = made;
          const x = (cell: number): number => kLeft + (cell / curves!.median.length) * (width - kLeft);
          const y = (bytes: number): number => 2 + (1 - bytes / curves!.most) * (height - 4);
          context.fillStyle = variable('--raised');
          context.fillRect(kLeft, 0, width - kLeft, height);
          context.strokeStyle = variable('--ink-soft');
          context.setLineDash([2, 3]);
          context.lineWidth = 1;
          const colour = rank.odd || few() ? colourOf(rank) : variable('--line-reserved');
          context.fillStyle = colour;
          context.globalAlpha = 0.16;
          context.beginPath();
          rank.bytes.forEach((bytes, cell) => {
            for (const edge of bytes === null ? [] : [x(cell), x(cell + 1)]) context.lineTo(edge, y(bytes!));
          });
          const known = rank.bytes.map((bytes, cell) => (bytes === null ? -1 : cell)).filter((cell) => cell >= 0);
          context.lineTo(x((known.at(-1) ?? 0) + 1), height);
          context.lineTo(x(known[0] ?? 0), height);
          context.fill();
          context.globalAlpha = 1;
          strokeCells(made, curves!.median, x, y);
          context.setLineDash([]);
          context.strokeStyle = colour;
          context.lineWidth = 1.6;
          strokeCells(made, rank.bytes, x, y);
        });
    drawn.canvas.addEventListener('mousemove', (event) => {
      const cell = cellAt(drawn, event);
      if (cell === null) return hideTip();
      const [bytes, middle] = [rank.bytes[cell] ?? null, curves!.median[cell] ?? null];
      showTip(event, [
        `${rank.device.name} ${moment(shareOf(cell))}`,
        bytes === null ? 'not recorded then' : `${formatBytes(bytes)} allocated`,
        bytes === null || middle === null || bytes === middle ? `as ${than()}` : compared(bytes - middle)
      ]);
    });
    drawn.canvas.addEventListener('mouseleave', hideTip);
    drawn.canvas.addEventListener('click', (event) => open(rank, rank.ns[cellAt(drawn, event) ?? -1]));
    drawn.canvas.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') open(rank, rank.furthestNs);
    });
    const name = el('button', {type: 'button', class: 'link'}, el('bdi', {}, rank.device.name));
    name.addEventListener('click', () => app.go({device: rank.device.number, view: 'overview'}));
    const {odd} = rank;
    const peak = rank.device.summary.peak_allocated_bytes;
    const difference = rank.difference === 0 ?
        `as ${than()}` :
        `${odd ? '! ' : ''}${compared(rank.difference)} ${moment(rank.furthest)}`;
    const swatch = few() ? el('i', {class: 'swatch'}) : null;
    if (swatch) swatch.style.background = colourOf(rank);
    return {
      drawn,
      element:
          el('div', {class: `rank-row${odd ? ' odd' : ''}`},
             el('div', {class: 'rank-name'}, el('span', {}, swatch, name),
                el('span', {class: 'note peak-of', title: peak === null ? '' : `${formatCount(peak)} bytes`},
                   peak === null ? 'peak not known' : `peak ${formatBytes(peak)}`),
                el('span', {class: odd ? 'bad' : 'note'}, difference)),
             el('div', {class: 'rank-line'}, drawn.canvas))
    };
  }

  async function make(): Promise<void> {
    const mine = ++asked;
    const cells = Math.max(100, Math.min(1200, element.clientWidth - 370));
    const found = await rankCurves(devices, align, from, to, cells);
    if (mine !== asked) return;
    curves = found;
    shown = chosenOf(found.ranks);
    rows.classList.toggle('compact', !few());
    const made = shown.map(rowOf);
    rows.replaceChildren(...made.map((one) => one.element));
    all.draw();
    for (const {drawn} of made) drawn.draw();
    const odd = found.ranks.filter((rank) => rank.odd);
    const noun = nounOf(devices);
    const some = odd.length === 0 ?
        `No ${noun} stands out.` :
        `${plural(odd.length, noun)} of ${formatCount(devices.length)} ${odd.length === 1 ? 'stands' : 'stand'} out.`;
    const chosen = shown.length < devices.length ?
        `Shown are the ${formatCount(shown.length)} of ${formatCount(devices.length)} that are furthest from it. ` :
        '';
    const kept = devices.find((device) => device.process.steps_ns.length < device.process.all_steps)?.process;
    const cut = kept && align === 'step' ?
        `Steps are the first ${formatCount(kept.steps_ns.length)} of ${formatCount(kept.all_steps)}. ` :
        '';
    note.textContent = `${some} Each point is the most bytes allocated in it; the dotted line is the median of ${
        devices.length === 2 ? 'both' : `all ${noun}s`}. ${chosen}${cut}A click shows a ${noun} at that instant.`;
  }

  function fillControls(): void {
    const whole = el('button', {type: 'button', title: 'all of it (0)'}, 'whole');
    whole.addEventListener('click', zoomOut);
    const alignments: {value: Alignment; text: string}[] =
        [...(hasSteps(devices) ? [{value: 'step' as const, text: 'step'}] : []), {value: 'time', text: 'time'}];
    replaceContent(
        controls,
        ...(kinds.size > 1 ? [choice(
                                 'devices', [...kinds.keys()].map((one) => ({value: one, text: one})), kind,
                                 (one) => {
                                   kind = one;
                                   devices = kinds.get(kind)!;
                                   if (!hasSteps(devices)) align = 'time';
                                   zoomOut();
                                 })] :
                             []),
        choice(
            'align by', alignments, align,
            (by) => {
              align = by;
              zoomOut();
            }),
        el('div', {class: 'zoom'}, whole),
        el('span', {class: 'hint'}, `scroll to zoom · click a line for that ${nounOf(devices)}`));
  }

  function zoomTo(begin: number, end: number): void {
    const whole = wholeOf(devices, align);
    const span = Math.min(whole.to - whole.from, Math.max((whole.to - whole.from) / 1e5, end - begin));
    from = Math.min(Math.max(whole.from, begin), whole.to - span);
    to = from + span;
    app.draws(make());
  }

  function zoomBy(times: number, share: number): void {
    const at = from + share * (to - from);
    zoomTo(at - share * (to - from) * times, at + (1 - share) * (to - from) * times);
  }

  function zoomOut(): void {
    ({from, to} = wholeOf(devices, align));
    fillControls();
    app.draws(make());
  }

  const element =
      el('section', {class: 'ranks'}, controls, note,
         el('div', {class: 'rank-row'}, el('div', {class: 'rank-name note'}, 'all of them'),
            el('div', {class: 'rank-line'}, all.canvas)),
         rows);
  all.canvas.addEventListener('mousemove', (event) => {
    const cell = cellAt(all, event);
    if (cell === null || !curves) return hideTip();
    const there = shown.filter((rank) => rank.bytes[cell] !== null).sort((a, b) => b.bytes[cell]! - a.bytes[cell]!);
    showTip(event, [
      moment(shareOf(cell)),
      ...there.slice(0, 8).map((rank) => `${formatBytes(rank.bytes[cell]!)}  ${rank.device.name}`),
      ...(there.length > 8 ? [`and ${formatCount(there.length - 8)} more`] : [])
    ]);
  });
  all.canvas.addEventListener('mouseleave', hideTip);
  // The rank whose line is nearest to the pointer.
  all.canvas.addEventListener('click', (event) => {
    const cell = cellAt(all, event);
    if (cell === null || shown.length === 0) return;
    const share = (event.clientY - all.canvas.getBoundingClientRect().top - 6) / (all.height - kAxis - 8);
    const bytes = (1 - share) * curves!.most;
    const distance = (rank: RankCurve): number => Math.abs((rank.bytes[cell] ?? Infinity) - bytes);
    const nearest = shown.reduce((best, rank) => (distance(rank) < distance(best) ? rank : best));
    open(nearest, nearest.ns[cell]);
  });
  element.addEventListener('wheel', (event) => {
    if (!(event.target instanceof HTMLCanvasElement) || event.ctrlKey) return;
    if (event.target !== all.canvas) return;
    event.preventDefault();
    const box = all.canvas.getBoundingClientRect();
    zoomBy(event.deltaY > 0 ? 1.3 : 1 / 1.3, (event.clientX - box.left - kLeft) / (box.width - kLeft));
  }, {passive: false});
  let madeFor = '';
  return {
    element,
    update() {
      const key = document.documentElement.dataset['theme'] ?? '';
      if (key === madeFor) return;
      madeFor = key;
      fillControls();
      app.draws(make());
    },
    key(event) {
      const acts: Record<string, () => void> = {
        '+': () => zoomBy(1 / 1.4, 0.5),
        '=': () => zoomBy(1 / 1.4, 0.5),
        '-': () => zoomBy(1.4, 0.5),
        '0': zoomOut,
        ArrowLeft: () => zoomTo(from - (to - from) / 5, to - (to - from) / 5),
        ArrowRight: () => zoomTo(from + (to - from) / 5, to + (to - from) / 5),
      };
      const act = acts[event.key];
      act?.();
      return act !== undefined;
    },
  };
}
