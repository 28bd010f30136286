// How results are named and written.

import type { Value } from "./api";

export const HEADLINES: [string, string][] = [
  ["total.goodput_mbps", "goodput"],
  ["total.jain_index", "Jain's index"],
  ["total.collision_probability", "collision probability"],
  ["total.delay_s.mean", "packet delay"],
  ["total.queue_drops", "queue drops"],
  ["total.retry_drops", "retry drops"],
];

/** A value with its unit, which is the last part of its path. */
export function show(path: string, value: Value | undefined): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string") return value;
  const number = Number.isInteger(value) ? value.toLocaleString("en") : value.toPrecision(4);
  if (/_mbps(\.|$)/.test(path)) return `${number} Mb/s`;
  if (/_s(\.(mean|max|min|p\d+))?$/.test(path)) return `${(1000 * value).toPrecision(4)} ms`;
  return number;
}
