// The runs of a page without a server: each in a worker, one after the other.

import type { Keys, Owners, RunEntry, RunResults, SeriesByPath, Start, Told } from "../api";
import { Client } from "./client";
import type { Catalogue } from "./tables";
import type { Begin } from "./worker";

/** What the page needs beside `Start`, made with it: `alone` of simoom.serve.start. */
export interface Facts extends Catalogue {
  wanted: string[]; series: number; samples: number; air_mib: number; words: Record<string, string>;
  looks: Keys; hatches: Record<string, string>;
}
interface Asked { text: string; seed: number; name: string; air: boolean }
type Found = Omit<RunResults, keyof RunEntry> & { held_bytes: number; simulated_s: number };

export class Run {
  entry: RunEntry;
  series: SeriesByPath = {};
  owners: Owners = {};
  found: Found | null = null;
  /** While it runs; and as long as its timeline is kept. */
  worker: Client | null = null;
  begun_ms = 0;

  constructor(readonly id: string, readonly asked: Asked, title: string) {
    this.entry = {
      id, name: asked.name || null, title, seed: asked.seed, replication: 0, state: "waiting",
      progress: 0, simulated_s: 0, made_s: Date.now() / 1000,
    };
  }

  /** Adds samples; true if half of all were then left out, until none has more than so many. */
  add(more: SeriesByPath, most: number): boolean {
    for (const [path, { t, v }] of Object.entries(more)) {
      const own = this.series[path] ?? { t: [], v: [] };
      this.series[path] = { t: own.t.concat(t), v: own.v.concat(v) };
    }
    let isThinned = false;
    const half = <T>(values: T[]) => values.filter((_, n) => n % 2 === 0);
    while (Object.values(this.series).some(({ t }) => t.length > most)) {
      isThinned = true;
      for (const [path, { t, v }] of Object.entries(this.series)) {
        this.series[path] = { t: half(t), v: half(v) };
      }
    }
    return isThinned;
  }
}

export class Runs {
  readonly all = new Map<string, Run>();
  private watched: string | null = null;
  private made = 0;

  constructor(private readonly begin: Begin, private readonly facts: Facts,
    private readonly start: Start, private readonly told: (message: Told) => void) {}

  list(): RunEntry[] {
    return [...this.all.values()].reverse().map(({ entry }) => ({ ...entry }));
  }

  add(asked: Asked, title: string): string {
    // No number: objects would have these before other keys.
    const run = new Run(`r${++this.made}`, asked, title);
    this.all.set(run.id, run);
    this.next();
    return run.id;
  }

  watch(id: string | null): void {
    this.watched = id;
    const run = id === null ? null : this.all.get(id);
    if (run) this.tellSeries(run, run.series, true);
  }

  stop(id: string): void {
    const run = this.all.get(id);
    if (!run || (run.entry.state !== "running" && run.entry.state !== "waiting")) return;
    run.worker?.end();
    run.worker = null;
    run.entry.state = "stopped";
    this.next();
  }

  remove(id: string): void {
    this.stop(id);
    this.all.get(id)?.worker?.end();
    this.all.delete(id);
    this.tell();
  }

  tell(): void {
    this.told({ type: "runs", runs: this.list(), sweeps: [] });
  }

  /** Starts the run that has waited longest, unless one runs. */
  private next(): void {
    const all = [...this.all.values()];
    const run = all.find(({ entry }) => entry.state === "waiting");
    if (run && !all.some(({ entry }) => entry.state === "running")) this.run(run);
    this.tell();
  }

  private async run(run: Run): Promise<void> {
    const { entry, asked } = run;
    entry.state = "running";
    run.begun_ms = performance.now();
    const worker = run.worker = new Client(this.begin, ({ news, owners }) => {
      entry.progress = news.progress;
      entry.simulated_s = news.simulated_s;
      entry.running_s = (performance.now() - run.begun_ms) / 1000;
      run.owners = owners as Owners;
      const more = news.series as SeriesByPath;
      const isThinned = run.add(more, this.facts.samples);
      this.tellSeries(run, isThinned ? run.series : more, isThinned);
      this.tell();
    });
    const { wanted, series, air_mib } = this.facts;
    try {
      run.found = await worker.ask<Found>({
        do: "run", text: asked.text, seed: asked.seed, wanted, series,
        air_mib: asked.air ? air_mib : 0,
      });
      this.keep(run, run.found);
    } catch (error) {
      // A run that was stopped has its state.
      if (entry.state === "running") {
        Object.assign(entry, { state: "failed", message: (error as Error).message });
        worker.end();
        run.worker = null;
      }
    }
    this.next();
  }

  private keep(run: Run, { summary, simulated_s }: Found): void {
    const results = this.start.listed.map(([path]) => [path, summary[path]]);
    Object.assign(run.entry, {
      state: "done", progress: 1, running_s: null, simulated_s, has_air: run.asked.air,
      results: Object.fromEntries(results), made_s: Date.now() / 1000,
    });
    if (run.asked.air) this.drop();
    else {
      run.worker?.end();
      run.worker = null;
    }
  }

  /** Drops the oldest timelines, until the others have room. */
  private drop(): void {
    const kept = [...this.all.values()].filter(({ entry }) => entry.has_air).reverse();
    let room = this.start.limits.airs_mib * 2 ** 20;
    kept.forEach((run, place) => {
      room -= run.found!.held_bytes;
      if (place === 0 || room >= 0) return;
      run.worker?.end();
      run.worker = null;
      Object.assign(run.entry, { has_air: false, air_dropped: true });
    });
  }

  private tellSeries({ id, owners }: Run, series: SeriesByPath, anew: boolean): void {
    if (id === this.watched) this.told({ type: "series", id, series, anew, owners });
  }
}
