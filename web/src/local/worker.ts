// Holds the simulator, so that the page stays responsive and a run can be stopped: by its end.

import type { Issue, Keys, Owners, SeriesByPath } from "../api";
import { headline, tables, type Catalogue, type Summary } from "./tables";

/** What WebAssembly gives: crates/wasm. */
interface Simulator {
  memory: WebAssembly.Memory;
  input(bytes: number): number; ask(): number; advance(events: number): number;
  output(): number; output_bytes(): number;
}
export interface Question { do: string; [name: string]: unknown }
export interface Begin { module: WebAssembly.Module; catalogue: Catalogue }
interface Begun { issues?: Issue[]; keys: Keys; flows: Keys[]; nodes: string[] }

/** The time between two reports of a run. */
const NEWS_MS = 150;
/** Events between two looks at the clock: each may take milliseconds. */
const EVENTS = 64;

class Core {
  constructor(private readonly simulator: Simulator) {}

  ask<T>(question: Question): T {
    return JSON.parse(new TextDecoder().decode(this.bytes(question)));
  }

  bytes(question: Question): Uint8Array<ArrayBuffer> {
    const { simulator } = this;
    const written = new TextEncoder().encode(JSON.stringify(question));
    const address = simulator.input(written.length);
    new Uint8Array(simulator.memory.buffer, address, written.length).set(written);
    const length = simulator.ask();
    return this.read(length);
  }

  advance(): boolean {
    return this.simulator.advance(EVENTS) === 1;
  }

  /** The text that a defect has left. */
  left(): string {
    return new TextDecoder().decode(this.read(this.simulator.output_bytes()));
  }

  get held(): number {
    return this.simulator.memory.buffer.byteLength;
  }

  /** A copy: the memory of the simulator may move. */
  private read(length: number): Uint8Array<ArrayBuffer> {
    const { memory, output } = this.simulator;
    return new Uint8Array(memory.buffer as ArrayBuffer, output(), length).slice();
  }
}

/** Name and traffic of each flow, and the name of each station, by their paths. */
function ownersOf({ keys, flows, nodes }: Begun): Owners {
  const found: Owners = {};
  flows.forEach((flow, n) => {
    const table = keys.flows[flow.table];
    const own = typeof table.traffic === "string" ? table.traffic : Object.keys(table.traffic)[0];
    // Packets of voice at a constant rate are a call, too.
    const kind = table.class === "voice" && own === "cbr" ? "call" : own;
    found[`flows[${n}]`] = { name: flow.name, kind };
  });
  nodes.filter((name) => name.startsWith("sta")).forEach((name, n) => {
    found[`stations[${n}]`] = { name, kind: "" };
  });
  return found;
}

interface Finished {
  summary: Record<string, number | string | null>; counts: string[]; series: SeriesByPath;
  digest: string; events: number; simulated_s: number; scenario: string; notices: string[];
}

function run(core: Core, question: Question, of: Catalogue) {
  const begun = core.ask<Begun>({ ...question, do: "begin" });
  if (begun.issues) return begun;
  const owners = ownersOf(begun);
  postMessage({ news: { progress: 0, simulated_s: 0, series: {} }, owners });
  let told = performance.now();
  while (core.advance()) {
    if (performance.now() - told < NEWS_MS) continue;
    postMessage({ news: core.ask({ do: "news" }), owners });
    told = performance.now();
  }
  const found = core.ask<Finished>({ do: "finish" });
  const { counts, ...results } = found;
  const isCount = new Set(counts);
  const summary: Summary = new Map(Object.entries(found.summary).map(([path, value]) =>
    [path, isCount.has(path) ? BigInt(value as number) : value]));
  return {
    ...results, owners, headline: headline(summary, of), tables: tables(summary, of),
    held_bytes: core.held,
  };
}

let ready: Promise<{ core: Core; catalogue: Catalogue }>;

onmessage = async ({ data }: MessageEvent<Begin & { id: number; question: Question }>) => {
  if (data.module) {
    ready = WebAssembly.instantiate(data.module).then((instance) => {
      const simulator = instance.exports as unknown as Simulator;
      return { core: new Core(simulator), catalogue: data.catalogue };
    });
    return;
  }
  const { id, question } = data;
  const { core, catalogue } = await ready;
  try {
    if (question.do === "run") postMessage({ id, value: run(core, question, catalogue) });
    else if (question.do === "tile") {
      const { buffer } = core.bytes(question);
      postMessage({ id, value: buffer }, { transfer: [buffer] });
    } else postMessage({ id, value: core.ask(question) });
  } catch (error) {
    const why = error instanceof WebAssembly.RuntimeError ? core.left() : (error as Error).message;
    postMessage({ id, error: `a defect of Simoom, please report it with the scenario: ${why}` });
  }
};
