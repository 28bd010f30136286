// The headline and the sections of a report, as simoom.show.sections declares them in Python: that
// table is `sections` of the catalogue, and here is how its rows are found and values written.

import type { Table } from "../api";

/** Whole numbers are bigints: they are written as they are. */
export type Value = number | bigint | string | null;
type Row = Record<string, Value | undefined>;
export type Summary = Map<string, Value>;

export interface Catalogue {
  sections: { title: string; rows: string;
    columns: { key: string; heading: string; write: string; words: boolean }[] }[];
  /** The names of the lines of the headline. */
  headline: string[];
  /** Uses of the airtime, and what limits a sender by its path, with labels. */
  airtime: [string, string][]; limits: [string, string][];
  /** Kinds of the airtime of a node. */
  sent: string[];
  causes: { label: string; result: string }[];
  /** The causes of losses that are told even if nothing is lost. */
  always: string[];
  most_rows: number;
}

// --- Numbers ------------------------------------------------------------------------------------

function number(value: Value | undefined): number | null {
  if (typeof value === "bigint") return Number(value);
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** A number with so many decimals; halves go to the even digit, as in Python. */
export function fixed(value: number, decimals: number): string {
  if (Math.abs(value) >= 1e21) return String(BigInt(value));
  const exact = Math.abs(value).toFixed(100);
  const end = exact.indexOf(".") + 1 + decimals;
  const kept = exact.slice(0, decimals ? end : end - 1);
  const isHalf = /^50*$/.test(exact.slice(end));
  const isEven = "02468".includes(kept[kept.length - 1]);
  return isHalf && isEven ? (value < 0 ? "-" : "") + kept : value.toFixed(decimals);
}

/** A number with so many significant digits, if possible without an exponent. */
export function digits(value: number, count = 3): string {
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  if (exponent > -5 && exponent < 9) return fixed(value, Math.max(0, count - 1 - exponent));
  const [part, power] = value.toExponential(count - 1).split("e");
  const sign = power[0];
  const short = part.includes(".") ? part.replace(/\.?0+$/, "") : part;
  return `${short}e${sign}${power.slice(1).padStart(2, "0")}`;
}

function plain(value: Value | undefined): string {
  if (value == null || (typeof value === "number" && !Number.isFinite(value))) return "-";
  return typeof value === "number" ? digits(value) : String(value);
}

const known = (write: (value: number) => string) => (value: Value | undefined) => {
  const found = number(value);
  return found === null ? "-" : write(found);
};

const interval = known((value) => `±${digits(value, 2)}`);
const milliseconds = known((value) => digits(1e3 * value));

/** How values are written, by the names of the functions of Python. */
const WRITE: Record<string, (value: Value | undefined) => string> = {
  plain, interval, milliseconds,
  percent: known((value) => fixed(100 * value, 1)),
  thousandths: known((value) => fixed(value, 3)),
  hundredths_of_ms: known((value) => (value ? fixed(1e3 * value, 2) : "-")),
};

/** The sum of numbers, with what each addition has rounded away. */
function sum(values: number[]): number {
  let [total, rest] = [0, 0];
  for (const value of values) {
    const next = total + value;
    rest += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total + rest;
}

// --- Rows ---------------------------------------------------------------------------------------

function rows(summary: Summary, list: string): Row[] {
  const found: Row[] = [];
  const element = new RegExp(`^${list}\\[(\\d+)\\]\\.(.*)$`);
  for (const [path, value] of summary) {
    const match = element.exec(path);
    if (match) (found[Number(match[1])] ??= {})[match[2]] = value;
  }
  return found.filter(Boolean);
}

/** The values below a path. */
function below(values: Iterable<[string, Value | undefined]>, prefix: string): Row {
  return Object.fromEntries([...values].filter(([path]) => path.startsWith(prefix))
    .map(([path, value]) => [path.slice(prefix.length), value]));
}

const has = (row: Row, key: string) => row[key] != null;

/** Finds rows in a summary, by the names of the functions of Python. */
export class Finder {
  constructor(private readonly summary: Summary, private readonly of: Catalogue) {}

  find(name: string): Row[] {
    const found: Record<string, () => Row[]> = {
      groups: () => this.groups(), flow_rows: () => this.flows(), hops: () => this.hops(),
      delays: () => this.delays(), links: () => this.links(), nodes: () => this.nodes(),
      mu_users: () => this.nodes().filter((row) => "mu.ppdus" in row),
      reusers: () => this.nodes().filter((row) => "spatial_reuse.ignored" in row),
      sleepers: () => this.stations("power_save.awake_fraction"),
      roamers: () => this.stations("roaming.handovers"), handovers: () => this.handovers(),
      interferers: () => rows(this.summary, "interferers"), airtime: () => this.airtime(),
    };
    return found[name]?.() ?? [];
  }

  limited(flow: Row): [string, number][] {
    return this.of.limits.map(([path, name]) => [name, number(flow[path])] as const)
      .filter((own): own is [string, number] => own[1] !== null);
  }

  flows(): Row[] {
    const flows = rows(this.summary, "flows");
    for (const flow of flows) {
      const limits = this.limited(flow);
      if (!limits.length) continue;
      const [name, part] = limits.reduce((most, own) => (own[1] > most[1] ? own : most));
      flow.limited_by = `${name} ${fixed(100 * part, 0)} %`;
    }
    if (flows.some((flow) => flow.name !== `${flow.from}->${flow.to}`)) {
      for (const flow of flows) flow.route = `${flow.from} → ${flow.to}`;
    }
    return flows;
  }

  private groups(): Row[] {
    const flows = this.flows();
    if (flows.length <= this.of.most_rows) return [];
    const groups = new Map<string, Row[]>();
    for (const flow of flows) {
      const name = groupOf(flow);
      groups.set(name, [...(groups.get(name) ?? []), flow]);
    }
    return [...groups].map(([name, members]) => {
      const rates = members.map((flow) => number(flow.goodput_mbps) ?? 0);
      const lost = members.reduce((total, flow) => total + Math.trunc(number(flow.lost) ?? 0), 0);
      return {
        name, flows: BigInt(members.length), goodput_mbps: sum(rates),
        least_mbps: Math.min(...rates), most_mbps: Math.max(...rates), lost: BigInt(lost),
      };
    });
  }

  private nodes(): Row[] {
    const ap = below(this.summary, "ap.");
    if (!Object.keys(ap).length) return [];
    const further = rows(this.summary, "cells");
    const table: Row[] = [{ name: further.length ? "ap" : "access point", ...ap },
      ...further.map((row, k) => ({ name: `cells[${k}]`, ...row })),
      ...rows(this.summary, "stations")];
    for (const row of table) {
      const sent = this.of.sent.map((kind) => number(row[`airtime.${kind}_fraction`]));
      if (sent.some((part) => part !== null)) row.on_air = sum(sent.map((part) => part ?? 0));
    }
    return table;
  }

  private links(): Row[] {
    const directions = rows(this.summary, "links").flatMap((link) => {
      const own = Object.entries(link);
      const forward = Object.fromEntries(own.filter(([key]) => !key.startsWith("reverse.")));
      return [forward, { name: `${link.name}, reverse`, ...below(own, "reverse.") }] as Row[];
    });
    const counters = ["packets", "drops", "losses"];
    return directions.filter((row) => counters.some((key) => number(row[key])))
      .map((row) => ({ ...row, route: `${row.from} → ${row.to}` }));
  }

  private delays(): Row[] {
    const wires: Row[] = ["wire.down", "wire.up"].map((name) =>
      ({ name, ...below(this.summary, `${name}.`) }));
    const parts = ["queueing_s", "contention_s", "transmission_s", "retries_s", "propagation_s"];
    return [...wires, ...this.links(), ...this.nodes()].flatMap((row) => {
      if (number(row.queueing_s) === null) return [];
      const own = parts.filter((part) => has(row, part));
      const delay_s = sum(own.map((part) => number(row[part]) ?? 0));
      const values = Object.fromEntries(own.map((part) => [part, row[part]]));
      return [{ name: row.name, ...values, delay_s }];
    });
  }

  private hops(): Row[] {
    return rows(this.summary, "hops").map((row) =>
      ({ name: row.flow, hop: `${row.at} → ${row.to}`, ...row }));
  }

  private stations(key: string): Row[] {
    return rows(this.summary, "stations").filter((row) => key in row);
  }

  private handovers(): Row[] {
    const cell = (value: number | null) => (value ? `cells[${Math.round(value) - 1}]` : "ap");
    return this.stations("roaming.handovers").flatMap((station) => {
      const found: Row[] = [];
      for (let n = 0; ; n++) {
        const of = (name: string) => number(station[`roaming.handover_${name}[${n}]`]);
        const at = of("at_s");
        if (at === null) return found;
        found.push({ name: station.name, at: digits(at), from: cell(of("from")),
          to: cell(of("to")) });
      }
    });
  }

  private airtime(): Row[] {
    if (!this.summary.has("airtime.idle_fraction")) return [];
    return this.of.airtime.flatMap(([kind, name]) => {
      const share = number(this.summary.get(`airtime.${kind}_fraction`));
      return share ? [{ name, kind, share }] : [];
    });
  }
}

/** The group of a flow: its name without the ends, or its direction. */
function groupOf(flow: Row): string {
  const [name, from, to] = [flow.name, flow.from, flow.to].map((value) => String(value ?? ""));
  const words = name.split(/\s+/).filter((word) =>
    word && word !== from && word !== to && !word.startsWith("#"));
  if (words.length && !name.includes("->")) return words.join(" ");
  return [from, to].map((end) => end.replace(/[0-9]+$/, "*")).join(" → ");
}

export function tables(summary: Summary, of: Catalogue): Table[] {
  const finder = new Finder(summary, of);
  return of.sections.flatMap(({ title, rows: name, columns }) => {
    const found = finder.find(name);
    if (!found.length) return [];
    const used = columns.filter(({ key }) => found.some((row) => has(row, key)));
    return [{
      title, caption: "",
      columns: used.map(({ heading, words }) => ({ heading, words })),
      rows: found.map((row) => used.map(({ key, write }) => WRITE[write](row[key]))),
    }];
  });
}

// --- The headline -------------------------------------------------------------------------------

/** What each line says of a summary, in the order of `HEADLINE`; nothing if it is empty. */
export function headline(summary: Summary, of: Catalogue): [string, string][] {
  const flows = new Finder(summary, of).flows();
  const at = (path: string) => number(summary.get(path));
  const delay = (path: string) => (at(`${path}.mean`) === null ? ""
    : `${milliseconds(at(`${path}.mean`))} ms, 95 % within ${milliseconds(at(`${path}.p95`))} ms`);
  const single = (path: string) => (at(path) === null ? "" : digits(at(path)!));
  const files = delay("total.session_delay_s").replace(" ms,", " ms each,");
  const failures = at("routing.link_failures");
  const messages = at("routing.messages");
  const lines = [
    conferences(flows),
    calls(flows),
    at("total.goodput_mbps") === null ? ""
      : `${single("total.goodput_mbps")} ${interval(at("total.goodput_ci95_mbps"))} Mb/s`,
    single("total.jain_index"),
    single("total.collision_probability"),
    delay("total.delay_s"),
    files && `${plain(summary.get("total.session_delay_s.count"))} in ${files}`,
    losses(summary, flows, of),
    failures === null ? "" : `${fixed(failures, 0)}, `
      + `${fixed(at("routing.false_link_failures") ?? 0, 0)} to neighbours in range`,
    messages ? `${fixed(messages, 0)}, `
      + `${fixed((at("routing.message_bytes") ?? 0) / 1e3, 0)} kB` : "",
    limits(summary, of),
  ];
  return of.headline.map((name, n): [string, string] => [name, lines[n]])
    .filter(([, text]) => text);
}

/** Freezes, late frames and rate of the conference with most late frames. */
function conferences(flows: Row[]): string {
  const late = (flow: Row) => number(flow["conference.late_fraction"]);
  const found = flows.filter((flow) => late(flow) !== null);
  if (!found.length) return "";
  const worst = found.reduce((most, own) => (late(own)! > late(most)! ? own : most));
  const share = fixed(100 * late(worst)!, 1);
  const text = `${plain(worst["conference.freezes"])} freezes, ${share} % of the frames late, `
    + `${digits(number(worst["conference.rate_mbps"]) ?? 0)} Mb/s`;
  return found.length > 1 ? `${text} (${worst.name})` : text;
}

function calls(flows: Row[]): string {
  const scores = new Map(flows.filter((flow) => number(flow.mos) !== null)
    .map((flow) => [String(flow.name), number(flow.mos)!]));
  if (!scores.size) return "";
  const [name, worst] = [...scores].reduce((least, own) => (own[1] < least[1] ? own : least));
  const mean = sum([...scores.values()]) / scores.size;
  return `MOS ${digits(worst)}${scores.size > 1 ? ` (${name}), ${digits(mean)} in the mean` : ""}`;
}

/** How many packets are lost by each cause; the first causes also if by none. */
function losses(summary: Summary, flows: Row[], of: Catalogue): string {
  if (number(summary.get("total.queue_drops")) === null) return "";
  const told: [string, number][] = [];
  for (const { label, result } of of.causes) {
    const path = `total.${result}`;
    const own = summary.has(path) ? number(summary.get(path)) ?? 0
      : sum(flows.map((flow) => number(flow[result]) ?? 0));
    if (own || (summary.has(path) && of.always.includes(result))) told.push([label, own]);
  }
  const text = told.map(([label, count]) => `${fixed(count, 0)} ${label}`).join(", ");
  const lost = number(summary.get("total.lost"));
  const isAll = lost === null || lost === sum(told.map(([, count]) => count));
  return isAll ? text : `${fixed(lost, 0)} by all causes; discarded: ${text}`;
}

/** What limited TCP senders for at least 1 % of the time, in the mean of the flows. */
function limits(summary: Summary, of: Catalogue): string {
  const finder = new Finder(summary, of);
  const all = rows(summary, "flows").map((flow) => new Map(finder.limited(flow)))
    .filter((own) => own.size);
  const mean = [...(all[0]?.keys() ?? [])].map((name): [string, number] =>
    [name, sum(all.map((own) => own.get(name) ?? 0)) / all.length]);
  const parts = mean.sort((a, b) => b[1] - a[1]).filter(([, part]) => part >= 0.01)
    .map(([name, part]) => `${name} ${fixed(100 * part, 0)} %`);
  return parts.length ? `${parts.join(", ")} of the time` : "";
}
