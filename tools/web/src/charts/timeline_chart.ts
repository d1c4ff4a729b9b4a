// The chart of the timeline: stacked areas and lines by uPlot, with bands, marks and instants drawn into it.
import uPlot from 'uplot';

import {byteTicks} from '../drawing/canvas';
import {kOther, variable} from '../drawing/colours';
import {el, hideTip, showTip} from '../drawing/element';
import {formatBytes, formatCount, formatMoment, formatShare, formatTick} from '../drawing/units';
import type {App} from '../report/app';
import {type BytesBefore, bytesBefore} from '../report/compared';
import {type Points, pointsOf, type Snapped, snapTo} from '../report/curves';
import type {Labels} from '../report/labels';
import {isEvicted, kText, paintEvicted} from './evicted';
import {drawMarks} from './timeline_marks';

const kSnapPixels = 4;
const kMostTipRows = 6;

// Divided by 1e9: the axis is in seconds.
const seconds = (ns: number): number => ns / 1e9;

export const kLines = [
  {name: 'reserved', variable: '--line-reserved', dash: [6, 3]},
  {name: 'active', variable: '--line-active', dash: [2, 2]},
  {name: 'allocated', variable: '--line-allocated', dash: []},
] as const;

export class TimelineChart {
  private chart: uPlot|undefined;
  private points: Points|undefined;
  private labels: Labels|undefined;
  private asked = 0;
  private highlighted: number|null = null;  // place in points.labels; its length: the others
  private readonly snapMark = el('div', {class: 'snap', hidden: true});
  private before: BytesBefore|undefined;  // the capture with which the page compares
  reachesDeviceSize = false;  // the y axis ends at the size of the device

  constructor(
      private readonly app: App,
      private readonly box: HTMLElement,
      private readonly height: () => number,
      private readonly onPoints: (points: Points, labels: Labels) => void,
      private readonly onPlot: (left: number, width: number) => void,  // where the plot lies in its box
  ) {}

  highlight(place: number|null): void {
    if (this.highlighted === place) return;
    this.highlighted = place;
    this.chart?.redraw(false);
  }

  // Draws what app.place asks for. Of several calls only the last is drawn.
  async show(labels: Labels): Promise<void> {
    const asked = ++this.asked;
    const {by, from, to} = this.app.place;
    const width = Math.max(200, Math.floor(this.box.clientWidth - 110));
    const points = await pointsOf(this.app.device, by, from, to, width);
    this.before = await bytesBefore(this.app);
    if (asked !== this.asked) return;
    const sameSeries = this.labels === labels && this.points?.labels.length === points.labels.length;
    this.labels = labels;
    this.points = points;
    if (this.chart && sameSeries) {
      this.chart.batch(() => {
        this.chart!.setData(this.data(points), false);
        this.chart!.setScale('x', {min: seconds(from), max: seconds(to)});
      });
      this.chart.setSize({width: this.box.clientWidth, height: this.height()});
    } else {
      this.make(points);
    }
    this.onPoints(points, labels);
  }

  redraw(): void { this.chart?.redraw(false); }

  // Each area reaches from the axis to the sum of all below it; the highest is drawn first.
  private data(points: Points): uPlot.AlignedData {
    const sums: number[][] = [];
    let below = new Array<number>(points.ns.length).fill(0);
    for (const part of points.parts) {
      below = part.map((bytes, i) => bytes + below[i]!);
      sums.push(below);
    }
    const lines: (number|null)[][] = [points.reserved, points.active, points.most];
    return [points.ns.map(seconds), points.most, ...sums.reverse(), ...lines] as uPlot.AlignedData;
  }

  private areaColour(place: number): string {
    const labels = this.points!.labels;
    const colour = place >= labels.length ? kOther() : this.labels!.colour(labels[place]!);
    if (this.highlighted === null || this.highlighted === place) return colour;
    return `color-mix(in srgb, ${colour} 22%, ${variable('--surface')})`;
  }

  private seriesOf(points: Points): uPlot.Series[] {
    const stepped = uPlot.paths.stepped!({align: 1});
    const count = points.labels.length;
    const area = (place: number): uPlot.Series => ({
      fill: () => this.areaColour(place),
      // An edge tells neighbours apart whose hues look alike to some; thin areas would be all edge.
      stroke: () => `color-mix(in srgb, ${variable('--surface')} 65%, transparent)`,
      width: place < 10 ? 1 : 0,
      paths: stepped,
      points: {show: false},
    });
    const line = (one: (typeof kLines)[number]): uPlot.Series => ({
      stroke: () => variable(one.variable),
      width: one.name === 'allocated' ? 1.5 : 1.2,
      dash: [...one.dash],
      paths: stepped,
      points: {show: false},
    });
    return [{}, area(count), ...points.labels.map((_, i) => area(count - 1 - i)), ...kLines.map(line)];
  }

