// Which flows and stations are drawn, where there are more than lines that can be told apart.

import type { Owners, SeriesByPath } from "./api";
import { MOST_LINES } from "./chart";

/** What people wait for stands first; of other traffic the order of the scenario decides. */
const INTEREST = ["call", "conference", "game", "video", "ping"];

export const placeOf = (path: string) => path.slice(0, path.lastIndexOf("]") + 1);
const groupOf = (place: string) => place.replace(/\[.*/, "");

function mean(values: (number | null)[]): number {
  const known = values.filter((value) => value !== null) as number[];
  return known.reduce((sum, value) => sum + value, 0) / (known.length || 1);
}

/** The owners of series by group, those of most interest first. */
export function ranked(series: SeriesByPath, owners: Owners): Map<string, string[]> {
  const heights = new Map<string, number>();
  for (const [path, { v }] of Object.entries(series)) {
    const place = placeOf(path);
    if (place) heights.set(place, groupOf(place) === "flows" ? 0 : mean(v));
  }
  const rank = (place: string) => {
    const found = INTEREST.indexOf(owners[place]?.kind ?? "");
    return found < 0 ? INTEREST.length : found;
  };
  const found = new Map<string, string[]>();
  for (const place of heights.keys()) {
    const group = groupOf(place);
    found.set(group, [...(found.get(group) ?? []), place]);
  }
  // Of equals the order stays.
  found.forEach((places) => places.sort(
    (a, b) => rank(a) - rank(b) || heights.get(b)! - heights.get(a)!));
  return found;
}

/** What is drawn: what was chosen, and of the rest the first, as long as there is room. */
export function drawn(places: string[], chosen: Record<string, boolean>): string[] {
  const asked = places.filter((place) => chosen[place]);
  const rest = places.filter((place) => chosen[place] === undefined);
  return [...asked, ...rest.slice(0, Math.max(0, MOST_LINES - asked.length))];
}

export function Chooser({ group, places, shown, owners, choose }: {
  group: string; places: string[]; shown: string[]; owners: Owners;
  choose: (chosen: Record<string, boolean>) => void;
}) {
  const all = (is: boolean) => choose(Object.fromEntries(places.map((place) => [place, is])));
  return (
    <details class="chooser">
      <summary>{shown.length} of {places.length} {group} drawn</summary>
      <div class="bar" role="group" aria-label={`Which ${group} are drawn`}>
        <button type="button" onClick={() => all(false)}>None</button>
        {places.map((place) => (
          <label key={place} class="check"><input type="checkbox" checked={shown.includes(place)}
            onChange={(event) => choose({ [place]: event.currentTarget.checked })} />
            {owners[place]?.name ?? place}</label>
        ))}
      </div>
    </details>
  );
}
