// Drawings of a sweep: curves with 95 % intervals, and a heat map.

import { useEffect, useRef, useState } from "preact/hooks";
import { CYCLE } from "./palette";

export type Label = string | number | boolean;
export interface Point {
  settings: Label[]; runs: string[]; values: (number | null)[];
  mean: number | null; ci_low: number | null; ci_high: number | null;
}
export interface Shown {
  id: string; name: string; title: string; over: Record<string, Label[]>; replications: number;
  seed: number; path: string; points: Point[];
  /** Each result that any run has, and its words. */
  results: [string, string][];
  /** The words of the result and of each axis. */
  words: Record<string, string>;
  /** How many runs there are, and will be. */
  done: number; runs: number;
  /** The values of each axis as they are written where there is little room. */
  labels: Record<string, string[]>;
}
interface Of { sweep: Shown; chosen: number | null; choose: (point: number) => void }

const HEIGHT = 340;
const EDGE = { left: 64, right: 16, top: 12, bottom: 44 };
const DASHES = ["", "6 3", "2 2", "8 3 2 3"];
const RADIUS = 5;

export function written(value: number | null): string {
  if (value === null) return "–";
  return Number.isInteger(value) && Math.abs(value) < 1e6 ? String(value)
    : String(Number(value.toPrecision(4)));
}

function half(point: Point): string {
  const { ci_low: low, ci_high: high } = point;
  return low === null || high === null ? "" : ` ± ${Number(((high - low) / 2).toPrecision(2))}`;
}

/** Round numbers that divide a range. */
function ticks(low: number, high: number, about: number): number[] {
  const power = 10 ** Math.floor(Math.log10((high - low) / about || 1));
  const step = [1, 2, 5, 10].map((part) => part * power).find((own) =>
    (high - low) / own <= about) ?? power;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) {
    found.push(Number(at.toPrecision(12)));
  }
  return found;
}

function described(sweep: Shown, point: Point): string {
  const place = Object.keys(sweep.over).map((path, axis) => `${path} ${point.settings[axis]}`);
  return `${place.join(", ")}: ${written(point.mean)}${half(point)}`;
}

