// A chart of time series over simulated time.

import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Samples, SeriesByPath } from "./api";
import { duration } from "./air/draw";
import { CYCLE } from "./palette";

const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3]];
export const MOST_LINES = 12;
/** More points than these are noise on a screen. */
const MOST_POINTS = 240;

export function style(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** The series at common times: as they are, or the means over equal stretches. */
function table(series: SeriesByPath, paths: string[]): { data: uPlot.AlignedData; bin: number } {
  const all = paths.map((path) => series[path]);
  const [first] = all;
  const isCommon = all.every(({ t }) => t.length === first.t.length
    && t[0] === first.t[0] && t[t.length - 1] === first.t[first.t.length - 1]);
  if (isCommon && first.t.length <= MOST_POINTS) {
    return { data: [first.t, ...all.map(({ v }) => v)] as uPlot.AlignedData, bin: 0 };
  }
  const count = Math.min(Math.max(...all.map(({ t }) => t.length)), MOST_POINTS);
  const end = Math.max(...all.map(({ t }) => t[t.length - 1] ?? 0));
  const bin = end / count || 1;
  const middles = Array.from({ length: count }, (_, n) => (n + 0.5) * bin);
  return { data: [middles, ...all.map((own) => means(own, bin, count))], bin };
}

function means({ t, v }: Samples, bin: number, count: number): (number | null)[] {
  const [sums, numbers] = [new Float64Array(count), new Uint32Array(count)];
  t.forEach((at, n) => {
    const value = v[n];
    if (value === null) return;
    const place = Math.min(Math.floor(at / bin), count - 1);
    sums[place] += value;
    numbers[place]++;
  });
  return Array.from(sums, (sum, n) => (numbers[n] ? sum / numbers[n] : null));
}

/** Instants as labels; sums of steps have errors of rounding. */
const inSeconds = (_: uPlot, instants: number[]) =>
  instants.map((at) => `${Number(at.toPrecision(9))} s`);

export function Chart({ title, series, labels, height = 190 }: {
  title: string; series: SeriesByPath; labels?: Record<string, string>; height?: number;
}) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const paths = Object.keys(series).slice(0, MOST_LINES);
  const shape = paths.map((path) => `${path} ${labels?.[path]}`).join("\n");
  const shown = useMemo(() => table(series, paths), [series]);
  useEffect(() => {
    const element = host.current!;
    const axis = () => ({
      stroke: () => style("--dim"), font: "12px system-ui", labelFont: "12px system-ui",
      grid: { stroke: () => style("--faint"), width: 1 }, ticks: { show: false },
    });
    const own = new uPlot({
      width: element.clientWidth, height,
      scales: { x: { time: false } },
      axes: [{ ...axis(), size: 30, values: inSeconds }, { ...axis(), size: 56 }],
      legend: { live: false, show: paths.length > 1 },
      cursor: { drag: { x: true, y: false } },
      series: [{ label: "time, s" }, ...paths.map((path, number) => ({
        label: labels?.[path] ?? path, width: 1.5, points: { show: false },
        stroke: CYCLE[number % CYCLE.length], spanGaps: true,
        dash: DASHES[Math.floor(number / CYCLE.length) % DASHES.length],
      }))],
    }, shown.data, element);
    plot.current = own;
    const watcher = new ResizeObserver(() => own.setSize({ width: element.clientWidth, height }));
    watcher.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const recolour = () => own.redraw(false, true);
    scheme.addEventListener("change", recolour);
    return () => {
      scheme.removeEventListener("change", recolour);
      watcher.disconnect();
      own.destroy();
    };
  }, [shape]);
  useEffect(() => { plot.current?.setData(shown.data); }, [shown]);
  return (
    <figure class="chart">
      <figcaption>{title}{shown.bin > 0
        && <span class="dim">, means over {duration(shown.bin * 1e9)}</span>}</figcaption>
      <div ref={host} role="img" aria-label={`${title} over simulated time`} />
    </figure>
  );
}

const NAMES: Record<string, string> = {
  goodput_mbps: "goodput, Mb/s", queue_packets: "queue, packets", srtt_s: "smoothed RTT, s",
  "control.window_segments": "congestion window, segments",
  "conference.target_mbps": "target of the conference, Mb/s",
};

/** The series of a run by their last names: a chart for each. */
export function groups(series: SeriesByPath): Map<string, SeriesByPath> {
  const found = new Map<string, SeriesByPath>();
  for (const [path, samples] of Object.entries(series)) {
    const [, place, name] = /^([^.]*)\.(.*)$/.exec(path) ?? ["", "", path];
    const own = place.replace(/s?\[\d+\]/, "s");
    const title = `${own}: ${NAMES[name] ?? name}`;
    found.set(title, { ...found.get(title), [path]: samples });
  }
  return found;
}
