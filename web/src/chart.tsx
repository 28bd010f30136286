// A chart of time series over simulated time.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { SeriesByPath } from "./api";
import { CYCLE } from "./palette";

const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3]];
const MOST_LINES = 12;
const MOST_POINTS = 4000;

export function style(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function table(series: SeriesByPath, paths: string[]): uPlot.AlignedData {
  const longest = paths.reduce((a, b) => series[a].t.length >= series[b].t.length ? a : b);
  const step = Math.max(1, Math.ceil(series[longest].t.length / MOST_POINTS));
  const pick = <T,>(values: T[]) => values.filter((_, index) => index % step === 0);
  return [pick(series[longest].t), ...paths.map((path) => pick(series[path].v))] as uPlot.AlignedData;
}

export function Chart({ title, series, labels, height = 190 }: {
  title: string; series: SeriesByPath; labels?: Record<string, string>; height?: number;
}) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const paths = Object.keys(series).slice(0, MOST_LINES);
  const shape = paths.join("\n");
  useEffect(() => {
    const element = host.current!;
    const axis = () => ({
      stroke: () => style("--dim"), font: "12px system-ui", labelFont: "12px system-ui",
      grid: { stroke: () => style("--faint"), width: 1 }, ticks: { show: false },
    });
    const own = new uPlot({
      width: element.clientWidth, height,
      scales: { x: { time: false } },
      axes: [{ ...axis(), size: 30 }, { ...axis(), size: 56 }],
      legend: { live: false, show: paths.length > 1 },
      cursor: { drag: { x: true, y: false } },
      series: [{ label: "time, s" }, ...paths.map((path, number) => ({
        label: labels?.[path] ?? path, width: 1.5, points: { show: false },
        stroke: CYCLE[number % CYCLE.length],
        dash: DASHES[Math.floor(number / CYCLE.length) % DASHES.length],
      }))],
    }, table(series, paths), element);
    plot.current = own;
    const watcher = new ResizeObserver(() => own.setSize({ width: element.clientWidth, height }));
    watcher.observe(element);
    return () => { watcher.disconnect(); own.destroy(); };
  }, [shape]);
  useEffect(() => { plot.current?.setData(table(series, paths)); }, [series]);
  const more = Object.keys(series).length - paths.length;
  return (
    <figure class="chart">
      <figcaption>{title}{more > 0 && <span class="dim"> ({more} more not drawn)</span>}</figcaption>
      <div ref={host} role="img" aria-label={`${title} over simulated time`} />
    </figure>
  );
}

const NAMES: Record<string, string> = {
  goodput_mbps: "goodput, Mb/s", queue_packets: "queue, packets", srtt_s: "smoothed RTT, s",
  "control.window_segments": "congestion window, segments",
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
