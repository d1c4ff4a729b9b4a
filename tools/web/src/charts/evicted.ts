// Times whose events --max-size evicted: only sums are left of them, so a picture shows that there, and no curve.
import {fitted} from '../drawing/canvas';
import {variable} from '../drawing/colours';
import type {App} from '../report/app';
import type {Span} from '../report/facts';

export const kText = 'evicted by --max-size: only sums are left';
const kHatch = 8;

export function evictedOf(app: App): Span[] {
  return app.facts.summary.processes[app.device.facts.process]?.evicted ?? [];
}

export function isEvicted(app: App, ns: number): boolean {
  return evictedOf(app).some(({begin_ns, end_ns}) => ns > begin_ns && ns < end_ns);
}

// Over what was painted there. `scale`: pixels of `context` to one of the page; `clip`: where the plot begins and ends.
export function paintEvicted(
    app: App, context: CanvasRenderingContext2D, x: (ns: number) => number, top: number, height: number,
    clip: [number, number], scale = 1, text = kText): void {
  context.save();
  context.font = `${11 * scale}px system-ui, sans-serif`;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  for (const {begin_ns, end_ns} of evictedOf(app)) {
    const [left, right] = [Math.max(x(begin_ns), clip[0]), Math.min(x(end_ns), clip[1])];
    if (right - left < scale) continue;
    context.save();
    context.beginPath();
    context.rect(left, top, right - left, height);
    context.clip();
    context.fillStyle = variable('--surface');
    context.fillRect(left, top, right - left, height);
    context.strokeStyle = variable('--grid');
    context.lineWidth = scale;
    context.beginPath();
    for (let at = left - height; at < right; at += kHatch * scale) {
      context.moveTo(at, top + height);
      context.lineTo(at + height, top);
    }
    context.stroke();
    const shown = fitted(context, text, right - left - 12 * scale);
    const width = context.measureText(shown).width;
    if (shown !== '') {
      const begin = (left + right - width) / 2;
      context.fillStyle = variable('--surface');
      context.fillRect(begin - 4 * scale, top + height / 2 - 9 * scale, width + 8 * scale, 18 * scale);
      context.fillStyle = variable('--ink-soft');
      context.fillText(shown, begin, top + height / 2);
    }
    context.restore();
  }
  context.restore();
}
