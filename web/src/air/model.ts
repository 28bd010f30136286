// What a timeline has, which stretch is shown, and the tiles of it.

import { bytes, get } from "../api";
import { decode, type Tile } from "../tile";

export interface Frame {
  number: number; start_ns: number; end_ns: number; preamble_ns: number; exchange: number;
  from: number; to: number | null; lost_to: number | null; kind: number; access_category: number;
  outcome: number; is_lost: boolean; mcs: number | null; streams: number; width_mhz: number;
  mpdus: number; retried: number; received: number; psdu_bytes: number; nav_ns: number;
  rate_mbps: number; signal_dbm: number | null; mpdus_carried?: Mpdu[];
  /** Of a user of a PPDU of several: its resource unit, and the bytes up to the common end. */
  tones: number | null; ru_index?: number | null; padding_bytes?: number | null;
  /** The 20 MHz subchannels that it leaves out, by number. */
  punctured?: string | null;
  /**
   * The type of a Trigger frame; whom it asks, or a Multi-STA BlockAck acknowledges: radios and a
   * number of resource units for random access, or in words, where the rows are at hand.
   */
  trigger?: number | null; named?: number[]; random_units?: number; stations?: string;
}
export interface Mpdu {
  packet: number; flow: number | null; bytes: number; sequence: number; retry: boolean;
  received: boolean;
  /** The TCP segment in words, where the rows are at hand. */
  segment?: string;
}
export interface Step {
  at_ns: number; what: "packet" | "frame" | "segment" | "acknowledged"; frame?: Frame; mpdu?: Mpdu;
  flow?: number | null; place_kind?: number; place?: number; step?: number; cause?: number | null;
  waiting?: number | null; seq?: number; ack?: number; length_bytes?: number; received?: boolean;
  reverse?: boolean; retransmission?: boolean; cwnd_bytes?: number | null; state?: number | null;
}
export interface About {
  /** Of a stretch of a run: where it begins, and the numbers of its first and last frame. */
  begin_ns?: number; numbers?: [number, number];
  end_ns: number; cut_ns: number | null; nodes: string[]; radios: string[]; wires: string[];
  flows: string[]; states: string[]; kind: string[]; outcome: string[]; access_category: string[];
  wait: string[]; trigger: string[]; step: string[]; cause: string[]; route: string[];
  is_access_point: boolean[];
  series: [string, number][]; frames: number; waits: number; lost: number; retried: number;
  routes: number;
  by_radio: [number, number, number, number][];
  looks: Record<string, { colour: string; height: number }>; hatches: Record<string, string>;
}
export interface Query {
  radio?: number; kind?: number; outcome?: number; lost?: boolean; retried?: boolean;
}

/** Where a timeline comes from: the server, the kernel of a notebook, or rows in a page. */
export interface Source {
  about(): Promise<About>;
  tile(level: number, number: number): Promise<Tile>;
  find(query: Query, number: number, forward: boolean): Promise<Frame | null>;
  frame(number: number): Promise<Frame>;
  life(packet: number): Promise<Step[]>;
}

/** The timeline of a run of the server. */
export function served(id: string): Source {
  const base = `/api/runs/${id}/air`;
  return {
    about: () => get<About>(base),
    tile: async (level, number) => decode(await bytes(`${base}/tile/${level}/${number}`), number),
    find: (query, number, forward) => {
      const options = new URLSearchParams({ number: String(number), forward: forward ? "1" : "0" });
      for (const [name, value] of Object.entries(query)) {
        if (value !== undefined && value !== false) options.set(name, String(Number(value)));
      }
      return get<Frame | null>(`${base}/find?${options}`);
    },
    frame: (number) => get<Frame>(`${base}/frame/${number}`),
    life: (packet) => get<Step[]>(`${base}/life/${packet}`),
  };
}

/** The lowest level: a tile of a millisecond has few frames. */
const LOWEST = 20;
const HIGHEST = 53;
const KEPT = 400;
/** How many levels above are looked through for a tile that is drawn meanwhile. */
const ABOVE = 8;
const SHORTEST_NS = 1000;
export const MOST_LANES = 40;

/** A bin of a tile is as long as a tile this many levels below. */
const STEP = 8;

