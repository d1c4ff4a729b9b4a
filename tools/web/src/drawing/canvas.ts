// A canvas that is as sharp as the screen and is drawn anew when its size changes.

export interface Surface {
  canvas: HTMLCanvasElement;
  context: CanvasRenderingContext2D;
  width: number;  // CSS pixels
  height: number;
  draw(): void;  // soon, once a frame
}

export function surface(label: string, height: () => number, paint: (surface: Surface) => void): Surface {
  const canvas = document.createElement('canvas');
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', label);
  canvas.tabIndex = 0;
  const context = canvas.getContext('2d')!;
  let waiting = false;
  const paintNow = (): void => {
    if (!canvas.isConnected) return;
    made.width = canvas.parentElement!.clientWidth;
    made.height = height();
    const scale = devicePixelRatio || 1;
    canvas.width = Math.round(made.width * scale);
    canvas.height = Math.round(made.height * scale);
    canvas.style.width = `${made.width}px`;
    canvas.style.height = `${made.height}px`;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, made.width, made.height);
    paint(made);
  };
  const made: Surface = {
    canvas,
    context,
    width: 0,
    height: 0,
    draw() {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        paintNow();
      });
    },
  };
  new ResizeObserver(() => {
    if (canvas.isConnected && canvas.parentElement!.clientWidth !== made.width) made.draw();
  }).observe(canvas);
  surfaces.add(new WeakRef(made));
  paints.set(made, paintNow);
  return made;
}

// Those that are still there: views make new ones of what is shown now.
const surfaces = new Set<WeakRef<Surface>>();
const paints = new WeakMap<Surface, () => void>();

function eachSurface(act: (made: Surface) => void): void {
  for (const reference of [...surfaces]) {
    const made = reference.deref();
    if (made) {
      act(made);
    } else {
      surfaces.delete(reference);
    }
  }
}

addEventListener('resize', () => eachSurface((made) => made.draw()));

// At once: a page that is printed waits for no frame.
export function paintAll(): void { eachSurface((made) => paints.get(made)!()); }

export const kFont = '12px system-ui, \'Segoe UI\', Roboto, \'DejaVu Sans\', sans-serif';

// As much of a text as fits; "" where that is next to nothing.
export function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (width < 18) return '';
  if (context.measureText(text).width <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width)
      low = middle;
    else
      high = middle - 1;
  }
  return low < 2 ? '' : `${text.slice(0, low)}…`;
}

// Ticks of an axis of time.
export function timeTicks(from: number, to: number, most: number): {ns: number; step: number}[] {
  const raw = (to - from) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(Math.max(raw, 1)));
  const step = [1, 2, 5, 10].map((times) => times * power).find((value) => value >= raw) ?? raw;
  const ticks: {ns: number; step: number}[] = [];
  for (let ns = Math.ceil(from / step) * step; ns <= to; ns += step) ticks.push({ns, step});
  return ticks;
}

// Round numbers of bytes, a power of two times 1 … .
export function byteTicks(most: number, count: number): number[] {
  let step = 1;
  while (most / step > count) step *= 2;
  const ticks: number[] = [];
  for (let bytes = 0; bytes <= most; bytes += step) ticks.push(bytes);
  return ticks;
}
