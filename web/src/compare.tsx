// The comparison of two runs: the keys that differ, pairs of further runs, and all results.

import { useEffect, useState } from "preact/hooks";
import {
  Answers, bare, get, has, nameOf, runs, said, send, stop, written, type RunResults,
  type SeriesByPath, type Value,
} from "./api";
import { Chart } from "./chart";
import { Pending } from "./pending";

interface PairRow {
  result: string; first: number; second: number; difference: number;
  ci_low: number | null; ci_high: number | null; verdict: string;
}
interface Differing {
  /** Path, and the value in each; "" where it is not set. */
  keys: [string, string, string][];
  /** Each result of the runs in words. */
  words: Record<string, string>;
  pairs: { caption: string; rows: PairRow[] } | null;
}

function Keys({ keys, sameSeed }: { keys: Differing["keys"]; sameSeed: boolean }) {
  if (keys.length === 0) {
    return <p>{sameSeed ? "The scenarios are the same, and so are the runs."
      : "The scenarios are the same: the runs differ by their seeds, that is by chance."}</p>;
  }
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Keys that differ">
      <table>
        <caption>Keys that differ</caption>
        <thead><tr><th scope="col">key</th><th scope="col">1</th><th scope="col">2</th></tr></thead>
        <tbody>
          {keys.map(([path, before, after]) => (
            <tr key={path}><th scope="row"><code>{path}</code></th>
              <td><code>{before || "default"}</code></td><td><code>{after || "default"}</code></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Pairs of runs with the same random numbers: what differs, and whether that is chance. */
function Pairs({ ids, found, words, again }: {
  ids: string[]; found: Differing["pairs"]; words: Differing["words"]; again: () => void;
}) {
  const job = runs.value.find((run) => run.compares?.join() === ids.join());
  const isActive = job?.state === "running" || job?.state === "waiting";
  // Of pairs that end between two lists of runs, the page sees no progress, only "done".
  useEffect(() => { if (!isActive) again(); }, [job?.state]);
  const begin = () => send("POST", `/api/compare/${ids.join("/")}`)
    .catch((error) => (said.value = error.message));
  if (isActive) {
    return (
      <div class="progress">
        <progress value={job.progress} max={1} aria-label="Progress of the pairs" />
        <span>{(100 * job.progress).toFixed(0)} % of ten pairs</span>
        <button onClick={() => stop(job.id)}>Stop</button>
      </div>
    );
  }
  if (!found) {
    return (
      <div class="bar">
        <span>This is one run of each: a difference may be chance.</span>
        {has("pairs") && <button onClick={begin}>Compare with ten pairs</button>}
        {job?.state === "failed" && <span class="fault">{job.message}</span>}
      </div>
    );
  }
  const number = (value: number | null) => (value === null ? "–" : value.toPrecision(4));
  return (
    <>
      <p><strong>Ten pairs</strong> {found.caption}</p>
      <div class="wide" tabIndex={0} role="region" aria-label="Ten pairs">
        <table>
          <thead><tr>{["result", "verdict", "1", "2", "difference", "95 % interval"].map((name) =>
            <th key={name} scope="col">{name}</th>)}</tr></thead>
          <tbody>
            {found.rows.map((row) => (
              <tr key={row.result}>
                <th scope="row" title={row.result}>{words[row.result] ?? row.result}</th>
                <td>{row.verdict}</td>
                <td class="number">{number(row.first)}</td>
                <td class="number">{number(row.second)}</td>
                <td class="number">{number(row.difference)}</td>
                <td class="number">{number(row.ci_low)} to {number(row.ci_high)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

/** Of what grows more, a multiple is easier to read. */
const MOST_PERCENT = 900;

function difference(a: Value | undefined, b: Value | undefined): string {
  if (typeof a !== "number" || typeof b !== "number") return a === b ? "" : "differs";
  if (a === b) return "";
  if (a === 0) return "differs";
  const percent = 100 * (b - a) / Math.abs(a);
  if (percent > MOST_PERCENT && a > 0) return `× ${Number((b / a).toPrecision(3))}`;
  return `${percent > 0 ? "+" : "−"}${Math.abs(percent).toPrecision(3)} %`;
}

export function Compare({ ids }: { ids: string[] }) {
  const [both, setBoth] = useState<RunResults[] | null>(null);
  const [fault, setFault] = useState("");
  const [words, setWords] = useState("");
  const [all, setAll] = useState(false);
  const [differing, setDiffering] = useState<Differing | null>(null);
  const [answers] = useState(() => new Answers());
  const look = () => answers.take(get<Differing>(`/api/compare/${ids.join("/")}`), setDiffering,
    () => setDiffering(null));
  const active = runs.value.find((run) => ids.includes(run.id)
    && (run.state === "waiting" || run.state === "running"));
  const isActive = active !== undefined;
  useEffect(() => {
    if (isActive) return;
    Promise.all(ids.map((id) => get<RunResults>(`/api/runs/${id}`)))
      .then(setBoth, (error) => setFault(error.message));
    look();
  }, [isActive]);
  if (active) {
    const text = `${nameOf(active)}: ${active.state === "waiting" ? "waits for the runs before it"
      : `${(100 * active.progress).toFixed(0)} %`}`;
    return <Pending title="Compare" text={text} />;
  }
  if (!both) return <Pending title="Compare" text={fault} />;
  const [a, b] = both;
  const paths = [...new Set([...Object.keys(a.summary), ...Object.keys(b.summary)])];
  const nameOfResult = (path: string) => bare(differing?.words[path] ?? path, path);
  const rows = paths
    .map((path) => ({ path, by: difference(a.summary[path], b.summary[path]) }))
    .filter(({ path, by }) => (all || by)
      && `${path} ${nameOfResult(path)}`.toLowerCase().includes(words.trim().toLowerCase()));
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
      {differing && <Keys keys={differing.keys} sameSeed={a.seed === b.seed} />}
      {differing && <Pairs ids={ids} found={differing.pairs}
        words={differing.words} again={look} />}
      <h2>One run of each</h2>
      {Object.keys(series).length > 0 &&
        <Chart title="total: goodput, Mb/s" series={series} labels={labels} />}
      <div class="bar">
        <label>Result <input type="search" value={words} placeholder="goodput"
          onInput={(event) => setWords(event.currentTarget.value)} /></label>
        <label class="check"><input type="checkbox" checked={all}
          onChange={(event) => setAll(event.currentTarget.checked)} /> equal results too</label>
        <span class="dim" role="status">{rows.length} results</span>
      </div>
      <div class="wide" tabIndex={0} role="region" aria-label="Results of both runs">
        <table>
          <thead><tr>{["result", "difference", "1", "2"].map((name) =>
            <th key={name} scope="col">{name}</th>)}</tr></thead>
          <tbody>
            {rows.slice(0, 500).map(({ path, by }) => (
              <tr key={path} class={by ? "differs" : ""}>
                <th scope="row" title={path}>{nameOfResult(path)}</th>
                <td class="number">{by && <strong>{by}</strong>}</td>
                <td class="number">{written(path, a.summary[path])}</td>
                <td class="number">{written(path, b.summary[path])}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
