// The vertical lines of the timeline: the program's marks, out-of-memory errors, the peak, and the chosen instant.
import {fitted} from '../drawing/canvas';
import {variable} from '../drawing/colours';
import {formatBytes, formatCount, plural} from '../drawing/units';
import type {App} from '../report/app';

const kMostMarks = 60;
const kMostTextPixels = 150;
const kRowPixels = 16;

// The plot in pixels of its canvas. `scale`: pixels of the canvas for one pixel of the page.
export interface Plot {
  context: CanvasRenderingContext2D;
  left: number;
  top: number;
  width: number;
  height: number;
  scale: number;
  x(ns: number): number;
}

interface Flag {
  ns: number;
  colour: string;
  text: string;  // empty: only the line
  dash: number[];
  row: number;  // rows of texts below the top
  room: number;  // pixels for the text
}

function marksInView(app: App): {name: string; time_ns: number}[] {
  const {from, to} = app.place;
  const {process} = app.device.facts;
  return app.facts.summary.marks
      .filter((mark) => mark.process === process && mark.time_ns >= from && mark.time_ns <= to)
      .sort((a, b) => a.time_ns - b.time_ns);
}

// Describes the marks that are not drawn.
export function leftOutMarks(app: App): string {
  const count = marksInView(app).length;
  const {marks, mark_count} = app.facts.summary;
  const kept = marks.length < mark_count ?
      `The report has the first ${formatCount(marks.length)} of ${plural(mark_count, 'mark')}. ` :
      '';
  return kept + (count > kMostMarks ? `The first ${kMostMarks} of ${formatCount(count)} marks are drawn. ` : '');
}

function drawFlag(plot: Plot, {ns, colour, text, dash, row, room}: Flag): void {
  const {context, left, top, width, height, scale} = plot;
  const at = plot.x(ns);
  if (at < left - 1 || at > left + width + 1) return;
  context.strokeStyle = colour;
  context.lineWidth = scale;
  context.setLineDash(dash.map((part) => part * scale));
  context.beginPath();
  context.moveTo(at, top);
  context.lineTo(at, top + height);
  context.stroke();
  context.setLineDash([]);
  const shown = fitted(context, text, Math.min(room, kMostTextPixels * scale));
  if (shown === '') return;
  const textWidth = context.measureText(shown).width;
  const begin = Math.min(at + 3 * scale, left + width - textWidth - 6 * scale);
  const line = top + (4 + row * kRowPixels) * scale;
  context.fillStyle = variable('--surface');
  context.globalAlpha = 0.85;
  context.fillRect(begin, line, textWidth + 6 * scale, 14 * scale);
  context.globalAlpha = 1;
  context.fillStyle = colour;
  context.fillText(shown, begin + 3 * scale, line + 11 * scale);
}

function flagsOf(app: App, plot: Plot): Flag[] {
  const {facts} = app.device;
  const marks = marksInView(app);
  const flags: Flag[] = marks.slice(0, kMostMarks).map((mark, i) => {
    const next = marks[i + 1];
    const room = next ? plot.x(next.time_ns) - plot.x(mark.time_ns) - 10 * plot.scale : Infinity;
    return {ns: mark.time_ns, colour: variable('--mark'), text: mark.name, dash: [3, 3], row: 1, room};
  });
  const add = (ns: number, colour: string, text: string, dash: number[], row: number): void => {
    flags.push({ns, colour: variable(colour), text, dash, row, room: Infinity});
  };
  for (const error of app.facts.summary.out_of_memory) {
    if (error.process === facts.process && error.device === facts.device)
      add(error.time_ns, '--bad', '✕ out of memory', [], 2);
  }
  const peak = facts.instants.find((instant) => instant.kind === 'peak');
  if (peak) add(peak.time_ns, '--ink', `▲ peak ${formatBytes(peak.bytes)}`, [1, 3], 0);
  const isPeak = peak?.time_ns === app.place.instant;
  add(app.place.instant, '--accent', isPeak ? '' : '● shown below', [], 3);
  return flags;
}

export function drawMarks(app: App, plot: Plot): void {
  const {context, left, top, width, height, scale} = plot;
  context.save();
  context.textAlign = 'left';
  context.textBaseline = 'alphabetic';
  context.beginPath();
  context.rect(left, 0, width, top + height);
  context.clip();
  context.font = `${11 * scale}px system-ui, sans-serif`;
  for (const flag of flagsOf(app, plot)) drawFlag(plot, flag);
  context.restore();
}
