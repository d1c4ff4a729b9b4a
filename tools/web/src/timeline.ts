// The timeline: bytes over time by category, module or operator, and the live blocks at the clicked instant.
import type {App} from './app';
import {bands, cutText} from './bands';
import {kOther} from './colours';
import type {Points} from './curves';
import {choice, el, replaceContent} from './element';
import {instantPanel} from './instant';
import {type Labels, labelsOf} from './labels';
import {kLines, TimelineChart} from './timeline_chart';

export interface View {
  element: HTMLElement;
  update(): void;
  key?(event: KeyboardEvent): boolean;
  print?(): void;  // draws at once what canvas.ts does not draw
}

// `ofAll` labels lines that contain all blocks, if the rest does not.
function legend(chart: TimelineChart, points: Points, labels: Labels, ofAll: string): HTMLElement[] {
  const others = points.most.some((most, i) => most - points.parts.reduce((sum, part) => sum + part[i]!, 0) > 0);
  const entry = (place: number, name: string, colour: string): HTMLElement => {
    const swatch = el('i', {class: 'swatch'});
    swatch.style.background = colour;
    const item = el('button', {type: 'button', class: 'entry', title: name}, swatch, el('bdi', {}, name));
    item.addEventListener('mouseenter', () => chart.highlight(place));
    item.addEventListener('focus', () => chart.highlight(place));
    item.addEventListener('mouseleave', () => chart.highlight(null));
    item.addEventListener('blur', () => chart.highlight(null));
    return item;
  };
  const entries = points.labels.map((label, i) => ({label, i}))
                      .filter(({i}) => points.parts[i]!.some((bytes) => bytes > 0))
                      .map(({label, i}) => entry(i, labels.names[label] ?? '', labels.colour(label)));
  if (others) entries.push(entry(points.labels.length, 'others', kOther()));
  for (const line of kLines) {
    const values = line.name === 'allocated' ? points.most : points[line.name];
    if (line.name !== 'allocated' && values[0] === null) continue;
    const stroke = el('i', {class: `line ${line.name}`});
    stroke.style.borderColor = `var(${line.variable})`;
    entries.push(el('span', {class: 'entry'}, stroke, line.name === 'allocated' ? line.name : `${line.name}${ofAll}`));
  }
  return entries;
}

export function timelineView(app: App): View {
  const controls = el('div', {class: 'controls'});
  const box = el('div', {class: 'chart'});
  const names = el('div', {class: 'legend'});
  const note = el('p', {class: 'note'});
  const under = bands(app);
  const underBox = el('div', {class: 'bands'}, under.canvas);
  const panel = instantPanel(app);
  const onPoints = (points: Points, labels: Labels): void => {
    names.replaceChildren(...legend(chart, points, labels, app.choosesBlocks ? ' (all blocks)' : ''));
    const part = app.isZoomed() ? `A part of ${app.span}; 0 shows the whole. ` : '';
    note.textContent = part + cutText(app) + chart.cutText() +
        (points.exact ?
             'Each pixel shows the most bytes at any instant of it.' :
             'Coarser here: the report of this long recording keeps the most bytes of each of its buckets, and this is one bucket a step.');
  };
  const chart = new TimelineChart(
      app, box, () => Math.max(240, Math.min(440, innerHeight * 0.42)), onPoints,
      (left, width) => under.place(left, width));
  const element = el('section', {class: 'timeline'}, controls, box, underBox, names, note, panel.element);
  let labels: Labels|undefined;
  let labelsFor = '';
  let drawnWidth = 0;
  let asked = 0;
  new ResizeObserver(() => {
    if (labels && box.isConnected && box.clientWidth !== drawnWidth) app.draws(refresh());
  }).observe(box);

  async function refresh(): Promise<void> {
    const mine = ++asked;
    const key = `${app.place.device} ${app.place.by} ${document.documentElement.dataset['theme']}`;
    if (key !== labelsFor) {
      const named = await labelsOf(app, app.place.by);
      if (mine !== asked) return;
      labels = named;
      labelsFor = key;
    }
    drawnWidth = box.clientWidth;
    await chart.show(labels!);
    chart.redraw();
  }

  function fillControls(): void {
    const groupings = app.groupings().filter((grouping) => grouping.stacked);
    const button = (text: string, title: string, act: () => void): HTMLElement => {
      const made = el('button', {type: 'button', title}, text);
      made.addEventListener('click', act);
      return made;
    };
    replaceContent(
        controls,
        choice(
            'by', groupings.map((grouping) => ({value: grouping.word, text: grouping.one})), app.place.by,
            (by) => app.go({by})),
        el(
            'div',
            {class: 'zoom'},
            button('−', 'zoom out (-)', () => chart.zoomBy(1.6)),
            button('+', 'zoom in (+)', () => chart.zoomBy(1 / 1.6)),
            button('whole', `all of ${app.span} (0)`, () => app.wholeTime()),
            ),
        el('span', {class: 'hint'}, 'drag or scroll to zoom · shift-scroll to move · click for the live blocks then'),
    );
  }

  return {
    element,
    update() {
      fillControls();
      underBox.hidden = app.device.process.steps_ns.length + app.device.process.iterations.length === 0;
      under.draw();
      panel.update();
      app.draws(refresh());
    },
    print: () => chart.redraw(),
    key(event) {
      const acts: Record<string, () => void> = {
        '+': () => chart.zoomBy(1 / 1.6),
        '=': () => chart.zoomBy(1 / 1.6),
        '-': () => chart.zoomBy(1.6),
        '0': () => app.wholeTime(),
        ArrowLeft: () => chart.pan(-0.2),
        ArrowRight: () => chart.pan(0.2),
        n: () => panel.step(1),
        p: () => panel.step(-1),
      };
      const act = acts[event.key];
      act?.();
      return act !== undefined;
    },
  };
}
