// Sweeps: a scenario at many values, as curves with intervals or a heat map.

import { useEffect, useState } from "preact/hooks";
import {
  Answers, get, runs, said, send, stop, sweeps, written, type SweepEntry, type Value,
} from "./api";
import { Download } from "./download";
import { Curves, HeatMap, type Point, type Shown } from "./sweep-plots";
import { Pending } from "./pending";
import { draft } from "./scenario";

interface Offer { path: string; about: string; values: string; more: string[] }
interface Axis { path: string; values: string }

/** A key and its values; a key of the scenario brings values with which it runs. */
function AxisFields({ label, axis, offers, change }: {
  label: string; axis: Axis; offers: Offer[]; change: (axis: Axis) => void;
}) {
  const offer = offers.find((own) => own.path === axis.path);
  const choose = (path: string) => {
    const known = offers.find((own) => own.path === path);
    change({ path, values: known?.values ?? axis.values });
  };
  return (
    <div class="bar">
      <label>{label}
        <input type="text" value={axis.path} list="offers" autocomplete="off"
          onInput={(event) => choose(event.currentTarget.value.trim())} />
      </label>
      <label>Values
        <input type="text" value={axis.values}
          onInput={(event) => change({ ...axis, values: event.currentTarget.value })} />
      </label>
      {offer && <p class="dim">{offer.about}{offer.about && "."}
        {offer.more.length > 0 && ` Also: ${offer.more.join(", ")}.`}</p>}
    </div>
  );
}

