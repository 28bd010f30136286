// Events of routers at the top of the lanes of their nodes.

import { NONE, type Routes } from "../tile";
import type { Colours, Layout } from "./draw";
import type { Model } from "./model";

const SIZE_PX = 4;
/** Room that a text needs beside its mark. */
const TEXT_PX = 120;
const FAILS = new Set(["failed", "link failed"]);

/** A mark at each event: a triangle, and if a route or a link fails a cross; words where there is
    room for them. */
export function drawRoutes(c: CanvasRenderingContext2D, routes: Routes, model: Model,
  layout: Layout, colours: Colours): void {
  const { about } = model;
  const width = layout.width - layout.gutter;
  const x = (ns: number) => layout.gutter + (ns - model.start) / model.span * width;
  const next = nextOfNode(routes);
  const triangles = new Path2D();
  const crosses = new Path2D();
  c.font = "11px system-ui, sans-serif";
  c.textAlign = "left";
  c.textBaseline = "middle";
  c.fillStyle = colours.text;
  for (let n = 0; n < routes.at.length; n++) {
    const lane = model.laneOfNode(routes.node[n]);
    if (lane === undefined) continue;
    const at = x(routes.at[n]);
    const after = Number.isNaN(next[n]) ? Infinity : x(next[n]);
    const y = layout.axis + lane * layout.lane + SIZE_PX + 2;
    if (FAILS.has(about.route[routes.step[n]])) {
      crosses.moveTo(at - SIZE_PX, y - SIZE_PX);
      crosses.lineTo(at + SIZE_PX, y + SIZE_PX);
      crosses.moveTo(at - SIZE_PX, y + SIZE_PX);
      crosses.lineTo(at + SIZE_PX, y - SIZE_PX);
    } else {
      triangles.moveTo(at - SIZE_PX, y - SIZE_PX);
      triangles.lineTo(at + SIZE_PX, y - SIZE_PX);
      triangles.lineTo(at, y + SIZE_PX);
      triangles.closePath();
    }
    if (routes.destination[n] !== NONE && after - at > TEXT_PX) {
      c.fillText(words(routes, n, about), at + SIZE_PX + 4, y, TEXT_PX - 12);
    }
  }
  c.fillStyle = colours.accent;
  c.fill(triangles);
  c.strokeStyle = colours.mark;
  c.lineWidth = 1.5;
  c.stroke(crosses);
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
