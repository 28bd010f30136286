// The view of all runs, and the comparison of two.

import { useEffect, useState } from "preact/hooks";
import {
  get, nameOf, runs, said, send, start, stop, written, type RunEntry, type RunResults,
  type SeriesByPath, type Value,
} from "./api";
import { Chart } from "./chart";
import { Pending } from "./pending";

/** Where a run is shown: an explanation at the run that it explains, a sweep as its results. */
function pageOf(run: RunEntry): string {
  if (run.explains) return `#/why/${run.explains}`;
  return run.sweep ? `#/sweep/${run.sweep}` : `#/run/${run.id}`;
}

/** When a run was made: the time, before today the day, too. */
function when(seconds: number): string {
  const made = new Date(1000 * seconds);
  const time = made.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const isToday = made.toDateString() === new Date().toDateString();
  return isToday ? time : `${made.toLocaleDateString()} ${time}`;
}

function Row({ run, isChosen, choose }: {
  run: RunEntry; isChosen: boolean; choose: (is: boolean) => void;
}) {
  const isActive = run.state === "running" || run.state === "waiting";
  const remove = async () => {
    if (run.state === "done" && !confirm(`Delete ${nameOf(run)}?`)) return;
    await send("DELETE", `/api/runs/${run.id}`).catch((error) => (said.value = error.message));
  };
  const rename = async () => {
    const name = prompt("Name of the run", nameOf(run));
    if (name === null) return;
    await send("PATCH", `/api/runs/${run.id}`, { name }).catch(
      (error) => (said.value = error.message));
  };
  return (
    <tr>
      <td>{run.state === "done" && <input type="checkbox" checked={isChosen}
        aria-label={`Compare ${nameOf(run)}, seed ${run.seed}`}
        onChange={(event) => choose(event.currentTarget.checked)} />}</td>
      <th scope="row"><a href={pageOf(run)}>{nameOf(run)}</a></th>
      <td class="when">{run.made_s !== undefined && when(run.made_s)}</td>
      <td class="number" data-name="seed">{run.seed}</td>
      <td>{run.state === "running" ? `${(100 * run.progress).toFixed(0)} %` : run.state}</td>
      {start.value!.listed.map(([path, name]) => (
        <td key={path} class="number" data-name={name}>{written(path, run.results?.[path])}</td>
      ))}
      <td class="actions">
        {run.has_air && <a class="button" href={`#/air/${run.id}`}>Air</a>}
        {run.state === "done" && <button onClick={rename}>Rename</button>}
        {isActive ? <button onClick={() => stop(run.id)}>Stop</button>
          : <button onClick={remove}>Delete</button>}
      </td>
    </tr>
  );
}

export function LibraryView() {
  const [chosen, setChosen] = useState<string[]>([]);
  const present = (ids: string[]) => ids.filter((id) => runs.value.some((run) => run.id === id));
  const kept = present(chosen);
  // A second choice may come before the first is drawn.
  const choose = (id: string, is: boolean) => setChosen((before) => {
    const others = present(before).filter((other) => other !== id);
    return is ? [...others.slice(-1), id] : others;
  });
  return (
    <div class="library">
      <div class="heading">
        <h1>Runs</h1>
        <div class="bar">
          <button class="primary" disabled={kept.length !== 2}
            onClick={() => (location.hash = `#/compare/${kept[0]}/${kept[1]}`)}>
            Compare two runs</button>
          <span class="dim">{kept.length} of 2 chosen</span>
        </div>
      </div>
      {runs.value.length === 0
        ? <p>No runs yet. <a href="#/scenario">Open a scenario</a> and run it.</p>
        : (
          <div class="wide" tabIndex={0} role="region" aria-label="Runs">
            <table class="cards">
              <thead><tr>
                <th scope="col"><span class="hidden">Compare</span></th>
                <th scope="col">name</th><th scope="col">time</th><th scope="col">seed</th><th scope="col">state</th>
                {start.value!.listed.map(([path, name]) => <th key={path} scope="col">{name}</th>)}
                <th scope="col"><span class="hidden">Actions</span></th>
              </tr></thead>
              <tbody>
                {runs.value.map((run) => (
                  <Row key={run.id} run={run} isChosen={kept.includes(run.id)}
                    choose={(is) => choose(run.id, is)} />
                ))}
              </tbody>
            </table>
          </div>
        )}
    </div>
  );
}

