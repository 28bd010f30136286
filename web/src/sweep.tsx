// Sweeps: a scenario at many values, as curves with intervals or a heat map.

import { useEffect, useState } from "preact/hooks";
import {
  get, runs, said, send, stop, sweeps, written, type SweepEntry, type Value,
} from "./api";
import { Curves, HeatMap, type Point, type Shown } from "./sweep-plots";
import { Pending } from "./pending";
import { draft } from "./scenario";

/** A key that this scenario can vary, with values: its stations only where no flow names one. */
function offered(text: string): [string, string] {
  if (!/^standard/m.test(text)) return text ? ["links[0].queue", "drop_tail, fq_codel"] : ["", ""];
  const isCount = /^stations\s*=\s*\d+/m.test(text) && !/"sta\d|losses_db/.test(text);
  return isCount ? ["stations", "1, 2, 5, 10"] : ["ap.queue", "drop_tail, fq_codel"];
}

function NewSweep() {
  const [path, list] = offered(draft().text);
  const [paths, setPaths] = useState([path, ""]);
  const [values, setValues] = useState([list, ""]);
  const [replications, setReplications] = useState("5");
  const change = (all: string[], place: number, text: string) =>
    all.map((own, number) => (number === place ? text : own));
  const submit = async () => {
    const over: Record<string, string> = {};
    paths.forEach((path, place) => { if (path.trim()) over[path.trim()] = values[place]; });
    const { text, seed } = draft();
    const body = { text, seed, over, replications: Math.floor(Number(replications)) || 0, name: "" };
    try {
      const { id } = await send<{ id: string }>("POST", "/api/sweeps", body);
      said.value = "";
      location.hash = `#/sweep/${id}`;
    } catch (error) {
      said.value = (error as Error).message;
    }
  };
  return (
    <form class="card new-sweep" onSubmit={(event) => { event.preventDefault(); submit(); }}>
      <h2>New sweep of <a href="#/scenario">the scenario</a></h2>
      {[0, 1].map((place) => (
        <div class="bar" key={place}>
          <label>{place === 0 ? "Key" : "Second key"}
            <input type="text" value={paths[place]} placeholder={place ? "flows[*].control" : ""}
              onInput={(event) => setPaths(change(paths, place, event.currentTarget.value))} />
          </label>
          <label>Values
            <input type="text" value={values[place]} placeholder={place ? "new_reno, cubic" : ""}
              onInput={(event) => setValues(change(values, place, event.currentTarget.value))} />
          </label>
        </div>
      ))}
      <div class="bar">
        <label>Runs of each point
          <input type="number" min="1" step="1" class="short" value={replications}
            onInput={(event) => setReplications(event.currentTarget.value)} /></label>
        <button class="primary">Run the sweep</button>
      </div>
    </form>
  );
}

