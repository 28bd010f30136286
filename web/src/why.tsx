// Why a flow is slow: runs with one change each, as bars with intervals, and in words.

import { useEffect, useState } from "preact/hooks";
import { get, nameOf, runs, said, send, stop } from "./api";
import { Pending } from "./pending";

interface Bar {
  label: string; begin: number; mean: number; ci_low: number | null; ci_high: number | null;
  text: string;
}
interface Explanation {
  flow: string; goal: string; goal_name: string; unit: string; scale: number;
  limits: [string, string][]; bars: Bar[]; finding: string; causes: [string, string][];
  headings: string[]; hop_rows: string[][]; rest: [string, string, string][];
  absent: [string, string][]; replications: number;
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

function Found({ why }: { why: Explanation }) {
  return (
    <section class="why-found" aria-label={`Why: ${why.flow}`}>
      <h2>{why.flow}: {why.goal}</h2>
      {why.limits.length > 0 && (
        <p>Limited by {why.limits.map(([name, part]) => `${name} ${part}`).join(", ")} of the
          time.</p>
      )}
      <Bars why={why} />
      {why.causes.length === 0 && <p>No change of one thing helps.</p>}
      <ol>
        {why.causes.map(([words, key]) => <li key={words}>{words}<br /><code>{key}</code></li>)}
      </ol>
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
      <details><summary>Changes that do not help, or do not apply</summary>
        <ul>
          {why.rest.map(([words, name, value]) => <li key={name}>{name}: {words}, {value}</li>)}
          {why.absent.map(([name, reason]) => <li key={name}>{name}: {reason}</li>)}
        </ul></details>
      <p class="dim">{why.replications} runs of each change, with the random numbers of the run
        itself.</p>
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
      {found ? <Found why={found} />
        : !isActive && <p>About a hundred runs of the scenario say what limits this flow.</p>}
    </div>
  );
}
