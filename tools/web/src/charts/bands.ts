// The rows under the timeline: the steps, iterations and phases of the program.
import {fitted, kFont, surface, type Surface} from '../drawing/canvas';
import {variable} from '../drawing/colours';
import {formatCount, plural} from '../drawing/units';
import type {App} from '../report/app';
import {lowerBound} from '../report/curves';
import type {Iteration} from '../report/facts';
import {paintEvicted} from './evicted';

interface Band {
  from: number;
  to: number;
  name: string;
  colour: string;
}

const beginOf = (iteration: Iteration|undefined): number|undefined =>
    iteration?.fw_start ?? iteration?.fw_bw_boundary ?? iteration?.backward_end ?? iteration?.optimizer_step;

// Describes the steps and iterations that are not drawn.
export function cutText(app: App): string {
  const {steps_ns, all_steps, iterations, all_iterations} = app.device.process;
  const cut = (kept: number, all: number, one: string): string[] =>
      kept < all ? [`the first ${formatCount(kept)} of ${plural(all, one)}`] : [];
  const parts = [...cut(steps_ns.length, all_steps, 'step'), ...cut(iterations.length, all_iterations, 'iteration')];
  return parts.length === 0 ? '' : `Shown are ${parts.join(' and ')}. `;
}

function phasesOf(app: App): Band[] {
  const {iterations} = app.device.process;
  const bands: Band[] = [];
  const add = (from: number|undefined, to: number|undefined, name: string, colour: string): void => {
    if (from !== undefined && to !== undefined && to > from) bands.push({from, to, name, colour});
  };
  const {end_ns} = app.device.facts;
  iterations.forEach((iteration, i) => {
    add(iteration.fw_start, iteration.fw_bw_boundary, 'forward', '--phase-forward');
    if (iteration.backward_end !== undefined)
      add(iteration.fw_bw_boundary, iteration.backward_end, 'backward', '--phase-backward');
    const {optimizer_step, optimizer_end, backward_end} = iteration;
    if (optimizer_step === undefined) return;
    // One whose end was not seen lasts until something else begins.
    const next = optimizer_end ?? beginOf(iterations[i + 1]) ?? end_ns;
    add(Math.max(optimizer_step, backward_end ?? 0), next, 'optimizer', '--phase-optimizer');
  });
  return bands;
}

// The steps as bands; "0" is the time before step 1.
function stepsOf(app: App): Band[] {
  const {steps_ns, first_step, all_steps} = app.device.process;
  const {begin_ns, end_ns} = app.device.facts;
  const colours = ['--step-even', '--step-odd'];
  const bands = steps_ns.map((from, i) => {
    const number = i + first_step;
    return {from, to: steps_ns[i + 1] ?? end_ns, name: String(number), colour: colours[number % 2]!};
  });
  if (bands.length > 0 && first_step === 1)
    bands.unshift({from: begin_ns, to: steps_ns[0]!, name: '0', colour: colours[0]!});
  if (steps_ns.length < all_steps) bands.pop();  // its end is not in the report
  return bands;
}

// The iterations without numbers, because `--steps` counts steps. Empty if there are not more iterations than steps.
function iterationsOf(app: App): Band[] {
  const {iterations, all_iterations, all_steps} = app.device.process;
  if (all_iterations <= all_steps) return [];
  const {end_ns} = app.device.facts;
  return iterations.flatMap((iteration, i) => {
    const from = beginOf(iteration);
    if (from === undefined || (i + 1 === iterations.length && i + 1 < all_iterations)) return [];
    const colour = i % 2 === 0 ? '--step-even' : '--step-odd';
    return [{from, to: beginOf(iterations[i + 1]) ?? end_ns, name: '', colour}];
  });
}

interface Row {
  title: string;
  noun: string;  // for a row with too many bands for its width
  count: number;  // of all steps or iterations, also those without a band
  bands: Band[];
  ink: string;
}

function rowsOf(app: App): Row[] {
  const {all_steps, all_iterations} = app.device.process;
  return [
    {title: 'steps', noun: 'step', count: all_steps, bands: stepsOf(app), ink: '--ink-soft'},
    {title: 'iterations', noun: 'iteration', count: all_iterations, bands: iterationsOf(app), ink: '--ink-soft'},
    {title: 'phases', noun: '', count: 0, bands: phasesOf(app), ink: '--phase-ink'},
  ].filter(({bands}) => bands.length > 0);
}

export interface Bands extends Surface {
  place(left: number, width: number): void;  // under the plot
}

const kRow = 20;  // pixels

// Draws the bands of a row that lie in the shown time.
function paintRow(app: App, context: CanvasRenderingContext2D, row: Row, top: number, [left, right]: [number, number]):
    void {
  const {from, to} = app.place;
  const x = (ns: number): number => left + ((ns - from) / (to - from)) * (right - left);
  const first = Math.max(0, lowerBound(row.bands.length, from, (i) => row.bands[i]!.from) - 1);
  const end = lowerBound(row.bands.length, to, (i) => row.bands[i]!.from);
  if (row.noun !== '' && (end - first) * 3 > right - left) {
    context.fillStyle = variable(row.ink);
    context.fillText(`${plural(row.count, row.noun)}; zoom in to see them`, left + 6, top + 9.5);
    return;
  }
  let drawnTo = -1;
  for (const band of row.bands.slice(first, end + 1)) {
    if (band.to < from || band.from > to) continue;
    const [begins, ends] = [x(band.from), x(band.to)];
    if (ends - drawnTo < 0.3) continue;
    drawnTo = ends;
    context.fillStyle = variable(band.colour);
    context.fillRect(begins, top + 1, Math.max(ends - begins, 0.5), 16);
    context.fillStyle = variable(row.ink);
    const begin = Math.max(begins, left);
    context.fillText(fitted(context, band.name, Math.min(ends, right) - begin - 6), begin + 4, top + 9.5);
  }
}

export function bands(app: App): Bands {
  let [left, plotWidth] = [78, 100];
  let rows: Row[] = [];
  let rowsFor = -1;
  const findRows = (): Row[] => {
    if (rowsFor !== app.place.device) {
      rows = rowsOf(app);
      rowsFor = app.place.device;
    }
    return rows;
  };
  const height = (): number => Math.max(findRows().length, 1) * kRow;
  const paint = ({context}: Surface): void => {
    const {from, to} = app.place;
    context.font = kFont;
    context.textBaseline = 'middle';
    context.fillStyle = variable('--ink-soft');
    findRows().forEach(({title}, i) => context.fillText(title, 4, i * kRow + 9));
    context.save();
    context.beginPath();
    context.rect(left, 0, plotWidth, height());
    context.clip();
    rows.forEach((row, i) => paintRow(app, context, row, i * kRow, [left, left + plotWidth]));
    context.restore();
    const x = (ns: number): number => left + ((ns - from) / (to - from)) * plotWidth;
    paintEvicted(app, context, x, 0, height(), [left, left + plotWidth], 1, '');
  };
  const made = surface('steps, iterations and phases of the program over time', height, paint);
  return Object.assign(made, {
    place(begin: number, width: number): void {
      if (begin === left && width === plotWidth) return;
      [left, plotWidth] = [begin, width];
      made.draw();
    },
  });
}