/** The last point of a series in a tile before an instant. */
function lastOf({ points }: Tile, series: number, before: number) {
  let found: { at: number; low: number; high: number } | null = null;
  for (let n = 0; n < points.at.length; n++) {
    if (points.series[n] !== series || points.at[n] >= before) continue;
    if (!found || points.at[n] >= found.at) {
      found = { at: points.at[n], low: points.low[n], high: points.high[n] };
    }
  }
  return found;
}

/** The level of tiles whose bins are about as wide as a pixel. */
function levelOf(span: number, width: number): number {
  const level = Math.ceil(Math.log2(span / Math.max(width, 1))) + STEP;
  return Math.min(Math.max(level, LOWEST), HIGHEST);
}

export class Model {
  start = 0;
  end = 0;
  readonly first: number;
  readonly lanes: number[];
  readonly laneOf = new Map<number, number>();
  /** Whether all tiles of the stretch that was drawn last were loaded. */
  isComplete = false;
  private readonly tiles = new Map<string, Tile | null>();
  private readonly radioOf: number[];
  private holding: { at: number; values: Map<number, number>; isKnown: boolean } | null = null;
  private readonly coming = new Map<string, Promise<Tile>>();

  constructor(private readonly source: Source, readonly about: About,
    private readonly changed: () => void) {
    this.first = about.begin_ns ?? 0;
    this.all();
    const busy = about.by_radio
      .map((sums, radio) => ({ radio, time: sums[0] }))
      .filter(() => about.frames > 0)
      .sort((a, b) => b.time - a.time)
      .slice(0, MOST_LANES)
      .map(({ radio }) => radio);
    const first = (radio: number) => (about.is_access_point[radio] ? 0 : 1);
    this.lanes = busy.sort((a, b) => first(a) - first(b) || a - b);
    this.lanes.forEach((radio, lane) => this.laneOf.set(radio, lane));
    this.radioOf = about.nodes.map((name) => about.radios.indexOf(name));
  }

  /** The lane of a node, which has the name of its radio. */
  laneOfNode(node: number): number | undefined {
    return this.laneOf.get(this.radioOf[node]);
  }

  get span(): number {
    return this.end - this.start;
  }

  /** Shows a stretch, within the run and not shorter than a microsecond. */
  show(start: number, end: number): void {
    const last = this.about.end_ns;
    const span = Math.min(Math.max(end - start, SHORTEST_NS), last - this.first);
    const middle = (start + end) / 2;
    this.start = Math.min(Math.max(middle - span / 2, this.first), last - span);
    this.end = this.start + span;
    this.changed();
  }

  all(): void {
    this.show(this.first, this.about.end_ns);
  }

  get isWhole(): boolean {
    return this.start <= this.first && this.end >= this.about.end_ns;
  }

  zoom(factor: number, at: number): void {
    const span = Math.max(this.span * factor, SHORTEST_NS);
    const start = at - (at - this.start) / this.span * span;
    this.show(start, start + span);
  }

  pan(by: number): void {
    this.show(this.start + by, this.end + by);
  }

  level(width: number): number {
    return levelOf(this.span, width);
  }

  /** The loaded tiles of the stretch, or of levels above where one is not loaded yet. */
  visible(width: number): { tile: Tile; from: number; to: number }[] {
    const level = this.level(width);
    const length = 2 ** level;
    const found: { tile: Tile; from: number; to: number }[] = [];
    const last = Math.floor(Math.min(this.end, this.about.end_ns - 1) / length);
    this.isComplete = true;
    for (let number = Math.floor(this.start / length); number <= last; number++) {
      const [from, to] = [number * length, (number + 1) * length];
      const own = this.tile(level, number);
      if (!own) this.isComplete = false;
      const tile = own ?? this.above(level, number);
      if (tile) found.push({ tile, from, to });
    }
    return found;
  }

  /** The tiles of the whole run, for a drawing of this width. */
  whole(width: number): Promise<Tile[]> {
    const [begin, end] = [this.first, this.about.end_ns];
    const level = levelOf(end - begin, width);
    const numbers = [begin, end - 1].map((at) => Math.floor(at / 2 ** level));
    return Promise.all(Array.from({ length: numbers[1] - numbers[0] + 1 }, (_, n) =>
      this.loaded(level, (numbers[0] + n) * 2 ** level)));
  }

  /** The instant from which the loaded tiles have all points. */
  begins(width: number): number {
    const length = 2 ** this.level(width);
    return Math.floor(this.start / length) * length;
  }

