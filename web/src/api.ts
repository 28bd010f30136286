// What the page asks, and what it is told: of a server, or of workers beside the page.

import { batch, signal } from "@preact/signals";

export interface Issue { path: string; message: string; from: number; to: number; line: number }
/** A variation of a shipped scenario: settings as PATH=VALUE, and what then happens. */
export interface Try { set: string[]; words: string }
export interface Picture {
  nodes: [number, number, "ap" | "station" | "node"][];
  lines: [number, number, number, number, boolean][];
}
export interface GalleryEntry {
  name: string; title: string; about: string; text: string; tries: Try[]; picture: Picture;
}
export interface Start {
  version: string;
  gallery: GalleryEntry[];
  /** The scenario with which the server was started; of a shipped one its name in the gallery. */
  first: { name: string; text: string; entry?: string } | null;
  limits: { scenario_bytes: number; airs_mib: number };
  /** The results in the list of runs, with their names. */
  listed: [string, string][];
  /** What else the page can show of a scenario or a run: "why", "files". */
  views: string[];
  /** The units of results, by paths with [i] for each index. */
  units: Record<string, string>;
}
export type Samples = { t: number[]; v: (number | null)[] };
export type SeriesByPath = Record<string, Samples>;
export interface MapNode { name: string; at: [number, number]; path?: string }
export interface MapLink {
  from: string; to: string; signal_dbm: number | null; detected: boolean;
  rate_mbps: number | null; success: number | null;
}
export interface SpaceMap { nodes: MapNode[]; links: MapLink[]; hidden: [string, string][] }
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Keys = Record<string, any>;
export interface DraftState { issues: Issue[]; keys: Keys | null; map: SpaceMap | null }
export type Value = number | string | null;
export interface RunEntry {
  id: string; name: string | null; title: string; seed: number; replication: number;
  state: "waiting" | "running" | "done" | "stopped" | "failed";
  progress: number; message?: string; simulated_s: number; made_s?: number;
  /** Of a run in progress, for how long it has run. */
  running_s?: number | null;
  results?: Record<string, Value>; has_air?: boolean; air_dropped?: boolean;
  /** Changes whenever an explanation of the run is kept. */
  explained?: string | null;
  /** Of runs that explain another: its id, and the flow. */
  explains?: string | null; flow?: string | null;
  /** Of the runs of a sweep: its id. */
  sweep?: string | null;
  /** Of pairs of runs: the ids of those that they compare. */
  compares?: [string, string] | null;
}
/** A sweep of the library; `made` changes whenever it is run. */
export interface SweepEntry {
  id: string; name: string; axes: Record<string, number>; replications: number; made: string;
}
/** A section of a report: values as they are written. */
export interface Table {
  title: string; caption: string; columns: { heading: string; words: boolean }[]; rows: string[][];
}
/** Name and traffic of flows, and names of stations, by their paths. */
export type Owners = Record<string, { name: string; kind: string }>;
export interface RunResults extends RunEntry {
  owners: Owners;
  summary: Record<string, Value>; scenario: string; series: SeriesByPath;
  headline: [string, string][]; tables: Table[];
  /** What misleads about the results; runs of older versions have none. */
  notices?: string[];
  digest: string; events: number;
}

export const start = signal<Start | null>(null);
export const runs = signal<RunEntry[]>([]);
export const sweeps = signal<SweepEntry[]>([]);
export const isOnline = signal(false);
export const said = signal("");

/** How an emulation goes, beside which the server runs. */
export interface Emulation {
  state: "running" | "ended"; title: string; at_s: number; ports: EmulatedPort[];
  handed_over: number; above_1ms: number; max_s: number; recent_max_s: number; dropped: number;
  verdict: string; run?: string | null;
  /** The uses of the air in the last half second; none without one cell. */
  airtime: { name: string; fraction: number }[];
}
export interface EmulatedPort {
  name: string; at: string; sent_mbps: number; received_mbps: number; ping_s: number | null;
  queue: number | null; on_the_way: number; refused: number; not_written: number;
}
export const emulation = signal<Emulation | null>(null);

export class ApiError extends Error {
  constructor(message: string, readonly issues: Issue[] = []) {
    super(message);
  }
}

