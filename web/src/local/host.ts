// The page without a server: workers with the simulator answer what `simoom serve` answers else.

import {
  ApiError, type DraftState, type Host, type Issue, type Keys, type RunResults, type Start,
  type Told,
} from "../api";
import { Desk } from "./client";
import { differences, inWords, setting, toml } from "./differences";
import { Runs, type Facts, type Run } from "./runs";
import type { Question } from "./worker";

interface Parts { start: Start; facts: Facts; desk: Desk; runs: Runs }
type Body = { text: string; path?: string; value?: unknown; set?: string[]; name?: string;
  seed: number; air: boolean };
type Checked = { issues: Issue[]; keys: Keys | null };

async function part(name: string): Promise<Response> {
  const answer = await fetch(name);
  if (!answer.ok) throw new ApiError(`this copy of the site lacks ${name}: make site`);
  return answer;
}

export class Local implements Host {
  private readonly parts: Promise<Parts>;
  private told: (message: Told) => void = () => undefined;

  constructor() {
    this.parts = this.load();
    navigator.serviceWorker?.register("offline.js").catch(() => undefined);
  }

  private async load(): Promise<Parts> {
    const [start, facts, bytes] = await Promise.all([
      part("start.json").then((own): Promise<Start> => own.json()),
      part("facts.json").then((own): Promise<Facts> => own.json()),
      part("simoom.wasm").then((own) => own.arrayBuffer()),
    ]);
    const begin = { module: await WebAssembly.compile(bytes), catalogue: facts };
    const runs = new Runs(begin, facts, start, (message) => this.told(message));
    return { start, facts, desk: new Desk(begin), runs };
  }

  connect(told: (message: Told) => void, online: (is: boolean) => void): void {
    this.told = told;
    this.parts.then(() => online(true), () => undefined);
  }

  tell(message: unknown): void {
    const { type, id } = message as { type: string; id: string };
    this.parts.then(({ runs }) => (type === "stop" ? runs.stop(id) : runs.watch(id)),
      () => undefined);
  }

  async bytes(path: string): Promise<ArrayBuffer> {
    const [id, level, number] = matched(/^\/api\/runs\/(\w+)\/air\/tile\/(\d+)\/(\d+)$/, path);
    return this.air(id, { do: "tile", level: Number(level), number: Number(number) });
  }

  async ask(method: string, address: string, body?: unknown): Promise<unknown> {
    const [path, query] = address.split("?");
    const [, , what, id, ...rest] = path.split("/");
    const { start, desk, runs } = await this.parts;
    const own = body as Body;
    switch (`${method} ${what}`) {
      case "GET start": return start;
      case "GET schema": return (await part("schema.json")).json();
      case "POST check": return this.check(own.text);
      case "POST edit": return edited(desk, own);
      case "POST runs": return { id: await this.add(own) };
      case "DELETE runs": return runs.remove(id);
      case "PATCH runs":
        this.run(await this.parts, id).entry.name = own.name ?? null;
        return runs.tell();
      case "GET compare": return this.difference(id, rest[0]);
      case "GET runs":
        if (!id) return runs.list();
        if (rest[0] === "scenario") return { text: this.run(await this.parts, id).asked.text };
        return rest[0] === "air" ? this.aired(id, rest.slice(1), query) : this.results(id);
      default: throw new ApiError(`${path}: this page has no server that could answer it`);
    }
  }

  private async check(text: string): Promise<DraftState> {
    const { desk } = await this.parts;
    return { ...await desk.ask<Checked>({ do: "check", text }), map: null };
  }

  private async add(asked: Body): Promise<string> {
    const { runs } = await this.parts;
    const { issues, keys } = await this.check(asked.text);
    refuse(issues);
    const title = String(keys?.title ?? "") || "A cell without a title";
    return runs.add({ ...asked, name: (asked.name ?? "").trim() }, title);
  }

  private run({ runs }: Parts, id: string): Run {
    const run = runs.all.get(id);
    if (!run) {
      throw new ApiError("This page has no such run: its runs are gone when it is loaded again.");
    }
    return run;
  }

  private async results(id: string): Promise<RunResults> {
    const { entry, found } = this.run(await this.parts, id);
    if (!found) throw new ApiError("The run has no results.");
    const { held_bytes: _, ...results } = found;
    return { ...entry, ...results };
  }

  private async difference(...ids: string[]): Promise<unknown> {
    const parts = await this.parts;
    const both = ids.map((id) => this.run(parts, id));
    const [first, second] = both.map(({ found }) => found?.summary ?? {});
    const written = await Promise.all(both.map(({ asked: { text } }) =>
      parts.desk.ask<Keys>({ do: "written", text })));
    return {
      keys: differences(written[0], written[1]),
      words: inWords(first, second, parts.facts.words), pairs: null,
    };
  }

  private async air<T>(id: string, question: Question): Promise<T> {
    const { worker, entry } = this.run(await this.parts, id);
    if (!worker || !entry.has_air) {
      throw new ApiError("this run has no timeline: run it again with one");
    }
    return worker.ask<T>(question);
  }

  private async aired(
    id: string, [what = "about", number]: string[], query = "",
  ): Promise<unknown> {
    const given = new URLSearchParams(query);
    const own = Number(number ?? given.get("number") ?? -1);
    const found: Keys = { do: what, number: own };
    if (what === "find") {
      found.forward = given.get("forward") !== "0";
      for (const name of ["radio", "kind", "outcome"]) {
        if (given.has(name)) found[name] = Number(given.get(name));
      }
      for (const name of ["lost", "retried"]) found[name] = given.get(name) === "1";
    }
    const answer = await this.air<Keys | null>(id, found as Question);
    if (answer?.error) throw new ApiError(answer.error);
    if (answer === null && what === "frame") throw new ApiError("there is no such frame");
    if (what !== "about") return answer;
    const { looks, hatches } = (await this.parts).facts;
    return { ...answer, looks, hatches };
  }
}

/** The text with other values: one at a path, or some as `--set` takes them. */
async function edited(desk: Desk, { text, path, value, set }: Body): Promise<{ text: string }> {
  const changes = path ? [[path, toml(value)]] : (set ?? []).map(setting);
  const found = await desk.ask<{ text: string; issues?: Issue[] }>({ do: "edit", text, changes });
  refuse(found.issues ?? []);
  return found;
}

function refuse(issues: Issue[]): void {
  if (!issues.length) return;
  const said = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message));
  throw new ApiError(said.join("; "), issues);
}

function matched(pattern: RegExp, path: string): string[] {
  const found = pattern.exec(path);
  if (!found) throw new ApiError(`${path}: this page has no such bytes`);
  return found.slice(1);
}
