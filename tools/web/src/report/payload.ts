// Reads the sections that `memoir report` put into the page (tools/view/report/report_section.h): columns of varints
// behind raw deflate and base64.

export class Reader {
  private at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  number(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new Error('a section of this report ends too early');
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  }

  numbers(count: number): Float64Array {
    const values = new Float64Array(count);
    for (let i = 0; i < count; ++i) values[i] = this.number();
    return values;
  }

  // A column whose neighbours are alike.
  differences(count: number): Float64Array {
    const values = new Float64Array(count);
    let value = 0;
    for (let i = 0; i < count; ++i) {
      const coded = this.number();
      value += coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2;
      values[i] = value;
    }
    return values;
  }

  // A column of few values.
  repeated(count: number): Float64Array {
    const known = this.numbers(this.number());
    const values = new Float64Array(count);
    for (let i = 0; i < count; ++i) values[i] = known[this.number()]!;
    return values;
  }
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

export const hasSection = (name: string): boolean => document.getElementById(name) !== null;

export async function sectionBytes(name: string): Promise<Uint8Array> {
  const element = document.getElementById(name);
  if (!element) throw new Error(`this report has no section ${name}`);
  const packed = new Blob([fromBase64(element.textContent ?? '')]).stream();
  const stream = packed.pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function sectionReader(name: string): Promise<Reader> { return new Reader(await sectionBytes(name)); }

export async function sectionJson<T>(name: string): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await sectionBytes(name))) as T;
}

// The missing feature of the browser; empty if it has all that the page needs.
export function missingFeature(): string {
  if (typeof DecompressionStream === 'undefined') return 'DecompressionStream (Chrome 103, Firefox 113, Safari 16.4)';
  try {
    new DecompressionStream('deflate-raw');
  } catch {
    return 'DecompressionStream of deflate-raw (Chrome 103, Firefox 113, Safari 16.4)';
  }
  return '';
}
