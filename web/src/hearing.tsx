// Who hears whom: the signal of each node at each other, the links, and the hidden pairs.

import { useEffect, useState } from "preact/hooks";
import { send } from "./api";
import { draft } from "./scenario";

interface Link {
  from: string; to: string; signal_dbm: number | null; snr_db: number | null; detected: boolean;
  rate_mbps: number | null; success: number | null;
}
/** Signal, whether it is detected, and whether the two exchange frames. */
type Cell = [number | null, boolean, boolean] | null;
interface Hearing {
  nodes: string[]; matrix: Cell[][] | null; links: Link[]; hidden: [string, string][];
}

const WEAKEST = -100;
const STRONGEST = -30;
const MOST_LINKS = 200;

/** The part of the accent's colour in a cell: the text above it stays legible. */
function strength(signal: number): string {
  const part = (signal - WEAKEST) / (STRONGEST - WEAKEST);
  return `${(4 + 30 * Math.max(0, Math.min(1, part))).toFixed(0)}%`;
}

function Matrix({ nodes, matrix }: { nodes: string[]; matrix: Cell[][] }) {
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Signal by transmitter and receiver">
      <table class="matrix">
        <thead><tr><th scope="col">dBm from, at</th>
          {nodes.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
        <tbody>
          {matrix.map((row, from) => (
            <tr key={nodes[from]}>
              <th scope="row">{nodes[from]}</th>
              {row.map((cell, to) => {
                if (!cell || cell[0] === null) {
                  return <td key={nodes[to]} class="number dim">{from === to ? "" : "–"}</td>;
                }
                const [signal, isDetected, isLink] = cell;
                return (
                  <td key={nodes[to]} class={`number${isLink ? " linked" : ""}`}
                    style={isDetected ? { "--part": strength(signal) } : undefined}
                    data-detected={isDetected ? "" : undefined}>
                    {signal.toFixed(0)}{!isDetected && <span class="dim"> ·</span>}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function HearingView() {
  const [heard, setHeard] = useState<Hearing | null>(null);
  const [fault, setFault] = useState("");
  const [at, setAt] = useState("0");
  const [seed, setSeed] = useState("1");
  const { text } = draft();
  useEffect(() => {
    const body = { text, seed: Math.floor(Number(seed)) || 0, at_s: Number(at) || 0 };
    let isCurrent = true;
    const asked = new AbortController();
    send<Hearing>("POST", "/api/hearing", body, asked.signal).then(
      (found) => { if (isCurrent) { setHeard(found); setFault(""); } },
      (error) => { if (isCurrent) setFault(error.message); });
    return () => { isCurrent = false; asked.abort(); };
  }, [text, seed, at]);
  const number = (value: number | null, digits: number) =>
    value === null ? "–" : value.toFixed(digits);
  return (
    <div class="hearing">
      <div class="heading">
        <h1>Who hears whom</h1>
        <p class="dim">The nodes of <a href="#/scenario">the scenario</a>, without fading and
          without other frames</p>
        <div class="bar">
          <label>Time, s <input type="number" min="0" step="any" class="short" value={at}
            onInput={(event) => setAt(event.currentTarget.value)} /></label>
          <label>Seed <input type="number" min="0" step="1" class="short" value={seed}
            onInput={(event) => setSeed(event.currentTarget.value)} /></label>
        </div>
      </div>
      {fault && <p class="fault" role="alert">{fault}</p>}
      {heard?.matrix && <Matrix nodes={heard.nodes} matrix={heard.matrix} />}
      {heard && !heard.matrix && <p>{heard.nodes.length} nodes are too many for a matrix.</p>}
      {heard && (
        <p>{heard.matrix && "Coloured cells: the receiver detects the transmitter and defers to "
          + "it; framed ones are links. "}
          {heard.hidden.length === 0 ? "No nodes are hidden from each other."
            : `Hidden from each other: ${heard.hidden.slice(0, 40).map((pair) =>
              pair.join(" and ")).join("; ")}${heard.hidden.length > 40 ? " …" : ""}.`}</p>
      )}
      {heard && heard.links.length > 0 && (
        <div class="wide" tabIndex={0} role="region" aria-label="Links">
          <table>
            <thead><tr><th scope="col">link</th><th scope="col">signal, dBm</th>
              <th scope="col">SNR, dB</th><th scope="col">rate, Mb/s</th>
              <th scope="col">frames that arrive</th></tr></thead>
            <tbody>
              {heard.links.slice(0, MOST_LINKS).map((link) => (
                <tr key={`${link.from} ${link.to}`}>
                  <th scope="row">{link.from} → {link.to}</th>
                  <td class="number">{number(link.signal_dbm, 1)}</td>
                  <td class="number">{number(link.snr_db, 1)}</td>
                  <td class="number">{number(link.rate_mbps, 1)}</td>
                  <td class="number">{link.detected && link.success !== null
                    ? `${(100 * link.success).toFixed(1)} %` : "not detected"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
