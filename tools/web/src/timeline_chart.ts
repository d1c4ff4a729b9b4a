// The chart of the timeline: stacked areas and lines by uPlot, with bands, marks and instants drawn into it.
import uPlot from 'uplot';

import type {App} from './app';
import {byteTicks, fitted} from './canvas';
import {kOther, variable} from './colours';
import {instantAt, type Points, pointsOf} from './curves';
import {hideTip, showTip} from './element';
import {isEvicted, kText, paintEvicted} from './evicted';
import type {Labels} from './labels';
import {formatBytes, formatCount, formatMoment, formatShare, plural} from './units';

const kMostMarks = 60;
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

  private marksInView(): {name: string; time_ns: number}[] {
    const {from, to} = this.app.place;
    const {process} = this.app.device.facts;
    return this.app.facts.summary.marks
        .filter((mark) => mark.process === process && mark.time_ns >= from && mark.time_ns <= to)
        .sort((a, b) => a.time_ns - b.time_ns);
  }

  // Describes the marks that are not drawn.
  cutText(): string {
    const count = this.marksInView().length;
    const {marks, mark_count} = this.app.facts.summary;
    const kept = marks.length < mark_count ?
        `The report has the first ${formatCount(marks.length)} of ${plural(mark_count, 'mark')}. ` :
        '';
    return kept + (count > kMostMarks ? `The first ${kMostMarks} of ${formatCount(count)} marks are drawn. ` : '');
  }

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

  private make(points: Points): void {
    this.chart?.destroy();
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
    const axis: Partial<uPlot.Axis> = {
      stroke: () => variable('--ink-soft'),
      grid: {stroke: () => variable('--grid'), width: 1},
      ticks: {show: false},
      font: '12px system-ui, sans-serif'
    };
    this.chart = new uPlot(
        {
          width: this.box.clientWidth,
          height: this.height(),
          legend: {show: false},
          cursor: {drag: {x: true, y: false, dist: 5, setScale: false}, points: {show: false}, y: false},
          select: {show: true, left: 0, top: 0, width: 0, height: 0},
          scales: {
            x: {time: false, auto: false, range: () => [seconds(this.app.place.from), seconds(this.app.place.to)]},
            y: {range: (_, __, most) => [0, Math.max(1, most) * 1.12]}
          },
          axes: [
            {
              ...axis,
              values: (_, ticks) => ticks.map(
                  (tick, i) =>
                      (tick === null ?
                           '' :
                           formatMoment(
                               tick * 1e9,
                               Math.abs(
                                   (ticks[i + 1] ?? tick) - (ticks[i + 1] === undefined ? (ticks[i - 1] ?? 0) : tick)) *
                                   1e9))),
              space: 110,
              size: 30
            },
            {
              ...axis,
              size: 78,
              values: (_, ticks) => ticks.map((tick) => formatBytes(tick)),
              splits: (_, __, ___, most) => byteTicks(most, 7)
            },
          ],
          series: [{}, area(count), ...points.labels.map((_, i) => area(count - 1 - i)), ...kLines.map(line)],
          hooks: {
            draw: [(chart) => this.drawMarks(chart)],
            setSelect: [(chart) => this.zoomToSelection(chart)],
            setCursor: [(chart) => this.tip(chart)],
          },
        },
        this.data(points),
        this.box,
    );
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
      const ns = chart.posToVal(event.clientX - over.getBoundingClientRect().left, 'x') * 1e9;
      this.app.go({instant: instantAt(this.points!, ns)});
    });
    over.addEventListener('dblclick', () => this.app.wholeTime());
    over.addEventListener('mouseleave', hideTip);
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

  private tip(chart: uPlot): void {
    const {left, idx} = chart.cursor;
    const event = chart.cursor.event;
    if (idx === null || idx === undefined || !event || (left ?? -1) < 0) return hideTip();
    const points = this.points!;
    const ns = chart.posToVal(left!, 'x') * 1e9;
    if (isEvicted(this.app, ns)) return showTip(event as MouseEvent, [kText]);
    let index = idx;
    while (index > 0 && points.ns[index]! > ns) --index;
    while (index + 1 < points.ns.length - 1 && points.ns[index + 1]! <= ns) ++index;
    const most = points.most[index]!;
    const rows =
        points.labels.map((label, i) => ({name: this.labels!.names[label] ?? '', bytes: points.parts[i]![index]!}))
            .filter((row) => row.bytes > 0)
            .sort((a, b) => b.bytes - a.bytes);
    const lines = [`${formatBytes(most)} allocated at ${formatMoment(points.mostNs[index]!)}`];
    if (points.reserved[index] !== null)
      lines.push(`${formatBytes(points.reserved[index]!)} reserved${
          points.active[index] === null ?
              '' :
              `, ${formatBytes(points.active[index]!)} active`}${this.app.choosesBlocks ? ' (all blocks)' : ''}`);
    lines.push(...rows.slice(0, kMostTipRows)
                   .map((row) => `${formatBytes(row.bytes)}  ${row.name}  ${formatShare(row.bytes, most)}`));
    if (rows.length > kMostTipRows) lines.push(`and ${formatCount(rows.length - kMostTipRows)} more`);
    showTip(event as MouseEvent, lines);
  }

  private drawMarks(chart: uPlot): void {
    const context = chart.ctx;
    const scale = devicePixelRatio || 1;
    const {left, top, width, height} = chart.bbox;
    const x = (ns: number): number => chart.valToPos(seconds(ns), 'x', true);
    this.onPlot(left / scale, width / scale);
    paintEvicted(this.app, context, x, top, height, [left, left + width], scale);
    context.save();
    context.textAlign = 'left';
    context.textBaseline = 'alphabetic';
    context.beginPath();
    context.rect(left, 0, width, top + height);
    context.clip();
    context.font = `${11 * scale}px system-ui, sans-serif`;
    const flag = (ns: number, colour: string, text: string, dash: number[], row: number, room = 150 * scale): void => {
      const at = x(ns);
      if (at < left - 1 || at > left + width + 1) return;
      context.strokeStyle = colour;
      context.lineWidth = scale;
      context.setLineDash(dash.map((part) => part * scale));
      context.beginPath();
      context.moveTo(at, top);
      context.lineTo(at, top + height);
      context.stroke();
      context.setLineDash([]);
      if (text === '') return;
      const shown = fitted(context, text, Math.min(room, 150 * scale));
      if (shown === '') return;
      const textWidth = context.measureText(shown).width;
      const begin = Math.min(at + 3 * scale, left + width - textWidth - 6 * scale);
      const line = top + (4 + row * 16) * scale;
      context.fillStyle = variable('--surface');
      context.globalAlpha = 0.85;
      context.fillRect(begin, line, textWidth + 6 * scale, 14 * scale);
      context.globalAlpha = 1;
      context.fillStyle = colour;
      context.fillText(shown, begin + 3 * scale, line + 11 * scale);
    };
    const {facts} = this.app.device;
    const marks = this.marksInView();
    marks.slice(0, kMostMarks).forEach((mark, i) => {
      const next = marks[i + 1];
      const room = next ? x(next.time_ns) - x(mark.time_ns) - 10 * scale : Infinity;
      flag(mark.time_ns, variable('--mark'), mark.name, [3, 3], 1, room);
    });
    for (const error of this.app.facts.summary.out_of_memory) {
      if (error.process === facts.process && error.device === facts.device)
        flag(error.time_ns, variable('--bad'), '✕ out of memory', [], 2);
    }
    const peak = facts.instants.find((instant) => instant.kind === 'peak');
    if (peak) flag(peak.time_ns, variable('--ink'), `▲ peak ${formatBytes(peak.bytes)}`, [1, 3], 0);
    if (peak?.time_ns !== this.app.place.instant)
      flag(this.app.place.instant, variable('--accent'), '● shown below', [], 3);
    else
      flag(this.app.place.instant, variable('--accent'), '', [], 0);
    context.restore();
  }
}
