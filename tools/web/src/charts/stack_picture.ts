// Bytes over time as stacked areas without axes: the overview's small picture, and the strip above the timeline.
import type {Points} from '../report/curves';
import type {Labels} from '../report/labels';

export interface Frame {
  from: number;  // ns, at the left edge
  to: number;
  left: number;  // pixels
  width: number;
  height: number;  // the highest area ends 6 pixels below the top
}

export const xIn = ({from, to, left, width}: Frame, ns: number): number => left + ((ns - from) / (to - from)) * width;

export function paintStack(context: CanvasRenderingContext2D, points: Points, labels: Labels, frame: Frame): void {
  const {height} = frame;
  const most = points.most.reduce((all, bytes) => Math.max(all, bytes), 1);
  const y = (sum: number): number => Math.round(height - (sum / most) * (height - 6));
  const below = new Array<number>(points.ns.length).fill(0);
  points.parts.forEach((part, place) => {
    context.fillStyle = labels.colour(points.labels[place]!);
    for (let i = 0; i + 1 < points.ns.length; ++i) {
      const [left, right] = [Math.floor(xIn(frame, points.ns[i]!)), Math.ceil(xIn(frame, points.ns[i + 1]!))];
      const sum = below[i]! + part[i]!;
      context.fillRect(left, y(sum), right - left, y(below[i]!) - y(sum));
      below[i] = sum;
    }
  });
}
