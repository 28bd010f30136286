// A stretch whose rows a page carries: answers what the server or a kernel answers elsewhere.

import { NONE, RETRY, type Tile } from "../tile";
import type { About, Frame, Mpdu, Source } from "./model";

type Numbers = Record<string, number[]>;
/** As simoom.show.rows writes it: times in ns after `start_s`, texts by their number in `words`. */
export interface Rows {
  start_s: number; end_ns: number; lanes: string[]; words: string[];
  kinds: About["looks"]; hatches: Record<string, string>; wait_kinds: string[];
  frames: Numbers; mpdus: Numbers & { segment: string[] }; waits: Numbers; routes: Numbers;
}

export function embedded(data: Rows): Source {
  const { frames, mpdus, waits, words } = data;
  const { time = [], node = [], event = [], destination = [], hops = [] } = data.routes;
  const begin = Math.round(data.start_s * 1e9);
  const count = frames.start.length;
  const of = (column: number[], names: string[]) =>
    column.map((word) => names.indexOf(words[word]));
  const listed = (column: number[]) => [...new Set(column)].filter((word) => word >= 0)
    .map((word) => words[word]);
  const word = (number: number) => (number < 0 ? null : words[number]);
  const [kinds, outcomes] = [Object.keys(data.kinds), listed(frames.outcome)];
  const [categories, flows] = [listed(frames.access_category), listed(mpdus.flow)];
  const routes = listed(event);
  const kind = of(frames.kind, kinds);
  const outcome = of(frames.outcome, outcomes);
  const category = of(frames.access_category, categories);
  const triggers = listed(frames.trigger);
  const trigger = of(frames.trigger, triggers);
  const waitKind = of(waits.kind, data.wait_kinds);
  const waitCategory = of(waits.access_category, categories);
  const isLost = outcomes.map((name) => name in data.hatches && name !== "unknown");
  const [longestFrame, longestWait] = [frames, waits].map(({ start, end }) =>
    start.reduce((most, at, n) => Math.max(most, end[n] - at), 0));
  const places = new Map(frames.number.map((number, place) => [number, place]));
  const carried: Mpdu[][] = frames.number.map(() => []);
  mpdus.frame.forEach((number, n) => carried[places.get(number)!].push({
    packet: mpdus.packet[n], flow: mpdus.flow[n] < 0 ? null : flows.indexOf(words[mpdus.flow[n]]),
    bytes: mpdus.bytes[n], sequence: mpdus.sequence[n], retry: mpdus.retry[n] > 0,
    received: mpdus.received[n] > 0, segment: mpdus.segment[n],
  }));

  const frame = (n: number): Frame => ({
    number: frames.number[n], start_ns: begin + frames.start[n], end_ns: begin + frames.end[n],
    preamble_ns: frames.payload[n] - frames.start[n], exchange: frames.exchange[n],
    from: frames.transmitter[n], to: known(frames.receiver[n]), lost_to: known(frames.lost_to[n]),
    kind: kind[n], access_category: category[n], outcome: outcome[n], is_lost: isLost[outcome[n]],
    mcs: frames.mcs[n], streams: frames.streams[n], width_mhz: frames.width_mhz[n],
    mpdus: frames.mpdus[n], retried: frames.mpdus_retried[n], received: frames.mpdus_received[n],
    psdu_bytes: frames.psdu_bytes[n], nav_ns: 1000 * frames.nav_us[n],
    rate_mbps: frames.rate_mbps[n], signal_dbm: frames.signal_dbm[n], mpdus_carried: carried[n],
    tones: frames.ru_tones[n], ru_index: frames.ru_index[n], padding_bytes: frames.padding_bytes[n],
    punctured: word(frames.punctured[n]), stations: word(frames.stations[n]) ?? "",
    trigger: trigger[n] < 0 ? null : trigger[n],
  });

  const about = (): About => {
    const sums = data.lanes.map((): [number, number, number, number] => [0, 0, 0, 0]);
    for (let n = 0; n < count; n++) {
      const own = sums[frames.transmitter[n]];
      own[0] += frames.end[n] - frames.start[n];
      own[1] += 1;
      own[2] += Number(isLost[outcome[n]]);
      own[3] += Number(frames.mpdus_retried[n] > 0);
    }
    const total = (place: number) => sums.reduce((sum, own) => sum + own[place], 0);
    return {
      begin_ns: begin, end_ns: begin + data.end_ns, cut_ns: null, frames: count,
      numbers: [Math.min(...frames.number), Math.max(...frames.number)],
      // The names of nodes are the first words, and a radio may be in none of the lanes.
      nodes: words, radios: words.slice(0, 1 + Math.max(data.lanes.length - 1,
        ...frames.lost_to)), is_access_point: data.lanes.map((name) => /^(ap|cells)/.test(name)),
      wires: [], flows, states: [], step: [], cause: [], series: [],
      route: routes, routes: time.length,
      kind: kinds, trigger: triggers, outcome: outcomes, access_category: categories,
      wait: data.wait_kinds,
      waits: waits.start.length, lost: total(2), retried: total(3), by_radio: sums,
      looks: data.kinds, hatches: data.hatches,
    };
  };

  const tile = (level: number, number: number): Tile => {
    const length = 2 ** level;
    const from = number * length - begin;
    const inside = ({ start, end }: Numbers, longest: number) => {
      const found = [];
      for (let n = firstAt(start, from - longest); start[n] < from + length; n++) {
        if (end[n] > from) found.push(n);
      }
      return found;
    };
    const own = inside(frames, longestFrame);
    const pauses = inside(waits, longestWait);
    const ways = inside({ start: time, end: time.map((at) => at + 1) }, 1);
    const [none, no] = [new Uint32Array(0), new Float32Array(0)];
    const at = (column: number[], some: number[]) =>
      Float64Array.from(some, (n) => begin + column[n]);
    const whole = (column: number[], some: number[]) =>
      Uint32Array.from(some, (n) => (column[n] === null || column[n] < 0 ? NONE : column[n]));
    const bytes = (column: number[], some: number[]) => Uint8Array.from(some, (n) => column[n]);
    return {
      level, length, start: number * length, bins: null, lacksWaits: false,
      frames: {
        start: at(frames.start, own), end: at(frames.end, own),
        preamble: Uint32Array.from(own, (n) => frames.payload[n] - frames.start[n]),
        number: whole(frames.number, own), exchange: whole(frames.exchange, own),
        from: whole(frames.transmitter, own), to: whole(frames.receiver, own),
        lostTo: whole(frames.lost_to, own), kind: bytes(kind, own), outcome: bytes(outcome, own),
        flags: Uint8Array.from(own, (n) => (frames.mpdus_retried[n] ? RETRY : 0)),
        category: bytes(category, own),
      },
      waits: {
        start: at(waits.start, pauses), end: at(waits.end, pauses),
        radio: whole(waits.node, pauses), before: whole(waits.slots_before, pauses),
        after: whole(waits.slots_after, pauses), kind: bytes(waitKind, pauses),
        category: bytes(waitCategory, pauses),
      },
      points: { at: new Float64Array(0), low: no, high: no, series: none },
      routes: {
        at: at(time, ways), node: whole(node, ways), destination: whole(destination, ways),
        hops: whole(hops, ways), step: bytes(of(event, routes), ways),
      },
    };
  };

  const find: Source["find"] = async (query, number, forward) => {
    const matches = (n: number) =>
      (query.radio === undefined || frames.transmitter[n] === query.radio)
      && (query.kind === undefined || kind[n] === query.kind)
      && (query.outcome === undefined || outcome[n] === query.outcome)
      && (!query.lost || isLost[outcome[n]]) && (!query.retried || frames.mpdus_retried[n] > 0);
    const [first, step] = forward ? [0, 1] : [count - 1, -1];
    for (let n = first; n >= 0 && n < count; n += step) {
      if (step * (frames.number[n] - number) > 0 && matches(n)) return frame(n);
    }
    return null;
  };

  return {
    about: async () => about(),
    tile: async (level, number) => tile(level, number),
    find,
    frame: async (number) => {
      const place = places.get(number);
      if (place === undefined) throw new Error(`This page has no frame ${number}.`);
      return frame(place);
    },
    life: async (packet) => frames.number.flatMap((_, n) => carried[n]
      .filter((mpdu) => mpdu.packet === packet)
      .map((mpdu) => ({ at_ns: begin + frames.start[n], what: "frame" as const, frame: frame(n),
        mpdu }))),
  };
}

const known = (word: number) => (word < 0 ? null : word);

/** The first place of rising values at which one is not less. */
function firstAt(values: number[], value: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
