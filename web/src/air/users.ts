// PPDUs to several users: their frames begin at once, and share the bar of the node that sends.
import type { Frames } from "../tile";

/** Which user of its PPDU each frame is for, from the bottom, and how many users that has. */
export function users({ start, from }: Frames): { place: Uint16Array; count: Uint16Array } {
  const place = new Uint16Array(start.length);
  const count = new Uint16Array(start.length);
  for (let first = 0, next = 0; first < start.length; first = next) {
    while (next < start.length && start[next] === start[first] && from[next] === from[first]) {
      place[next] = next - first;
      next++;
    }
    count.fill(next - first, first, next);
  }
  return { place, count };
}
