// Why a flow is slow: runs with one change each, as bars with intervals, and in words.

import { useEffect, useState } from "preact/hooks";
import { get, nameOf, queue, runs, said, send, stop, type RunResults } from "./api";
import { Pending } from "./pending";

interface Bar {
  label: string; begin: number; mean: number; ci_low: number | null; ci_high: number | null;
  text: string;
}
interface Explanation {
  flow: string; goal: string; goal_name: string; unit: string; scale: number;
  limits: [string, string][]; bars: Bar[]; finding: string; causes: [string, string][];
  headings: string[]; hop_rows: string[][];
  /** What is no cause: in words, and name, change and gain of each. */
  rest: [string, [string, string, string][]][];
  absent: [string, string][]; heading: string;
  cause_names: string[]; cure_names: string[]; cure_headings: string[]; cures: string[][];
  /** What a change sets and removes, by its name. */
  changes: Record<string, { set: string[]; unset: string[] }>;
}
interface Why { flows: string[]; found: Record<string, Explanation> }

const ROW = 30;

/** The flow as it is, each change that helps, and these changes one after the other. */
function Bars({ why }: { why: Explanation }) {
  const ends = why.bars.map((bar) => Math.max(bar.ci_high ?? bar.mean, bar.begin));
  const most = Math.max(...ends, 1e-12);
  const x = (value: number) => `${(100 * Math.max(value, 0)) / most}%`;
  return (
    <figure class="bars" role="img" aria-label={why.finding}>
      <figcaption>{why.goal_name}, {why.unit}: mean and 95 % interval</figcaption>
      {why.bars.map((bar, number) => {
        const kind = number === 0 ? "before" : bar.begin ? "step" : "alone";
        const [low, high] = [Math.min(bar.begin, bar.mean), Math.max(bar.begin, bar.mean)];
        return (
          <div class="row" key={bar.label}>
            <span class="label">{bar.label}</span>
            <svg height={ROW} class={kind} aria-hidden="true">
              <rect x={x(low)} y="6" width={`${(100 * (high - low)) / most}%`} height={ROW - 12} />
              {bar.ci_low !== null && bar.ci_high !== null && (
                <line x1={x(bar.ci_low)} x2={x(bar.ci_high)} y1={ROW / 2} y2={ROW / 2} />
              )}
            </svg>
            <span class="value">{bar.text}</span>
          </div>
        );
      })}
    </figure>
  );
}

/** Runs the scenario with a change, with the same seed, and compares both runs. */
async function tryIt(id: string, { set, unset }: { set: string[]; unset: string[] }, name: string) {
  try {
    const run = await get<RunResults>(`/api/runs/${id}`);
    const body = { text: run.scenario, set, unset };
    const { text } = await send<{ text: string }>("POST", "/api/edit", body);
    const other = await queue({ text, seed: run.seed, name, air: false });
    said.value = "";
    location.hash = `#/compare/${id}/${other}`;
  } catch (error) {
    said.value = (error as Error).message;
  }
}

function TryIt({ id, why, name, words }: {
  id: string; why: Explanation; name: string; words: string;
}) {
  const change = why.changes[name];
  if (!change || change.set.length + change.unset.length === 0) return null;
  const title = [...change.set, ...change.unset].join(", ");
  return (
    <button type="button" aria-label={`Try it: ${words}`}
      onClick={() => tryIt(id, change, title)}>Try it</button>
  );
}