/** The width of an element, as it changes. */
function useWidth(): [number, preact.RefObject<HTMLDivElement | null>] {
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(600);
  useEffect(() => {
    const element = host.current!;
    const watcher = new ResizeObserver(() => setWidth(element.clientWidth || 600));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  return [width, host];
}

/** The mark of a line: a circle, a square, a triangle, and again. */
function Marker({ number, x, y }: { number: number; x: number; y: number }) {
  const r = RADIUS;
  if (number % 3 === 0) return <circle cx={x} cy={y} r={r} />;
  if (number % 3 === 1) return <rect x={x - r} y={y - r} width={2 * r} height={2 * r} />;
  return <polygon points={`${x - r},${y + r} ${x},${y - r} ${x + r},${y + r}`} />;
}

export function Curves({ sweep, chosen, choose }: Of) {
  const [width, host] = useWidth();
  const [first, second] = Object.keys(sweep.over);
  const xs = sweep.over[first];
  const isNumeric = xs.every((value) => typeof value === "number");
  const numbers = isNumeric ? (xs as number[]) : xs.map((_, place) => place);
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const room = least === most ? 1 : 0.04 * (most - least);
  const x = (value: number) => EDGE.left + (width - EDGE.left - EDGE.right)
    * (value - least + room) / (most - least + 2 * room);
  const at = (label: Label) => x(isNumeric ? (label as number) : xs.indexOf(label));
  const ends = sweep.points.flatMap((point) => [point.mean, point.ci_low, point.ci_high])
    .filter((value): value is number => value !== null);
  const high = Math.max(...ends, 1e-12);
  const low = Math.min(...ends, high);
  const bottom = low > 0 && low > 0.6 * high ? low - 0.2 * (high - low || high) : Math.min(0, low);
  const y = (value: number) => HEIGHT - EDGE.bottom
    - (HEIGHT - EDGE.bottom - EDGE.top) * (value - bottom) / (1.06 * (high - bottom) || 1);
  const lines = second ? sweep.over[second] : [null];
  const drawn = isNumeric && xs.length > 8 ? ticks(least, most, width / 90) : numbers;
  return (
    <div ref={host} class="sweep-plot">
      <p class="dim">{sweep.words[sweep.path]}: means with 95 % intervals</p>
      <svg width={width} height={HEIGHT} role="group"
        aria-label={`${sweep.words[sweep.path]} by ${sweep.words[first]}, means with 95 % intervals`}>
        {ticks(bottom, high, 5).map((value) => (
          <g key={value}><line class="grid" x1={EDGE.left} x2={width - EDGE.right} y1={y(value)}
            y2={y(value)} /><text class="end" x={EDGE.left - 8} y={y(value) + 4}>
            {written(value)}</text></g>
        ))}
        {drawn.map((value) => (
          <text key={value} x={x(value)} y={HEIGHT - EDGE.bottom + 18}>
            {isNumeric ? written(value) : sweep.labels[first][value]}</text>
        ))}
        <text x={(EDGE.left + width - EDGE.right) / 2} y={HEIGHT - 6}>{sweep.words[first]}</text>
        {lines.map((label, number) => {
          const own = sweep.points.map((point, place) => ({ point, place })).filter(({ point }) =>
            point.mean !== null && (label === null || point.settings[1] === label));
          const colour = CYCLE[number % CYCLE.length];
          const line = own.map(({ point }) => `${at(point.settings[0])},${y(point.mean!)}`);
          return (
            <g key={String(label)} style={{ color: colour }}>
              {isNumeric && <polyline class="curve" points={line.join(" ")}
                stroke-dasharray={DASHES[Math.floor(number / CYCLE.length) % DASHES.length]} />}
              {own.map(({ point, place }) => {
                const [px, py] = [at(point.settings[0]), y(point.mean!)];
                return (
                  <g key={place} class={place === chosen ? "point chosen" : "point"} tabindex={0}
                    role="button" aria-pressed={place === chosen}
                    aria-label={described(sweep, point)} onClick={() => choose(place)}
                    onKeyDown={(event) => {
                      if (event.key !== "Enter" && event.key !== " ") return;
                      event.preventDefault();
                      choose(place);
                    }}>
                    <title>{described(sweep, point)}</title>
                    {point.ci_low !== null && point.ci_high !== null && (
                      <path d={`M${px} ${y(point.ci_low)}V${y(point.ci_high)}M${px - 4} `
                        + `${y(point.ci_low)}h8M${px - 4} ${y(point.ci_high)}h8`} />
                    )}
                    <circle class="touch" cx={px} cy={py} r="9" />
                    <Marker number={number} x={px} y={py} />
                  </g>
                );
              })}
            </g>
          );
        })}
      </svg>
      {second && (
        <ul class="legend" aria-label={second}>
          {lines.map((label, number) => (
            <li key={String(label)}><svg viewBox="0 0 12 12" aria-hidden="true"
              style={{ color: CYCLE[number % CYCLE.length] }}>
              <g class="swatch"><Marker number={number} x={6} y={6} /></g></svg>
              {sweep.words[second]} {sweep.labels[second][number]}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

export function HeatMap({ sweep, chosen, choose }: Of) {
  const [first, second] = Object.keys(sweep.over);
  const means = sweep.points.map((point) => point.mean).filter((mean) => mean !== null);
  const [least, most] = [Math.min(...means), Math.max(...means)];
  const part = (mean: number) => (most > least ? (mean - least) / (most - least) : 0.5);
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="Heat map">
      <table class="heat">
        <thead><tr><th scope="col">{sweep.words[first]} ↓ {sweep.words[second]} →</th>
          {sweep.labels[second].map((label, n) => <th key={n} scope="col">{label}</th>)}
        </tr></thead>
        <tbody>
          {sweep.over[first].map((row, number) => (
            <tr key={String(row)}>
              <th scope="row">{sweep.labels[first][number]}</th>
              {sweep.over[second].map((column) => {
                const place = sweep.points.findIndex((point) =>
                  point.settings[0] === row && point.settings[1] === column);
                const point = sweep.points[place];
                const depth = point.mean === null ? 0 : 4 + 34 * part(point.mean);
                return (
                  <td key={String(column)} style={{ "--part": `${depth.toFixed(0)}%` }}>
                    <button aria-pressed={place === chosen} onClick={() => choose(place)}
                      aria-label={described(sweep, point)}>
                      {written(point.mean)}<span>{half(point)}</span></button>
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
