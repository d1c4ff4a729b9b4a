// A strip of the whole recording above the timeline, with the part that the timeline shows. A drag inside of the part
// moves it, a drag at one of its edges changes its length, and a drag elsewhere selects another part.
import {kFont, surface, type Surface} from '../drawing/canvas';
import {variable} from '../drawing/colours';
import type {App} from '../report/app';
import {type Points, pointsOf} from '../report/curves';
import type {Labels} from '../report/labels';
import {paintEvicted} from './evicted';
import {paintStack, xIn} from './stack_picture';

const kHeight = 46;
const kEdgePixels = 6;   // a drag that begins so near to an edge moves the edge
const kClickPixels = 4;  // a shorter drag is a click, which moves the middle of the part

type Drag = {kind: 'move'|'from'|'to'|'new'; x: number; from: number; to: number};

export class Minimap {
  readonly surface: Surface;
  private left = 78;
  private plotWidth = 100;
  private points: Points|undefined;
  private labels: Labels|undefined;
  private newestLabels: Labels|undefined;  // of the newest call of show()
  private madeFor = '';
  private asked = 0;
  private drag: Drag|undefined;

  constructor(private readonly app: App) {
    this.surface = surface('the whole recording, and the part that is shown', () => kHeight, () => this.paint());
    this.listen();
  }

  // `left`, `width`: the plot of the timeline below.
  place(left: number, width: number): void {
    if (left === this.left && width === this.plotWidth) return;
    [this.left, this.plotWidth] = [left, width];
    if (this.newestLabels) this.app.draws(this.show(this.newestLabels));
  }

  async show(labels: Labels): Promise<void> {
    const {device, by} = this.app.place;
    const key = `${device} ${by} ${this.plotWidth} ${document.documentElement.dataset['theme']}`;
    const asked = ++this.asked;  // an earlier call that still waits is out of date
    this.newestLabels = labels;
    if (key !== this.madeFor) {
      const {from, to} = this.app.whole();
      const points = await pointsOf(this.app.device, by, from, to, Math.max(50, Math.floor(this.plotWidth)));
      if (asked !== this.asked) return;
      [this.points, this.labels, this.madeFor] = [points, labels, key];
    }
    this.surface.draw();
  }

  private frame(): {from: number; to: number; left: number; width: number; height: number} {
    return {...this.app.whole(), left: this.left, width: this.plotWidth, height: kHeight - 1};
  }

  private paint(): void {
    if (!this.points || !this.labels) return;
    const {context} = this.surface;
    const frame = this.frame();
    const {left, width} = frame;
    const x = (ns: number): number => xIn(frame, ns);
    context.strokeStyle = variable('--grid');
    context.lineWidth = 1;
    context.strokeRect(left + 0.5, 0.5, width - 1, kHeight - 1);
    paintStack(context, this.points, this.labels, frame);
    paintEvicted(this.app, context, x, 0, kHeight, [left, left + width], 1, 'evicted');
    context.font = kFont;
    context.textBaseline = 'middle';
    context.fillStyle = variable('--ink-soft');
    context.fillText('all of it', 4, kHeight / 2);
    const [begin, end] = [Math.max(left, x(this.app.place.from)), Math.min(left + width, x(this.app.place.to))];
    context.fillStyle = variable('--surface');
    context.globalAlpha = 0.62;
    context.fillRect(left, 0, begin - left, kHeight);
    context.fillRect(end, 0, left + width - end, kHeight);
    context.globalAlpha = 1;
    context.strokeStyle = variable('--accent');
    context.lineWidth = 2;
    context.strokeRect(begin + 1, 1, Math.max(1, end - begin - 2), kHeight - 2);
    context.fillStyle = variable('--accent');
    for (const edge of [begin, end]) context.fillRect(edge - 2, kHeight / 2 - 9, 4, 18);
  }

  private nsAt(x: number): number {
    const {from, to, left, width} = this.frame();
    return from + ((x - left) / width) * (to - from);
  }

  private kindAt(x: number): Drag['kind'] {
    const frame = this.frame();
    const [begin, end] = [xIn(frame, this.app.place.from), xIn(frame, this.app.place.to)];
    const isWhole = begin <= frame.left + 1 && end >= frame.left + frame.width - 1;
    const nearest = Math.abs(x - begin) < Math.abs(x - end) ? 'from' : 'to';
    if (Math.min(Math.abs(x - begin), Math.abs(x - end)) <= kEdgePixels) return nearest;
    return x > begin && x < end && !isWhole ? 'move' : 'new';
  }

  // Shows from `from` to `to`, in any order, within the recording.
  private go(from: number, to: number): void {
    const whole = this.app.whole();
    const [begin, end] = [Math.max(whole.from, Math.min(from, to)), Math.min(whole.to, Math.max(from, to))];
    if (end - begin >= 1000) this.app.go({from: begin, to: end});
  }

  // Moves the part without a change of its length.
  private move(from: number, span: number): void {
    const whole = this.app.whole();
    const begin = Math.max(whole.from, Math.min(from, whole.to - span));
    this.app.go({from: begin, to: begin + span});
  }

  private dragTo({kind, x, from, to}: Drag, now: number): void {
    const by = this.nsAt(now) - this.nsAt(x);
    if (kind === 'move') this.move(from + by, to - from);
    if (kind === 'from') this.go(from + by, to);
    if (kind === 'to') this.go(from, to + by);
    if (kind === 'new' && Math.abs(now - x) > kClickPixels) this.go(this.nsAt(x), this.nsAt(now));
  }

  private listen(): void {
    const {canvas} = this.surface;
    const xOf = (event: PointerEvent): number => event.clientX - canvas.getBoundingClientRect().left;
    canvas.addEventListener('pointerdown', (event) => {
      const {from, to} = this.app.place;
      this.drag = {kind: this.kindAt(xOf(event)), x: xOf(event), from, to};
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (this.drag) return this.dragTo(this.drag, xOf(event));
      const cursors = {move: 'grab', from: 'ew-resize', to: 'ew-resize', new: 'crosshair'};
      canvas.style.cursor = cursors[this.kindAt(xOf(event))];
    });
    canvas.addEventListener('pointerup', (event) => {
      const drag = this.drag;
      this.drag = undefined;
      if (drag?.kind !== 'new' || Math.abs(xOf(event) - drag.x) > kClickPixels) return;
      this.move(this.nsAt(drag.x) - (drag.to - drag.from) / 2, drag.to - drag.from);
    });
    canvas.addEventListener('pointercancel', () => (this.drag = undefined));
    canvas.addEventListener('dblclick', () => this.app.wholeTime());
  }
}
