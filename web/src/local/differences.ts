// What differs between two runs, as simoom.why.compare and simoom.scenario.words say it.

import type { Keys, Value } from "../api";

const IGNORED = ["title", "description"];
const LONGEST = 40;

const isTable = (value: unknown): value is Keys =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A value as in TOML, shortened; nothing where it is not set. */
function short(value: unknown): string {
  const text = value === undefined ? "" : toml(value);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}

/** Plain data as a TOML value. */
export function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
  if (!isTable(value)) return JSON.stringify(value).replaceAll("\x7f", "\\u007f");
  const pairs = Object.entries(value).map(([key, item]) => `${toml(key)} = ${toml(item)}`);
  return `{${pairs.join(", ")}}`;
}

/** The keys in which two scenarios differ, each as deep as it can be set alone. */
export function differences(a: unknown, b: unknown, path = ""): [string, string, string][] {
  if (JSON.stringify(a) === JSON.stringify(b)) return [];
  if (isTable(a) && isTable(b)) {
    const [own, other] = [Object.keys(a), Object.keys(b)];
    const areChoices = own.length === 1 && other.length === 1 && own[0] !== other[0];
    if (!areChoices) {
      return [...new Set([...own, ...other])].filter((key) => path || !IGNORED.includes(key))
        .flatMap((key) => differences(a[key], b[key], path ? `${path}.${key}` : key));
    }
  }
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length
    && [...a, ...b].every(isTable)) {
    return a.flatMap((item, n) => differences(item, b[n], `${path}[${n}]`));
  }
  return [[path, short(a), short(b)]];
}

/** The names of flows and nodes by their paths. */
function names(summary: Record<string, Value>): Map<string, string> {
  return new Map(Object.entries(summary).filter(([path]) => path.endsWith(".name"))
    .map(([path, name]) => [path.slice(0, -".name".length), String(name)]));
}

/** The results of two runs in words; a name is said if it stands for the same in both. */
export function inWords(
  first: Record<string, Value>, second: Record<string, Value>, words: Record<string, string>,
): Record<string, string> {
  const [own, other] = [names(first), names(second)];
  const nameOf = (place: string) =>
    (own.get(place) === (other.get(place) ?? own.get(place)) ? own.get(place) : undefined) ?? place;
  const said = (path: string) => {
    const generic = words[path.replace(/\[\d+\]/g, "[i]")];
    return generic?.replace(/ of (\w+\[i\][\w.[\]]*)/, (_, place: string) => {
      const parts = path.split(".").slice(0, place.split(".").length);
      return ` of ${nameOf(parts.join("."))}`;
    }) ?? path;
  };
  const paths = [...new Set([...Object.keys(first), ...Object.keys(second)])];
  return Object.fromEntries(paths.map((path) => [path, said(path)]));
}

/** Path and value of a setting, PATH=VALUE: the path may have = in brackets and quotes. */
export function setting(text: string): [string, string] {
  let [depth, quote] = [0, ""];
  for (let n = 0; n < text.length; n++) {
    const char = text[n];
    if (quote) quote = char === quote ? "" : quote;
    else if (char === "\"" || char === "'") quote = char;
    else if ("[{".includes(char)) depth++;
    else if ("]}".includes(char)) depth = Math.max(0, depth - 1);
    else if (char === "=" && depth === 0) {
      return [text.slice(0, n).trim(), text.slice(n + 1).trim()];
    }
  }
  return [text.trim(), ""];
}