/** Takes what has changed: the list of runs, and samples of the run that is watched. */
export interface Told { type: "runs" | "series" | "emulation" | "error"; [name: string]: unknown }
/** Who answers: the server of `simoom serve`, or the simulator in the page. */
export interface Host {
  /** The answer to a request, plain data; an error is an `ApiError`. */
  ask(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<unknown>;
  bytes(path: string, signal?: AbortSignal): Promise<ArrayBuffer>;
  /** Begins to tell what changes, and whether it can be asked. */
  connect(told: (message: Told) => void, online: (is: boolean) => void): void;
  tell(message: unknown): void;
}

let host: Host;

export const get = <T>(path: string): Promise<T> => host.ask("GET", path) as Promise<T>;

export const send = <T>(
  method: string, path: string, body?: unknown, signal?: AbortSignal,
): Promise<T> => host.ask(method, path, body, signal) as Promise<T>;

export const bytes = (path: string, signal?: AbortSignal): Promise<ArrayBuffer> =>
  host.bytes(path, signal);

/** Uses answers in the order of their questions: none that a later one has overtaken. */
export class Answers {
  private asked = 0;
  private used = 0;

  take<T>(answer: Promise<T>, use: (value: T) => void, fail: (error: Error) => void): void {
    const number = ++this.asked;
    const inOrder = <V>(then: (value: V) => void) => (value: V) => {
      if (number < this.used) return;
      this.used = number;
      then(value);
    };
    answer.then(inOrder(use), inOrder(fail));
  }
}

/** Takes samples: those after the ones before, or all of them anew. */
type Take = (series: SeriesByPath, anew: boolean, owners: Owners | null) => void;

let watched: string | null = null;
let onSeries: Take | null = null;

/** From now on, this one answers. */
export function attach(own: Host): void {
  host = own;
  host.connect((message) => {
    if (message.type === "runs") {
      batch(() => {
        runs.value = message.runs as RunEntry[];
        sweeps.value = message.sweeps as SweepEntry[];
      });
    }
    if (message.type === "series" && message.id === watched) {
      onSeries?.(message.series as SeriesByPath, message.anew as boolean,
        (message.owners as Owners | undefined) ?? null);
    }
    if (message.type === "emulation") emulation.value = message.emulation as Emulation;
    if (message.type === "error") said.value = message.message as string;
  }, (is) => {
    isOnline.value = is;
    if (is) host.tell({ type: "watch", id: watched });
  });
}

/** Receives the samples of a run from its begin on, until another is watched. */
export function watch(id: string | null, take: Take | null): void {
  watched = id;
  onSeries = take;
  host.tell({ type: "watch", id });
}

/** Queues a run and returns its id, when the list of runs has it: its view asks for no results. */
export async function queue(
  body: { text: string; seed: number; name: string; air: boolean },
): Promise<string> {
  const { id } = await send<{ id: string }>("POST", "/api/runs", body);
  const told = runs.value;
  const listed = await get<RunEntry[]>("/api/runs");
  // What the socket has told meanwhile may be newer, and is never told again.
  if (runs.value === told || !runs.value.some((run) => run.id === id)) runs.value = listed;
  return id;
}

/** Whether the page can show this of a scenario or a run. */
export const has = (view: string) => start.value?.views.includes(view) ?? false;
export const stop = (id: string) => host.tell({ type: "stop", id });
export const nameOf = (run: RunEntry) => run.name || run.title || "A run without a title";

const unitOf = (path: string) => start.value?.units[path.replace(/\[\d+\]/g, "[i]")] ?? "";

/** The words of a result without its unit, for values that have theirs. */
export function bare(words: string, path: string): string {
  const end = `, ${unitOf(path)}`;
  return words.endsWith(end) ? words.slice(0, -end.length) : words;
}

/** A value with its unit; seconds are written as milliseconds. */
export function written(path: string, value: Value | undefined): string {
  if (typeof value !== "number") return value ?? "–";
  const unit = unitOf(path);
  if (unit === "s") return `${(1000 * value).toPrecision(4)} ms`;
  const number = Number.isInteger(value) ? value.toLocaleString("en") : value.toPrecision(4);
  return `${number} ${unit}`.trimEnd();
}