function Cures({ id, why }: { id: string; why: Explanation }) {
  return (
    <>
      <h3>Cures, and what they cost the other flows</h3>
      <div class="wide" tabIndex={0} role="region" aria-label="Cures">
        <table>
          <thead><tr>{why.cure_headings.map((name) => <th key={name} scope="col">{name}</th>)}
            <th scope="col"><span class="hidden">Try it</span></th></tr></thead>
          <tbody>
            {why.cures.map((row, number) => (
              <tr key={row[0]}>
                {row.map((cell, place) => (place === 0 ? <th scope="row">{cell}</th>
                  : <td>{place === row.length - 1 ? <code>{cell}</code> : cell}</td>))}
                <td><TryIt id={id} why={why} name={why.cure_names[number]} words={row[0]} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function Found({ id, why }: { id: string; why: Explanation }) {
  return (
    <section class="why-found" aria-label={`Why: ${why.flow}`}>
      <h2>{why.flow}: {why.goal}</h2>
      {why.limits.length > 0 && (
        <p>Limited by {why.limits.map(([name, part]) => `${name} ${part}`).join(", ")} of the
          time.</p>
      )}
      <Bars why={why} />
      {why.causes.length === 0 && <p>No change of one thing helps for certain.</p>}
      <ol>
        {why.causes.map(([words, key], number) => (
          <li key={words}>{words}<br /><code>{key}</code>{" "}
            <TryIt id={id} why={why} name={why.cause_names[number]} words={words} /></li>
        ))}
      </ol>
      {why.cures.length > 0 && <Cures id={id} why={why} />}
      {why.hop_rows.length > 0 && (
        <div class="wide" tabIndex={0} role="region" aria-label="Delay by hop">
          <table>
            <thead><tr>{why.headings.map((name) => <th key={name} scope="col">{name}</th>)}</tr>
            </thead>
            <tbody>
              {why.hop_rows.map((row) => (
                <tr key={row.join()}>
                  {row.map((cell, place) => (place === 0
                    ? <th scope="row">{cell}</th>
                    : <td class={place > 1 ? "number" : ""}>{cell}</td>))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <details><summary>Changes that are no causes, or do not apply</summary>
        <ul>
          {why.rest.map(([words, effects]) => effects.map(([name, change, gain]) => (
            <li key={name}>{words}: {name}, {change}: {gain}</li>)))}
          {why.absent.map(([name, reason]) => <li key={name}>{name}: {reason}</li>)}
        </ul></details>
      <p class="dim">{why.heading}; with the random numbers of the run itself.</p>
    </section>
  );
}

export function WhyView({ id }: { id: string }) {
  const [why, setWhy] = useState<Why | null>(null);
  const [fault, setFault] = useState("");
  const [flow, setFlow] = useState("");
  const run = runs.value.find((own) => own.id === id);
  const job = runs.value.find((own) => own.explains === id && (own.flow ?? "") === flow);
  const isActive = job?.state === "running" || job?.state === "waiting";
  useEffect(() => {
    get<Why>(`/api/runs/${id}/why`).then(setWhy, (error) => setFault(error.message));
  }, [id, run?.explained]);
  if (!why) return <Pending title="Why" text={fault} />;
  const explain = async () => {
    said.value = "";
    await send("POST", `/api/runs/${id}/why`, { flow }).catch(
      (error) => (said.value = error.message));
  };
  const found = why.found[flow];
  return (
    <div class="why">
      <div class="heading">
        <h1>Why</h1>
        <p class="dim"><a href={`#/run/${id}`}>{run ? nameOf(run) : "The run"}</a>: what limits a
          flow, by runs in which one thing is otherwise</p>
        <form class="bar" onSubmit={(event) => { event.preventDefault(); explain(); }}>
          <label>Flow
            <select value={flow} onChange={(event) => setFlow(event.currentTarget.value)}>
              <option value="">the slowest</option>
              {why.flows.map((name) => <option key={name} value={name}>{name}</option>)}
            </select>
          </label>
          {isActive
            ? <button type="button" onClick={() => stop(job.id)}>Stop</button>
            : <button class="primary">{found ? "Explain again" : "Explain"}</button>}
        </form>
      </div>
      {isActive && (
        <div class="progress">
          <progress value={job.progress} max={1} aria-label="Progress of the explanation" />
          <span>{job.state === "waiting" ? "waits for the runs before it"
            : `${(100 * job.progress).toFixed(0)} %`}</span>
        </div>
      )}
      {(job?.state === "failed" || job?.state === "stopped") && (
        <p class="fault" role="status">{job.state === "failed" ? "Failed" : "Stopped"}
          {job.message && `: ${job.message}`}</p>
      )}
      {found ? <Found id={id} why={found} />
        : !isActive && <p>Some hundred runs of the scenario say what limits this flow.</p>}
    </div>
  );
}
