// The timeline: bytes over time by category, module or operator, and the live blocks at the clicked instant.
import {kOther} from '../drawing/colours';
import {choice, el, replaceContent} from '../drawing/element';
import {formatBytes} from '../drawing/units';
import {type App, timeOfPeak} from '../report/app';
import type {Points} from '../report/curves';
import {type Labels, labelsOf} from '../report/labels';
import type {View} from '../report/view';
import {type Bands, bands, cutText} from './bands';
import {type InstantPanel, instantPanel} from './instant';
import {Minimap} from './minimap';
import {kLines, TimelineChart} from './timeline_chart';
import {leftOutMarks} from './timeline_marks';

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

class Timeline implements View {
  readonly element: HTMLElement;
  private readonly controls = el('div', {class: 'controls'});
  private readonly box = el('div', {class: 'chart'});
  private readonly names = el('div', {class: 'legend'});
  private readonly note = el('p', {class: 'note'});
  private readonly under: Bands;
  private readonly underBox: HTMLElement;
  private readonly panel: InstantPanel;
  private readonly minimap: Minimap;
  private readonly chart: TimelineChart;
  private labels: Labels|undefined;
  private labelsFor = '';
  private drawnWidth = 0;
  private asked = 0;

  constructor(private readonly app: App) {
    this.under = bands(app);
    this.underBox = el('div', {class: 'bands'}, this.under.canvas);
    this.panel = instantPanel(app);
    this.minimap = new Minimap(app);
    const place = (left: number, width: number): void => {
      this.under.place(left, width);
      this.minimap.place(left, width);
    };
    const height = (): number => Math.max(240, Math.min(440, innerHeight * 0.42));
    this.chart = new TimelineChart(app, this.box, height, (points, labels) => this.describe(points, labels), place);
    const strip = el('div', {class: 'minimap'}, this.minimap.surface.canvas);
    this.element = el(
        'section', {class: 'timeline'}, this.controls, strip, this.box, this.underBox, this.names, this.note,
        this.panel.element);
    new ResizeObserver(() => {
      if (this.labels && this.box.isConnected && this.box.clientWidth !== this.drawnWidth) app.draws(this.refresh());
    }).observe(this.box);
  }

  private describe(points: Points, labels: Labels): void {
    const {app} = this;
    this.names.replaceChildren(...legend(this.chart, points, labels, app.choosesBlocks ? ' (all blocks)' : ''));
    const part = app.isZoomed() ? `A part of ${app.span}; 0 shows the whole. ` : '';
    this.note.textContent = part + cutText(app) + leftOutMarks(app) +
        (points.exact ?
             'Each pixel shows the most bytes at any instant of it.' :
             'Coarser here: the report of this long recording keeps the most bytes of each of its buckets, ' +
                 'and this is one bucket a step.');
  }

  private async refresh(): Promise<void> {
    const {app} = this;
    const mine = ++this.asked;
    const key = `${app.place.device} ${app.place.by} ${document.documentElement.dataset['theme']}`;
    if (key !== this.labelsFor) {
      const named = await labelsOf(app, app.place.by);
      if (mine !== this.asked) return;
      this.labels = named;
      this.labelsFor = key;
    }
    this.drawnWidth = this.box.clientWidth;
    await Promise.all([this.chart.show(this.labels!), this.minimap.show(this.labels!)]);
    this.chart.redraw();
  }

  // Only for a device whose size is known.
  private yAxisChoice(): HTMLElement|null {
    const size = this.app.device.summary.total_bytes;
    if (!size) return null;
    const options = [
      {value: 'data' as const, text: 'the highest'},
      {value: 'device' as const, text: `the device, ${formatBytes(size)}`},
    ];
    return choice('y axis to', options, this.chart.reachesDeviceSize ? 'device' : 'data', (value) => {
      this.chart.reachesDeviceSize = value === 'device';
      this.update();
    });
  }

  private fillControls(): void {
    const {app, chart} = this;
    const groupings = app.groupings().filter((grouping) => grouping.stacked);
    const button = (text: string, title: string, act: () => void): HTMLElement => {
      const made = el('button', {type: 'button', title}, text);
      made.addEventListener('click', act);
      return made;
    };
    replaceContent(
        this.controls,
        choice(
            'by', groupings.map((grouping) => ({value: grouping.word, text: grouping.one})), app.place.by,
            (by) => app.go({by})),
        this.yAxisChoice(),
        el(
            'div',
            {class: 'zoom'},
            button('−', 'zoom out (-)', () => chart.zoomBy(1.6)),
            button('+', 'zoom in (+)', () => chart.zoomBy(1 / 1.6)),
            button('whole', `all of ${app.span} (0)`, () => app.wholeTime()),
            button('peak', 'the step of the peak', () => app.go(timeOfPeak(app.device))),
            ),
        el('span', {class: 'hint'}, 'drag or scroll to zoom · shift-scroll to move · click for the live blocks then'),
    );
  }

  update(): void {
    const {process} = this.app.device;
    this.fillControls();
    this.underBox.hidden = process.steps_ns.length + process.iterations.length === 0;
    this.under.draw();
    this.panel.update();
    this.app.draws(this.refresh());
  }

  print(): void { this.chart.redraw(); }

  key(event: KeyboardEvent): boolean {
    const acts: Record<string, () => void> = {
      '+': () => this.chart.zoomBy(1 / 1.6),
      '=': () => this.chart.zoomBy(1 / 1.6),
      '-': () => this.chart.zoomBy(1.6),
      '0': () => this.app.wholeTime(),
      ArrowLeft: () => this.chart.pan(-0.2),
      ArrowRight: () => this.chart.pan(0.2),
      n: () => this.panel.step(1),
      p: () => this.panel.step(-1),
    };
    const act = acts[event.key];
    act?.();
    return act !== undefined;
  }
}

export const timelineView = (app: App): View => new Timeline(app);
