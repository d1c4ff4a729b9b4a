// A `BlockLayout` gives every block of a device its place in the picture of blocks: a band over its life, as high as
// its bytes. Blocks are numbers in `Blocks`.

// The part of the picture that is shown. Vertical places are bytes above the bottom of the whole picture.
export interface BlockFrame {
  from: number;  // ns
  to: number;
  low: number;  // bytes
  high: number;
  left: number;  // pixels of the plot
  width: number;
  height: number;
}

export interface Ink {
  context: CanvasRenderingContext2D;
  colourOf(block: number): string;
  chosen: number;  // a block that gets an edge; -1: none
  edge: string;
}

export interface BlockLayout {
  // Bytes at the top of the highest band between two times.
  topBetween(from: number, to: number, width: number): number;
  // Bytes at the top of the highest band of the whole recording.
  readonly top: number;
  // Bands that the layout draws.
  readonly count: number;
  paint(frame: BlockFrame, ink: Ink): void;
  // The block at a place; -1: none.
  blockAt(frame: BlockFrame, ns: number, bytes: number): number;
  // The label of a tick of the y axis.
  tickText(bytes: number): string;
}

export const xOf = ({from, to, left, width}: BlockFrame, ns: number): number =>
    left + ((ns - from) / (to - from)) * width;
export const yOf = ({low, high, height}: BlockFrame, bytes: number): number =>
    (1 - (bytes - low) / (high - low)) * height;
