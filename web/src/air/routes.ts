// Events of routers at the top of the lanes of their nodes.

import { NONE, type Routes } from "../tile";
import type { Colours, Layout } from "./draw";
import type { Model } from "./model";

const SIZE_PX = 4;
/** No text fits into less room. */
const LEAST_TEXT_PX = 50;
const FAILS = new Set(["failed", "link failed"]);

/** A triangle at each event, an empty one if a route or a link fails, and words where there is room
    for them. */
export function drawRoutes(c: CanvasRenderingContext2D, routes: Routes, model: Model,
  layout: Layout, colours: Colours): void {
  const { about } = model;
  const width = layout.width - layout.gutter;
  const x = (ns: number) => layout.gutter + (ns - model.start) / model.span * width;
  const next = nextOfNode(routes);
  const [changes, failures] = [new Path2D(), new Path2D()];
  c.font = "11px system-ui, sans-serif";
  c.textAlign = "left";
  c.textBaseline = "middle";
  for (let n = 0; n < routes.at.length; n++) {
    const lane = model.laneOfNode(routes.node[n]);
    const at = x(routes.at[n]);
    if (lane === undefined || at < layout.gutter || at > layout.width) continue;
    const y = layout.axis + lane * layout.lane + SIZE_PX + 3;
    const triangle = FAILS.has(about.route[routes.step[n]]) ? failures : changes;
    triangle.moveTo(at - SIZE_PX, y - SIZE_PX);
    triangle.lineTo(at + SIZE_PX, y - SIZE_PX);
    triangle.lineTo(at, y + SIZE_PX);
    triangle.closePath();
    const room = (Number.isNaN(next[n]) ? layout.width : x(next[n])) - at - 3 * SIZE_PX;
    if (routes.destination[n] !== NONE) label(c, words(routes, n, about), at, y, room, colours);
  }
  c.fillStyle = c.strokeStyle = colours.accent;
  c.fill(changes);
  c.fillStyle = colours.ground;
  c.fill(failures);
  c.strokeStyle = colours.mark;
  c.lineWidth = 1.5;
  c.stroke(failures);
}

/** Words on the ground of the page, if there is room for them. */
function label(c: CanvasRenderingContext2D, text: string, at: number, y: number, room: number,
  colours: Colours): void {
  if (room < LEAST_TEXT_PX) return;
  const width = c.measureText(text).width;
  if (width > room) return;
  c.fillStyle = colours.ground;
  c.globalAlpha = 0.85;
  c.fillRect(at + SIZE_PX + 2, y - 7, width + 4, 14);
  c.globalAlpha = 1;
  c.fillStyle = colours.text;
  c.fillText(text, at + SIZE_PX + 4, y);
}

/** When the next event of the same node is; NaN after the last one. */
function nextOfNode(routes: Routes): Float64Array {
  const next = new Float64Array(routes.at.length).fill(NaN);
  const seen = new Map<number, number>();
  for (let n = routes.at.length - 1; n >= 0; n--) {
    next[n] = seen.get(routes.node[n]) ?? NaN;
    seen.set(routes.node[n], routes.at[n]);
  }
  return next;
}

function words(routes: Routes, n: number, about: Model["about"]): string {
  const to = about.nodes[routes.destination[n]];
  const step = about.route[routes.step[n]];
  if (step !== "changed") return `${step}: ${to}`;
  return routes.hops[n] === NONE ? `no route to ${to}`
    : `route to ${to}: ${routes.hops[n]} ${routes.hops[n] === 1 ? "hop" : "hops"}`;
}