function NewSweep() {
  const [offers, setOffers] = useState<Offer[] | null>(null);
  const [axes, setAxes] = useState<Axis[]>([{ path: "", values: "" }, { path: "", values: "" }]);
  const [replications, setReplications] = useState("5");
  const { text } = draft();
  useEffect(() => {
    const none = () => setOffers([]);
    if (!text) return none();
    send<Offer[]>("POST", "/api/offers", { text }).then((found) => {
      setOffers(found);
      // What was written meanwhile stays.
      const [{ path = "", values = "" } = {}] = found;
      setAxes(([first, second]) =>
        [{ path: first.path || path, values: first.values || values }, second]);
    }, (error) => {
      said.value = error.message;
      none();
    });
  }, [text]);
  const submit = async () => {
    const over: Record<string, string> = {};
    axes.forEach(({ path, values }) => { if (path) over[path] = values; });
    const { seed } = draft();
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
      {axes.map((axis, place) => (
        <AxisFields key={place} label={place === 0 ? "Key" : "Second key"} axis={axis}
          offers={offers ?? []} change={(own) =>
            setAxes((before) => before.map((each, n) => (n === place ? own : each)))} />
      ))}
      <datalist id="offers">
        {offers?.map(({ path, about }) => <option key={path} value={path}>{about}</option>)}
      </datalist>
      <div class="bar">
        <label>Runs of each point
          <input type="number" min="1" step="1" class="short" value={replications}
            onInput={(event) => setReplications(event.currentTarget.value)} /></label>
        <button class="primary" disabled={!offers}>Run the sweep</button>
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
          <table class="cards">
            <thead><tr><th scope="col">name</th><th scope="col">keys</th><th scope="col">runs</th>
              <th scope="col"><span class="hidden">Actions</span></th></tr></thead>
            <tbody>
              {found.map((entry) => {
                const points = Object.values(entry.axes).reduce((a, b) => a * b, 1);
                return (
                  <tr key={entry.id}>
                    <th scope="row"><a href={`#/sweep/${entry.id}`}>
                      {entry.name || "A sweep without a name"}</a></th>
                    <td data-name="keys">{Object.entries(entry.axes).map(([path, count]) =>
                      `${path} (${count})`).join(", ")}</td>
                    <td class="number" data-name="runs">{points * entry.replications}</td>
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
          <li key={id}>{point.values[number] === null ? `Replication ${number}`
            : <a href={`#/run/${id}`}>Replication {number}</a>}:{" "}
            {written(sweep.path, point.values[number] as Value)}</li>
        ))}
      </ul>
    </section>
  );
}

function Points({ sweep }: { sweep: Shown }) {
  const axes = Object.keys(sweep.over);
  const number = (value: number | null) =>
    (value === null ? "–" : String(Number(value.toPrecision(4))));
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Points">
      <table>
        <caption>{sweep.words[sweep.path]}</caption>
        <thead><tr>
          {axes.map((path) => <th key={path} scope="col">{sweep.words[path]}</th>)}
          {["mean", "from", "to", "runs"].map((name) =>
            <th key={name} scope="col" class="number">{name}</th>)}
        </tr></thead>
        <tbody>
          {sweep.points.map((point, place) => (
            <tr key={place}>
              {point.settings.map((value, n) => (n === 0 ? <th key={n} scope="row">{String(value)}</th>
                : <td key={n}>{String(value)}</td>))}
              <td class="number">{number(point.mean)}</td>
              <td class="number">{number(point.ci_low)}</td>
              <td class="number">{number(point.ci_high)}</td>
              <td class="number">{point.values.filter((value) => value !== null).length}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const FILES: [string, string][] = [
  ["sweep.png", "Picture (PNG)"], ["sweep.svg", "Picture (SVG)"],
  ["points.csv", "Points of this result (CSV)"], ["runs.csv", "All results of all runs (CSV)"],
];

/** Means so far; read again when `news` changes: when runs have ended, or it was made anew. */
function Results({ id, news, isActive }: { id: string; news: string; isActive: boolean }) {
  const [sweep, setSweep] = useState<Shown | null>(null);
  const [path, setPath] = useState("total.goodput_mbps");
  const [kind, setKind] = useState<"curves" | "map">("curves");
  const [chosen, setChosen] = useState<number | null>(null);
  const [fault, setFault] = useState("");
  const [answers] = useState(() => new Answers());
  useEffect(() => {
    answers.take(get<Shown>(`/api/sweeps/${id}?path=${encodeURIComponent(path)}`), setSweep,
      (error) => setFault(error.message));
  }, [id, path, news]);
  // What waits is kept nowhere yet.
  if (!sweep) return isActive ? <h1>Sweep</h1> : <Pending title="Sweep" text={fault} />;
  const isTwo = Object.keys(sweep.over).length === 2;
  const general = sweep.results.filter(([own]) => !/\[\d+\]/.test(own));
  const names = new Map([[path, sweep.words[path] ?? path], ...general, ...sweep.results]);
  const tab = (own: "curves" | "map", label: string) => (
    <button role="tab" aria-selected={kind === own} aria-controls="sweep-plot" id={`plot-${own}`}
      onClick={() => setKind(own)}>{label}</button>
  );
  return (
    <>
      <div class="heading">
        <h1>{sweep.name || sweep.title || "Sweep"}</h1>
        <p class="dim">{sweep.replications} runs of each point, seed {sweep.seed}
          {sweep.done < sweep.runs && `; ${sweep.done} of ${sweep.runs} runs so far`};{" "}
          <a href="#/sweep">all sweeps</a></p>
        <div class="bar">
          <label>Result
            <select value={path} onChange={(event) => setPath(event.currentTarget.value)}>
              {[...names].map(([own, words]) => (
                <option key={own} value={own} title={own}>{words}</option>))}
            </select>
          </label>
          <Download from={`/api/sweeps/${id}/take`} files={FILES}
            query={`?path=${encodeURIComponent(path)}`} />
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
      <Points sweep={sweep} />
    </>
  );
}

/** So often the points of a sweep in progress are read. */
const LOOKS = 20;

export function SweepView({ id }: { id: string }) {
  const job = runs.value.find((run) => run.id === id);
  if (!id) return <SweepList />;
  const isActive = job?.state === "running" || job?.state === "waiting";
  const made = sweeps.value.find((own) => own.id === id)?.made;
  return (
    <div class="sweep">
      {job && isActive && (
        <div class="progress">
          <progress value={job.progress} max={1} aria-label="Progress of the sweep" />
          <span>{job.state === "waiting" ? "waits for the runs before it"
            : `${(100 * job.progress).toFixed(0)} % of the runs`}</span>
          <button onClick={() => stop(id)}>Stop</button>
        </div>
      )}
      {job && !isActive && (
        <p class="fault" role="status">{job.state === "failed" ? "Failed" : "Stopped"}
          {job.message && `: ${job.message}`}. Completed runs are kept: the same sweep goes on from
          there.</p>
      )}
      <Results id={id} isActive={isActive}
        news={`${made} ${job?.state} ${Math.floor(LOOKS * (job?.progress ?? 1))}`} />
    </div>
  );
}