function difference(a: Value | undefined, b: Value | undefined): string {
  if (typeof a !== "number" || typeof b !== "number") return a === b ? "" : "differs";
  if (a === b) return "";
  if (a === 0) return "differs";
  const percent = 100 * (b - a) / Math.abs(a);
  return `${percent > 0 ? "+" : "−"}${Math.abs(percent).toPrecision(3)} %`;
}

export function Compare({ ids }: { ids: string[] }) {
  const [both, setBoth] = useState<RunResults[] | null>(null);
  const [fault, setFault] = useState("");
  const [words, setWords] = useState("");
  const [all, setAll] = useState(false);
  const active = runs.value.find((run) => ids.includes(run.id)
    && (run.state === "waiting" || run.state === "running"));
  const isActive = active !== undefined;
  useEffect(() => {
    if (isActive) return;
    Promise.all(ids.map((id) => get<RunResults>(`/api/runs/${id}`)))
      .then(setBoth, (error) => setFault(error.message));
  }, [isActive]);
  if (active) {
    const text = `${nameOf(active)}: ${active.state === "waiting" ? "waits for the runs before it"
      : `${(100 * active.progress).toFixed(0)} %`}`;
    return <Pending title="Compare" text={text} />;
  }
  if (!both) return <Pending title="Compare" text={fault} />;
  const [a, b] = both;
  const paths = [...new Set([...Object.keys(a.summary), ...Object.keys(b.summary)])];
  const rows = paths
    .map((path) => ({ path, by: difference(a.summary[path], b.summary[path]) }))
    .filter(({ path, by }) => (all || by) && path.includes(words.trim()));
  const series: SeriesByPath = {};
  for (const run of both) {
    const own = run.series["total.goodput_mbps"];
    if (own) series[run.id] = own;
  }
  const labels = { [a.id]: `1: ${nameOf(a)}`, [b.id]: `2: ${nameOf(b)}` };
  return (
    <div class="compare">
      <div class="heading"><h1>Compare</h1>
        <ol class="pair">
          {both.map((run) => (
            <li key={run.id}><a href={`#/run/${run.id}`}>{nameOf(run)}</a>, seed {run.seed}
              {run.has_air && <>, <a href={`#/air/${run.id}`}>air</a></>}</li>
          ))}
        </ol>
      </div>
      {Object.keys(series).length > 0 &&
        <Chart title="total: goodput, Mb/s" series={series} labels={labels} />}
      <div class="bar">
        <label>Path <input type="search" value={words} placeholder="goodput"
          onInput={(event) => setWords(event.currentTarget.value)} /></label>
        <label class="check"><input type="checkbox" checked={all}
          onChange={(event) => setAll(event.currentTarget.checked)} /> equal results too</label>
        <span class="dim" role="status">{rows.length} results</span>
      </div>
      <div class="wide" tabIndex={0} role="region" aria-label="Results of both runs">
        <table>
          <thead><tr><th scope="col">result</th><th scope="col">1</th><th scope="col">2</th>
            <th scope="col">difference</th></tr></thead>
          <tbody>
            {rows.slice(0, 500).map(({ path, by }) => (
              <tr key={path} class={by ? "differs" : ""}>
                <th scope="row"><code>{path}</code></th>
                <td class="number">{written(path, a.summary[path])}</td>
                <td class="number">{written(path, b.summary[path])}</td>
                <td class="number">{by && <strong>{by}</strong>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
