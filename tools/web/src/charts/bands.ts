// Under the timeline: the steps of the program, and in which phase it was.
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

export interface Bands extends Surface {
  place(left: number, width: number): void;  // under the plot
}

export function bands(app: App): Bands {
  let [left, plotWidth] = [78, 100];
  let phases: Band[] = [];
  let phasesFor = -1;
  const paint = ({context}: Surface): void => {
    if (phasesFor !== app.place.device) {
      phases = phasesOf(app);
      phasesFor = app.place.device;
    }
    const {from, to} = app.place;
    const x = (ns: number): number => left + ((ns - from) / (to - from)) * plotWidth;
    context.font = kFont;
    context.textBaseline = 'middle';
    context.fillStyle = variable('--ink-soft');
    const steps = app.device.process.steps_ns;
    if (steps.length > 0) context.fillText('steps', 4, 9);
    if (phases.length > 0) context.fillText('phases', 4, 29);
    context.save();
    context.beginPath();
    context.rect(left, 0, plotWidth, 40);
    context.clip();
    const first = Math.max(0, lowerBound(steps.length, from, (i) => steps[i]!) - 1);
    const {all_steps} = app.device.process;
    const dense =
        ((to - from) / Math.max(1, (app.device.facts.end_ns - app.device.facts.begin_ns) / Math.max(steps.length, 1))) *
            3 >
        plotWidth;
    for (let i = first; i < steps.length && steps[i]! <= to && !dense; ++i) {
      if (i + 1 === steps.length && steps.length < all_steps) break;  // its end is not in the report
      const [begins, ends] = [x(steps[i]!), x(steps[i + 1] ?? app.device.facts.end_ns)];
      context.fillStyle = variable(i % 2 === 0 ? '--step-even' : '--step-odd');
      context.fillRect(begins, 1, ends - begins, 16);
      context.fillStyle = variable('--ink-soft');
      const begin = Math.max(begins, left);
      const room = Math.min(ends, left + plotWidth) - begin - 6;
      context.fillText(fitted(context, String(i + app.device.process.first_step), room), begin + 4, 9.5);
    }
    if (dense) context.fillText(`${plural(all_steps, 'step')}; zoom in to see them`, left + 6, 9.5);
    let drawnTo = -1;
    for (const band of phases) {
      if (band.to < from || band.from > to) continue;
      const [begins, ends] = [x(band.from), x(band.to)];
      if (ends - drawnTo < 0.3) continue;
      drawnTo = ends;
      context.fillStyle = variable(band.colour);
      context.fillRect(begins, 21, Math.max(ends - begins, 0.5), 16);
      context.fillStyle = variable('--phase-ink');
      const begin = Math.max(begins, left);
      const room = Math.min(ends, left + plotWidth) - begin - 6;
      context.fillText(fitted(context, band.name, room), begin + 4, 29.5);
    }
    context.restore();
    paintEvicted(app, context, x, 0, 40, [left, left + plotWidth], 1, '');
  };
  const made = surface('steps and phases of the program over time', () => 40, paint);
  return Object.assign(made, {
    place(begin: number, width: number): void {
      if (begin === left && width === plotWidth) return;
      [left, plotWidth] = [begin, width];
      made.draw();
    },
  });
}
