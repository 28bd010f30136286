// The view of one run: its progress and samples while it goes on, its results when it has ended.

import { useEffect, useState } from "preact/hooks";
import {
  get, has, nameOf, queue, runs, said, send, start, stop, watch, type Owners, type RunEntry,
  type RunResults, type SeriesByPath,
} from "./api";
import { Chart, groups, MOST_LINES } from "./chart";
import { Chooser, drawn, placeOf, ranked } from "./chooser";
import { Download } from "./download";
import { copyLink } from "./link";
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
  const [names, setNames] = useState<Owners>({});
  const [chosen, setChosen] = useState<Record<string, boolean>>({});
  const entry = runs.value.find((run) => run.id === id);
  const state = entry?.state;
  useEffect(() => {
    let all: SeriesByPath = {};
    watch(id, (more, anew, known) => {
      all = joined(anew ? {} : all, more);
      setSeries(all);
      if (known) setNames(known);
    });
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
  const all = results?.series ?? series;
  const owners = results?.owners ?? names;
  const rows = [...ranked(all, owners)].map(([group, places]) =>
    ({ group, places, shown: drawn(places, chosen) }));
  const lines = rows.flatMap((row) => row.shown);
  const own = Object.entries(all).filter(([path]) => !placeOf(path));
  const owned = lines.flatMap((place) =>
    Object.entries(all).filter(([path]) => placeOf(path) === place));
  const shown = Object.fromEntries([...own, ...owned]);
  const labels = Object.fromEntries(Object.keys(shown).map((path) =>
    [path, owners[placeOf(path)]?.name ?? (placeOf(path) || path)]));
  const isEnded = state === "stopped" || state === "failed";
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
          {results && has("why") && <a class="button" href={`#/why/${id}`}>Why so slow?</a>}
          {results && has("twin") && <a class="button" href={`#/twin/${id}`}>Beside theory</a>}
          {results && <button onClick={() => copyLink(results.scenario, results.seed)}>Copy link</button>}
          {results && has("files") && <Download from={`/api/runs/${id}/take`} files={FILES} />}
        </div>
      </div>
      {state === "waiting" && <p role="status">Waits for the runs before it.</p>}
      {state === "running" && (
        <div class="progress">
          <progress value={entry!.progress} max={1} aria-label="Progress of the run" />
          <span>{percent(entry!.progress)}, {entry!.simulated_s.toFixed(1)} s simulated{
            rest(entry!)}</span>
        </div>
      )}
      {isEnded && <Ended entry={entry!} hasCurves={Object.keys(all).length > 0} />}
      {results?.air_dropped && !results.has_air && (
        <p class="dim">Its timeline was dropped, as the oldest of those that together have more than
          {` ${start.value!.limits.airs_mib.toLocaleString("en")}`} MiB.</p>
      )}
      {results?.notices?.map((notice) => <p key={notice} role="note" class="notice">{notice}</p>)}
      {results && (
        <dl class="headline">
          {results.headline.map(([name, text]) => (
            <div key={name}><dt>{name}</dt><dd>{text}</dd></div>))}
        </dl>
      )}
      {rows.filter(({ places }) => places.length > MOST_LINES / 2).map((row) => (
        <Chooser key={row.group} {...row} owners={owners}
          choose={(own) => setChosen((before) => ({ ...before, ...own }))} />
      ))}
      <div class="charts">
        {[...groups(shown)].map(([title, own]) => (
          <Chart key={title} title={title} series={own} labels={labels} />
        ))}
      </div>
      {results && <Tables tables={results.tables} />}
    </div>
  );
}

const percent = (part: number) => `${(100 * part).toFixed(part < 0.01 ? 2 : 0)} %`;

/** How long the rest will take, if it goes on as fast. */
function rest({ progress, running_s }: RunEntry): string {
  if (!running_s || progress <= 0) return "";
  const left = running_s * (1 - progress) / progress;
  const round = left < 90 ? `${Math.ceil(left)} s` : left < 5400 ? `${Math.round(left / 60)} min`
    : `${(left / 3600).toPrecision(2)} h`;
  return `, about ${round} left`;
}

/** A run that was stopped or has failed: what it has, and what can be done with it. */
function Ended({ entry, hasCurves }: { entry: RunEntry; hasCurves: boolean }) {
  const at = Math.floor(entry.simulated_s * 10) / 10;
  const text = async () =>
    (await get<{ text: string }>(`/api/runs/${entry.id}/scenario`)).text;
  const told = (act: () => Promise<void>) => () =>
    act().catch((error) => { said.value = error.message; });
  const open = told(async () => {
    openText(await text(), entry.seed, entry.name ?? "");
    location.hash = "#/scenario";
  });
  const again = told(async () => {
    const body = { text: await text(), seed: entry.seed, name: entry.name ?? "", air: true };
    location.hash = `#/run/${await queue(body)}`;
  });
  const shorter = told(async () => {
    const body = { text: await text(), set: [`duration_s=${at}`] };
    const own = (await send<{ text: string }>("POST", "/api/edit", body)).text;
    const id = await queue({ text: own, seed: entry.seed, name: entry.name ?? "", air: true });
    location.hash = `#/run/${id}`;
  });
  const isStopped = entry.state === "stopped";
  return (
    <>
      <p class={isStopped ? "" : "fault"} role="status">
        {isStopped ? "Stopped" : "Failed"}{at > 0 && ` after ${at} s of simulated time`}
        {entry.message && `: ${entry.message}`}
        {isStopped && hasCurves && ". The curves show what was simulated."}</p>
      <div class="bar">
        <button onClick={open}>Open the scenario</button>
        <button onClick={again}>Run it again</button>
        {isStopped && at > 0 && <button onClick={shorter}>Run the first {at} s, with results</button>}
      </div>
    </>
  );
}

const FILES: [string, string][] = [
  ["report.html", "Report (HTML)"], ["report.png", "Picture (PNG)"],
  ["report.svg", "Picture (SVG)"], ["summary.csv", "Results (CSV)"],
  ["series.csv", "Time series (CSV)"], ["captures.zip", "Captures (pcapng)"],
  ["scenario.toml", "Scenario (TOML)"],
];

async function again(results: RunResults): Promise<void> {
  const body = { text: results.scenario, seed: results.seed, name: results.name ?? "", air: true };
  try {
    await queue(body);
  } catch (error) {
    said.value = (error as Error).message;
  }
}
