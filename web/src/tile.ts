// Tiles as crates/trace/src/air/tile.rs writes them: a header, and columns at multiples of eight.

export interface Frames {
  start: Float64Array; end: Float64Array; preamble: Uint32Array; number: Uint32Array;
  exchange: Uint32Array; from: Uint32Array; to: Uint32Array; lostTo: Uint32Array;
  kind: Uint8Array; outcome: Uint8Array; flags: Uint8Array; category: Uint8Array;
}
export interface Bins {
  bin: Uint32Array; radio: Uint32Array; frames: Uint32Array; lost: Uint32Array;
  retried: Uint32Array; share: Float32Array; kind: Uint8Array;
}
export interface Waits {
  start: Float64Array; end: Float64Array; radio: Uint32Array; before: Uint32Array;
  after: Uint32Array; kind: Uint8Array; category: Uint8Array;
}
export interface Points {
  at: Float64Array; low: Float32Array; high: Float32Array; series: Uint32Array;
}
/** Events of routers; of a long stretch one of each bin, node and step, without destination. */
export interface Routes {
  at: Float64Array; node: Uint32Array; destination: Uint32Array; hops: Uint32Array;
  step: Uint8Array;
}
export interface Tile {
  level: number; start: number; length: number;
  frames: Frames | null; bins: Bins | null; waits: Waits; points: Points; routes: Routes;
  lacksWaits: boolean;
}

export const BINS = 256;
export const NONE = 0xffffffff;
export const RETRY = 1;

export function decode(data: ArrayBuffer, number: number): Tile {
  const [version, bits, count, waits, points, level, routes] = new Uint32Array(data, 0, 8);
  if (version !== 1) throw new Error(`tiles of version ${version} are not known here`);
  let at = 32;
  const next = (length: number) => {
    const own = at;
    at += Math.ceil(length / 8) * 8;
    return own;
  };
  const f64 = (n: number) => new Float64Array(data, next(8 * n), n);
  const f32 = (n: number) => new Float32Array(data, next(4 * n), n);
  const u32 = (n: number) => new Uint32Array(data, next(4 * n), n);
  const u8 = (n: number) => new Uint8Array(data, next(n), n);
  let frames: Frames | null = null;
  let bins: Bins | null = null;
  const n = count;
  if (bits & 1) {
    bins = {
      bin: u32(n), radio: u32(n), frames: u32(n), lost: u32(n), retried: u32(n), share: f32(n),
      kind: u8(n),
    };
  } else {
    frames = {
      start: f64(n), end: f64(n), preamble: u32(n), number: u32(n), exchange: u32(n),
      from: u32(n), to: u32(n), lostTo: u32(n), kind: u8(n), outcome: u8(n), flags: u8(n),
      category: u8(n),
    };
  }
  const own: Waits = {
    start: f64(waits), end: f64(waits), radio: u32(waits), before: u32(waits), after: u32(waits),
    kind: u8(waits), category: u8(waits),
  };
  const lines: Points = {
    at: f64(points), low: f32(points), high: f32(points), series: u32(points),
  };
  const ways: Routes = {
    at: f64(routes), node: u32(routes), destination: u32(routes), hops: u32(routes),
    step: u8(routes),
  };
  const length = 2 ** level;
  return {
    level, length, start: number * length, frames, bins, waits: own, points: lines, routes: ways,
    lacksWaits: (bits & 2) !== 0,
  };
}