  // Bytes at the top of the y axis.
  private top(most: number): number {
    const size = this.reachesDeviceSize ? this.app.device.summary.total_bytes ?? 0 : 0;
    return Math.max(1, most * (size > 0 ? 1.02 : 1.12), size * 1.02, (this.before?.peak ?? 0) * 1.05);
  }

  private axes(): uPlot.Axis[] {
    const axis: Partial<uPlot.Axis> = {
      stroke: () => variable('--ink-soft'),
      grid: {stroke: () => variable('--grid'), width: 1},
      ticks: {show: false},
      font: '12px system-ui, sans-serif'
    };
    const moments = (_: uPlot, ticks: (number|null)[]): string[] => ticks.map((tick, i) => {
      if (tick === null) return '';
      const [before, after] = [ticks[i - 1] ?? 0, ticks[i + 1] ?? null];
      return formatMoment(tick * 1e9, Math.abs(after === null ? before - tick : after - tick) * 1e9);
    });
    return [
      {...axis, values: moments, space: 110, size: 30},
      {
        ...axis,
        size: 78,
        values: (_, ticks) => ticks.map((tick) => formatTick(tick)),
        splits: (_, __, ___, most) => byteTicks(most, 7)
      },
    ];
  }

  private make(points: Points): void {
    this.chart?.destroy();
    this.chart = new uPlot(
        {
          width: this.box.clientWidth,
          height: this.height(),
          legend: {show: false},
          cursor: {drag: {x: true, y: false, dist: 5, setScale: false}, points: {show: false}, y: false},
          select: {show: true, left: 0, top: 0, width: 0, height: 0},
          scales: {
            x: {time: false, auto: false, range: () => [seconds(this.app.place.from), seconds(this.app.place.to)]},
            y: {range: (_, __, most) => [0, this.top(most)]}
          },
          axes: this.axes(),
          series: this.seriesOf(points),
          hooks: {
            draw: [(chart) => this.drawOver(chart)],
            setSelect: [(chart) => this.zoomToSelection(chart)],
            setCursor: [(chart) => this.tip(chart)],
          },
        },
        this.data(points),
        this.box,
    );
    this.chart.over.append(this.snapMark);
    this.listen(this.chart);
  }

  private zoomToSelection(chart: uPlot): void {
    if (chart.select.width < 5) return;
    const from = chart.posToVal(chart.select.left, 'x') * 1e9;
    const to = chart.posToVal(chart.select.left + chart.select.width, 'x') * 1e9;
    chart.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
    this.zoom(from, to);
  }

  // Within the recording, and never to less than a microsecond.
  zoom(from: number, to: number): void {
    const {begin_ns, end_ns} = this.app.device.facts;
    const whole = Math.max(end_ns - begin_ns, 1000);
    const span = Math.min(whole, Math.max(1000, to - from));
    const middle = (from + to) / 2;
    const begin = Math.min(Math.max(begin_ns, middle - span / 2), begin_ns + whole - span);
    this.app.go({from: begin, to: begin + span});
  }

  // `times` < 1: nearer. `at`: what stays where it is.
  zoomBy(times: number, at = this.app.place.instant): void {
    const {from, to} = this.app.place;
    if (at < from || at > to) at = (from + to) / 2;
    const share = (at - from) / (to - from);
    const span = (to - from) * times;
    this.zoom(at - share * span, at + (1 - share) * span);
  }

  pan(share: number): void {
    const {from, to} = this.app.place;
    this.zoom(from + share * (to - from), to + share * (to - from));
  }

  private listen(chart: uPlot): void {
    const over = chart.over;
    let down = -1;
    over.addEventListener('mousedown', (event) => (down = event.clientX));
    over.addEventListener('mouseup', (event) => {
      if (Math.abs(event.clientX - down) > 4) return;
      this.app.go({instant: this.snapped(chart, event.clientX - over.getBoundingClientRect().left).ns});
    });
    over.addEventListener('dblclick', () => this.app.wholeTime());
    over.addEventListener('mouseleave', () => {
      this.snapMark.hidden = true;
      hideTip();
    });
    over.addEventListener(
        'wheel',
        (event) => {
          event.preventDefault();
          if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
            return this.pan((event.deltaX || event.deltaY) / 1200);
          const ns = chart.posToVal(event.clientX - over.getBoundingClientRect().left, 'x') * 1e9;
          this.zoomBy(event.deltaY > 0 ? 1.3 : 1 / 1.3, ns);
        },
        {passive: false},
    );
  }

