// The view of one run: its progress and samples while it goes on, its results when it has ended.

import { useEffect, useState } from "preact/hooks";
import {
  get, link, nameOf, queue, runs, said, stop, watch, type RunResults, type SeriesByPath,
} from "./api";
import { Chart, groups } from "./chart";
import { Pending } from "./pending";
import { openText } from "./scenario";
import { Tables } from "./tables";

function joined(old: SeriesByPath, more: SeriesByPath): SeriesByPath {
  const all = { ...old };
  for (const [path, samples] of Object.entries(more)) {
    const own = all[path];
    all[path] = own ? { t: own.t.concat(samples.t), v: own.v.concat(samples.v) } : samples;
  }
  return all;
}

export function RunView({ id }: { id: string }) {
  const [series, setSeries] = useState<SeriesByPath>({});
  const [results, setResults] = useState<RunResults | null>(null);
  const [fault, setFault] = useState("");
  const entry = runs.value.find((run) => run.id === id);
  const state = entry?.state;
  useEffect(() => {
    let all: SeriesByPath = {};
    watch(id, (more, anew) => { all = joined(anew ? {} : all, more); setSeries(all); });
    return () => watch(null, null);
  }, [id]);
  useEffect(() => {
    // A run of a sweep is not in the list of runs.
    if (state !== "done" && state !== undefined) return;
    get<RunResults>(`/api/runs/${id}`).then(setResults, (error) => setFault(error.message));
  }, [id, state]);
  if (!entry && !results) {
    return <Pending title="Run" text={fault} />;
  }
  const shown = results?.series ?? series;
  const labels = Object.fromEntries(Object.keys(shown).map((path) => [path, labelOf(path, results)]));
  return (
    <div class="run">
      <div class="heading">
        <h1>{nameOf(results ?? entry!)}</h1>
        <p class="dim">seed {entry?.seed ?? results?.seed}
          {results && `, ${results.events.toLocaleString("en")} events, digest ${results.digest}`}</p>
        <div class="bar">
          {(state === "running" || state === "waiting") &&
            <button onClick={() => stop(id)}>Stop</button>}
          {results?.has_air && <a class="button primary" href={`#/air/${id}`}>Open the air</a>}
          {results && !results.has_air && <button onClick={() => again(results)}>
            Run again with a timeline</button>}
          {results && <button onClick={() => {
            openText(results.scenario, results.seed, "");
            location.hash = "#/scenario";
          }}>Open the scenario</button>}
          {results && <a class="button" href={`#/why/${id}`}>Why so slow?</a>}
          {results && <a class="button" href={`#/twin/${id}`}>Beside theory</a>}
          {results && <button onClick={() => copy(results)}>Copy link</button>}
        </div>
      </div>
      {state === "waiting" && <p role="status">Waits for the runs before it.</p>}
      {state === "running" && (
        <div class="progress">
          <progress value={entry!.progress} max={1} aria-label="Progress of the run" />
          <span>{(100 * entry!.progress).toFixed(0)} %, {entry!.simulated_s.toFixed(1)} s
            simulated</span>
        </div>
      )}
      {(state === "stopped" || state === "failed") && (
        <p class="fault" role="status">
          {state === "stopped" ? "Stopped" : "Failed"}{entry!.message && `: ${entry!.message}`}</p>
      )}
      {results?.notices?.map((notice) => <p key={notice} role="note" class="notice">{notice}</p>)}
      {results && (
        <dl class="headline">
          {results.headline.map(([name, text]) => (
            <div key={name}><dt>{name}</dt><dd>{text}</dd></div>))}
        </dl>
      )}
      <div class="charts">
        {[...groups(shown)].map(([title, own]) => (
          <Chart key={title} title={title} series={own} labels={labels} />
        ))}
      </div>
      {results && <Tables tables={results.tables} />}
    </div>
  );
}

function labelOf(path: string, results: RunResults | null): string {
  const place = path.slice(0, path.lastIndexOf("]") + 1);
  const name = results?.summary[`${place}.name`];
  return typeof name === "string" ? name : place || path;
}

async function copy(results: RunResults): Promise<void> {
  const address = link(results.scenario, results.seed);
  try {
    await navigator.clipboard.writeText(address);
    said.value = "The link is copied. It holds scenario and seed.";
  } catch {
    location.href = address;
  }
}

async function again(results: RunResults): Promise<void> {
  const body = { text: results.scenario, seed: results.seed, name: results.name ?? "", air: true };
  try {
    await queue(body);
  } catch (error) {
    said.value = (error as Error).message;
  }
}