function SweepList() {
  const found = sweeps.value;
  const remove = async (entry: SweepEntry) => {
    if (!confirm(`Delete ${entry.name || "the sweep"} and its runs?`)) return;
    await send("DELETE", `/api/sweeps/${entry.id}`).catch((error) => (said.value = error.message));
  };
  return (
    <div class="library sweeps">
      <h1>Sweeps</h1>
      <NewSweep />
      {found.length > 0 && (
        <div class="wide" tabIndex={0} role="region" aria-label="Sweeps">
          <table>
            <thead><tr><th scope="col">name</th><th scope="col">keys</th><th scope="col">runs</th>
              <th scope="col"><span class="hidden">Actions</span></th></tr></thead>
            <tbody>
              {found.map((entry) => {
                const points = Object.values(entry.axes).reduce((a, b) => a * b, 1);
                return (
                  <tr key={entry.id}>
                    <th scope="row"><a href={`#/sweep/${entry.id}`}>
                      {entry.name || "A sweep without a name"}</a></th>
                    <td>{Object.entries(entry.axes).map(([path, count]) =>
                      `${path} (${count})`).join(", ")}</td>
                    <td class="number">{points * entry.replications}</td>
                    <td class="actions"><button onClick={() => remove(entry)}>Delete</button></td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function Chosen({ sweep, point }: { sweep: Shown; point: Point }) {
  const axes = Object.keys(sweep.over);
  return (
    <section class="card" aria-label="Chosen point">
      <h2>{axes.map((path, place) => `${path} = ${point.settings[place]}`).join(", ")}</h2>
      <ul class="choose">
        {point.runs.map((id, number) => (
          <li key={id}><a href={`#/run/${id}`}>Replication {number}</a>:{" "}
            {written(sweep.path, point.values[number] as Value)}</li>
        ))}
      </ul>
    </section>
  );
}

/** The results of a sweep, read again when it has been `made` anew. */
function Results({ id, made }: { id: string; made: string | undefined }) {
  const [sweep, setSweep] = useState<Shown | null>(null);
  const [path, setPath] = useState("total.goodput_mbps");
  const [kind, setKind] = useState<"curves" | "map">("curves");
  const [chosen, setChosen] = useState<number | null>(null);
  const [fault, setFault] = useState("");
  useEffect(() => {
    get<Shown>(`/api/sweeps/${id}?path=${encodeURIComponent(path)}`).then(
      setSweep, (error) => setFault(error.message));
  }, [id, path, made]);
  if (!sweep) return <Pending title="Sweep" text={fault} />;
  const isTwo = Object.keys(sweep.over).length === 2;
  const general = [...new Set(sweep.results.filter((own) => !/\[\d+\]/.test(own)))];
  const tab = (own: "curves" | "map", label: string) => (
    <button role="tab" aria-selected={kind === own} aria-controls="sweep-plot" id={`plot-${own}`}
      onClick={() => setKind(own)}>{label}</button>
  );
  return (
    <div class="sweep">
      <div class="heading">
        <h1>{sweep.name || sweep.title || "Sweep"}</h1>
        <p class="dim">{sweep.replications} runs of each point, seed {sweep.seed};{" "}
          <a href="#/sweep">all sweeps</a></p>
        <div class="bar">
          <label>Result
            <select value={path} onChange={(event) => setPath(event.currentTarget.value)}>
              {[...new Set([path, ...general, ...sweep.results])].slice(0, 400).map((own) => (
                <option key={own} value={own}>{own}</option>))}
            </select>
          </label>
        </div>
      </div>
      {isTwo && <div role="tablist" aria-label="Drawing" class="tabs">
        {tab("curves", "Curves")}{tab("map", "Heat map")}</div>}
      <div id="sweep-plot" role={isTwo ? "tabpanel" : undefined}
        aria-labelledby={isTwo ? `plot-${kind}` : undefined}>
        {isTwo && kind === "map"
          ? <HeatMap sweep={sweep} chosen={chosen} choose={setChosen} />
          : <Curves sweep={sweep} chosen={chosen} choose={setChosen} />}
      </div>
      {chosen !== null ? <Chosen sweep={sweep} point={sweep.points[chosen]} />
        : <p class="dim">Choose a point to see its runs.</p>}
    </div>
  );
}

export function SweepView({ id }: { id: string }) {
  const job = runs.value.find((run) => run.id === id);
  if (!id) return <SweepList />;
  if (!job) return <Results id={id} made={sweeps.value.find((own) => own.id === id)?.made} />;
  const isActive = job.state === "running" || job.state === "waiting";
  return (
    <div class="sweep">
      <h1>Sweep</h1>
      {isActive ? (
        <div class="progress">
          <progress value={job.progress} max={1} aria-label="Progress of the sweep" />
          <span>{job.state === "waiting" ? "waits for the runs before it"
            : `${(100 * job.progress).toFixed(0)} % of the runs`}</span>
          <button onClick={() => stop(id)}>Stop</button>
        </div>
      ) : (
        <p class="fault" role="status">{job.state === "failed" ? "Failed" : "Stopped"}
          {job.message && `: ${job.message}`}. Completed runs are kept: the same sweep goes on from
          there.</p>
      )}
    </div>
  );
}