  // The highest point within kSnapPixels of `left`, in pixels of the plot.
  private snapped(chart: uPlot, left: number): Snapped {
    const ns = chart.posToVal(left, 'x') * 1e9;
    const reach = (chart.posToVal(left + kSnapPixels, 'x') - chart.posToVal(left, 'x')) * 1e9;
    return snapTo(this.points!, ns, reach);
  }

  private tip(chart: uPlot): void {
    const {left, event} = chart.cursor;
    this.snapMark.hidden = true;
    if (!event || (left ?? -1) < 0 || this.points!.ns.length === 0) return hideTip();
    if (isEvicted(this.app, chart.posToVal(left!, 'x') * 1e9)) return showTip(event as MouseEvent, [kText]);
    const {index, ns} = this.snapped(chart, left!);
    this.snapMark.hidden = false;
    this.snapMark.style.left = `${chart.valToPos(seconds(ns), 'x')}px`;
    this.snapMark.style.top = `${chart.valToPos(this.points!.most[index]!, 'y')}px`;
    showTip(event as MouseEvent, this.tipLines(index, ns));
  }

  private tipLines(index: number, ns: number): string[] {
    const points = this.points!;
    const most = points.most[index]!;
    const rows =
        points.labels.map((label, i) => ({name: this.labels!.names[label] ?? '', bytes: points.parts[i]![index]!}))
            .filter((row) => row.bytes > 0)
            .sort((a, b) => b.bytes - a.bytes);
    const lines = [`${formatBytes(most)} allocated at ${formatMoment(ns)}`];
    const [reserved, active] = [points.reserved[index] ?? null, points.active[index] ?? null];
    if (reserved !== null) {
      lines.push(`${formatBytes(reserved)} reserved${active === null ? '' : `, ${formatBytes(active)} active`}${
          this.app.choosesBlocks ? ' (all blocks)' : ''}`);
    }
    lines.push(...rows.slice(0, kMostTipRows)
                   .map((row) => `${formatBytes(row.bytes)}  ${row.name}  ${formatShare(row.bytes, most)}`));
    if (rows.length > kMostTipRows) lines.push(`and ${formatCount(rows.length - kMostTipRows)} more`);
    return lines;
  }

  private drawOver(chart: uPlot): void {
    const scale = devicePixelRatio || 1;
    const {left, top, width, height} = chart.bbox;
    const x = (ns: number): number => chart.valToPos(seconds(ns), 'x', true);
    this.onPlot(left / scale, width / scale);
    paintEvicted(this.app, chart.ctx, x, top, height, [left, left + width], scale);
    const size = this.reachesDeviceSize ? this.app.device.summary.total_bytes ?? 0 : 0;
    if (size > 0) this.drawLevel(chart, {bytes: size, text: `the device has ${formatBytes(size)}`, colour: '--bad'});
    if (this.before) this.drawBefore(chart, this.before.peak);
    drawMarks(this.app, {context: chart.ctx, left, top, width, height, scale, x});
  }

  private drawBefore(chart: uPlot, peak: number): void {
    const text = `peak of ${this.app.facts.baseline!.path}: ${formatBytes(peak)}`;
    this.drawLevel(chart, {bytes: peak, text, colour: '--ink-soft'});
  }

  // Draws a horizontal line with a text below its right end.
  private drawLevel(chart: uPlot, {bytes, text, colour}: {bytes: number; text: string; colour: string}): void {
    const {left, width} = chart.bbox;
    const scale = devicePixelRatio || 1;
    const y = chart.valToPos(bytes, 'y', true);
    const context = chart.ctx;
    context.save();
    context.strokeStyle = context.fillStyle = variable(colour);
    context.lineWidth = 1.5 * scale;
    context.strokeRect(left, y, width, 0);
    context.font = `${11 * scale}px system-ui, sans-serif`;
    context.textAlign = 'right';
    context.textBaseline = 'top';
    context.fillText(text, left + width - 4 * scale, y + 3 * scale);
    context.restore();
  }
}
