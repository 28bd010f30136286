// The analytic twin: what theory predicts beside what a run has measured.

import { useEffect, useState } from "preact/hooks";
import { bare, get, nameOf, runs, written } from "./api";
import { Pending } from "./pending";

interface Residual {
  path: string; words: string; predicted: number; measured: number; half_width: number | null;
}
interface Check { name: string; verdict: "met" | "stretched" | "broken"; how: string }
interface Fit { family: string; form: string; checks: Check[] }
interface Twin { model: string | null; values: Residual[]; fits: Fit[] }

/** The residual that is at the edge of the drawing, in per cent. */
const EDGE = 30;
const MOST_ROWS = 60;

/** The prediction as a point beside the measured value with its interval, which are in the middle. */
function Residual({ value }: { value: Residual }) {
  const { predicted, measured, half_width: half } = value;
  if (!measured) return null;
  const at = (part: number) => 50 + (50 * Math.max(-EDGE, Math.min(EDGE, 100 * part))) / EDGE;
  const part = predicted / measured - 1;
  const wide = half === null ? 0 : half / Math.abs(measured);
  const isOut = 100 * Math.abs(part) > EDGE;
  return (
    <svg class="residual" viewBox="0 0 100 16" preserveAspectRatio="none" aria-hidden="true">
      <rect class="interval" x={at(-wide)} width={at(wide) - at(-wide)} y="2" height="12" />
      <line class="middle" x1="50" x2="50" y1="0" y2="16" />
      <rect class={isOut ? "point out" : "point"} x={at(part) - 1} width="2" y="3" height="10" />
    </svg>
  );
}

function percent(value: Residual): string {
  if (!value.measured) return value.predicted ? "–" : "0 %";
  const part = 100 * (value.predicted / value.measured - 1);
  return `${part > 0 ? "+" : part < 0 ? "−" : ""}${Math.abs(part).toFixed(1)} %`;
}

function Values({ twin }: { twin: Twin }) {
  const [all, setAll] = useState(false);
  const total = twin.values.filter((value) => all || !value.path.startsWith("flows["));
  return (
    <>
      <div class="bar"><label class="check"><input type="checkbox" checked={all}
        onChange={(event) => setAll(event.currentTarget.checked)} /> values of single flows too
      </label></div>
      <div class="wide" tabIndex={0} role="region" aria-label="Predicted and measured values">
        <table>
          <thead><tr><th scope="col">result</th><th scope="col">measured</th>
            <th scope="col">predicted</th><th scope="col">residual</th>
            <th scope="col">−{EDGE} % … measured … +{EDGE} %</th></tr></thead>
          <tbody>
            {total.slice(0, MOST_ROWS).map((value) => (
              <tr key={value.path}>
                <th scope="row" title={value.path}>{bare(value.words, value.path)}</th>
                <td class="number">{written(value.path, value.measured)}</td>
                <td class="number">{written(value.path, value.predicted)}</td>
                <td class="number">{percent(value)}</td>
                <td><Residual value={value} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {total.length > MOST_ROWS && <p class="dim">{total.length - MOST_ROWS} more</p>}
    </>
  );
}

function Assumptions({ fit }: { fit: Fit }) {
  return (
    <ul class="checks">
      {fit.checks.map((check) => (
        <li key={check.name}><span class={check.verdict}>{check.verdict}</span>
          <span><strong>{check.name.replaceAll("_", " ")}</strong> {check.how}</span></li>
      ))}
    </ul>
  );
}

export function TwinView({ id }: { id: string }) {
  const [twin, setTwin] = useState<Twin | null>(null);
  const [fault, setFault] = useState("");
  const run = runs.value.find((own) => own.id === id);
  useEffect(() => {
    get<Twin>(`/api/runs/${id}/twin`).then(setTwin, (error) => setFault(error.message));
  }, [id]);
  if (!twin) return <Pending title="Analytic twin" text={fault} />;
  const first = twin.model === null ? null : twin.fits[0];
  const others = twin.fits.filter((fit) => fit !== first);
  return (
    <div class="twin">
      <div class="heading">
        <h1>Analytic twin</h1>
        <p class="dim"><a href={`#/run/${id}`}>{run ? nameOf(run) : "The run"}</a>
          {first ? `: ${first.family}, ${first.form}` : ""}</p>
      </div>
      {first ? <Values twin={twin} /> : <p>No model fits this scenario.</p>}
      {first && <><h2>Assumptions</h2><Assumptions fit={first} /></>}
      {others.length > 0 && (
        <>
          <h2>Why other models do not apply</h2>
          {others.map((fit) => (
            <details key={fit.family}><summary>{fit.family.replaceAll("_", " ")}</summary>
              <Assumptions fit={{ ...fit, checks: fit.checks.filter((own) =>
                own.verdict === "broken") }} /></details>
          ))}
        </>
      )}
    </div>
  );
}
