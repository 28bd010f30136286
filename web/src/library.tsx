// The view of all runs.

import { useState } from "preact/hooks";
import { nameOf, runs, said, send, start, stop, written, type RunEntry } from "./api";

/** Where a run is shown: an explanation at the run that it explains, a sweep as its results. */
function pageOf(run: RunEntry): string {
  if (run.explains) return `#/why/${run.explains}`;
  if (run.compares) return `#/compare/${run.compares.join("/")}`;
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
  /** Whether it is a run of the library, and not pairs of runs. */
  const isKept = run.state === "done" && !run.compares;
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
      <td>{isKept && <input type="checkbox" checked={isChosen}
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
        {isKept && <button onClick={rename}>Rename</button>}
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