  /** The last value of each series before the tiles of the stretch; empty until it is known. */
  held(width: number): Map<number, number> {
    const at = this.begins(width);
    if (this.holding?.at !== at) {
      const own = { at, values: new Map<number, number>(), isKnown: at <= this.first };
      this.holding = own;
      if (!own.isKnown) {
        Promise.all(this.about.series.map((_, series) => this.before(series, at, this.level(width))
          .then((value) => { if (value !== null) own.values.set(series, value); })))
          // Without them the tracks begin with their first points.
          .finally(() => { own.isKnown = true; }).then(this.changed, this.changed);
      }
    }
    this.isComplete &&= this.holding.isKnown;
    return this.holding.values;
  }

  /** The value of a series just before an instant: found in long tiles, and read in short ones. */
  private async before(series: number, at: number, level: number): Promise<number | null> {
    for (let up = level; ; up = Math.min(up + STEP, HIGHEST)) {
      const bin = 2 ** Math.max(up - STEP, 0);
      // What the bin of the instant has is later: the tile of its length was looked through.
      const until = up > level ? Math.floor((at - 1) / bin) * bin : at;
      const found = lastOf(await this.loaded(up, at - 1), series, until);
      if (found) {
        const end = Math.min(at, Math.floor(found.at / bin) * bin + bin);
        return found.low === found.high || up <= LOWEST ? found.high
          : (await this.before(series, end, Math.max(up - STEP, LOWEST))) ?? found.high;
      }
      if (up === HIGHEST || 2 ** up > this.about.end_ns) return null;
    }
  }

  private loaded(level: number, at: number): Promise<Tile> {
    const number = Math.floor(at / 2 ** level);
    const known = this.tiles.get(`${level}/${number}`);
    if (known) return Promise.resolve(known);
    const key = `${level}/${number}`;
    const coming = this.coming.get(key) ?? this.source.tile(level, number).then((tile) => {
      this.tiles.set(key, tile);
      this.coming.delete(key);
      return tile;
    });
    this.coming.set(key, coming);
    return coming;
  }

  private tile(level: number, number: number): Tile | null {
    const key = `${level}/${number}`;
    const known = this.tiles.get(key);
    if (known !== undefined) {
      this.tiles.delete(key);
      this.tiles.set(key, known);
      return known;
    }
    this.tiles.set(key, null);
    this.source.tile(level, number).then(
      (data) => {
        this.tiles.set(key, data);
        for (const old of this.tiles.keys()) {
          if (this.tiles.size <= KEPT) break;
          this.tiles.delete(old);
        }
        this.changed();
      },
      () => this.tiles.delete(key),
    );
    return null;
  }

  private above(level: number, number: number): Tile | null {
    for (let up = 1; up <= ABOVE; up++) {
      const tile = this.tiles.get(`${level + up}/${Math.floor(number / 2 ** up)}`);
      if (tile) return tile;
    }
    return null;
  }

  find(query: Query, number: number, forward: boolean): Promise<Frame | null> {
    return this.source.find(query, number, forward);
  }

  frame(number: number): Promise<Frame> {
    return this.source.frame(number);
  }

  life(packet: number): Promise<Step[]> {
    return this.source.life(packet);
  }
}

export async function open(source: Source, changed: () => void): Promise<Model> {
  return new Model(source, await source.about(), changed);
}

/** What the words of a search ask for; words that say nothing are left out. */
export function parse(words: string, about: About): Query | string {
  const query: Query = {};
  const outcomes = about.outcome.map((name) => name.toLowerCase());
  const kinds = about.kind.map((name) => name.toLowerCase());
  const empty = new Set(["next", "the", "of", "from", "by", "frame", "frames", "a", "with", "at"]);
  for (const word of words.toLowerCase().split(/[\s,]+/).filter(Boolean)) {
    const single = word.replace(/s$/, "");
    const radio = about.radios.findIndex((name) => name.toLowerCase() === word);
    const outcome = outcomes.findIndex((name) => name === word || name === single);
    if (radio >= 0) query.radio = radio;
    else if (outcome >= 0) query.outcome = outcome;
    else if (kinds.includes(word)) query.kind = kinds.indexOf(word);
    else if (/^(lost|losse?|loss)$/.test(single)) query.lost = true;
    else if (/^(retry|retrie|retransmission|retransmitted)$/.test(single)) query.retried = true;
    else if (!empty.has(word)) {
      return `“${word}” is no node, kind, outcome, lost or retry`;
    }
  }
  return query;
}
