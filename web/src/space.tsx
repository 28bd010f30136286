// The map: nodes at their positions, and who detects whom. Nodes can be dragged.

import { useRef, useState } from "preact/hooks";
import type { MapNode, SpaceMap } from "./api";
import { change } from "./scenario";

const SIZE = 420;
const EDGE = 44;
const STEP = 0.02;

export function SpaceView({ map }: { map: SpaceMap }) {
  const svg = useRef<SVGSVGElement>(null);
  const [moved, setMoved] = useState<{ name: string; at: [number, number] } | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const xs = map.nodes.map((node) => node.at[0]);
  const ys = map.nodes.map((node) => node.at[1]);
  const middle = [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2];
  const reach = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys), 1);
  const scale = (SIZE - 2 * EDGE) / reach;
  const place = (at: [number, number]): [number, number] =>
    [SIZE / 2 + (at[0] - middle[0]) * scale, SIZE / 2 - (at[1] - middle[1]) * scale];
  const metres = (event: PointerEvent): [number, number] => {
    const box = svg.current!.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left) * SIZE / box.width,
      (event.clientY - box.top) * SIZE / box.height];
    const round = (value: number) => Number(value.toPrecision(4));
    return [round(middle[0] + (x - SIZE / 2) / scale), round(middle[1] - (y - SIZE / 2) / scale)];
  };
  const at = (node: MapNode) => place(moved?.name === node.name ? moved.at : node.at);
  const where = new Map(map.nodes.map((node) => [node.name, at(node)]));
  const settle = (node: MapNode, to: [number, number]) => node.path && change(node.path, to);
  const press = (event: KeyboardEvent, node: MapNode) => {
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[
      event.key];
    if (!by || !node.path) return;
    event.preventDefault();
    const step = Number((reach * STEP).toPrecision(1));
    settle(node, [node.at[0] + by[0] * step, node.at[1] + by[1] * step]);
  };
  const links = map.links.filter((link) => link.rate_mbps !== null);
  const heard = chosen ? map.links.filter((link) => link.to === chosen && link.detected) : [];
  const line = (from: string, to: string, kind: string) => {
    const [a, b] = [where.get(from), where.get(to)];
    return a && b && <line class={kind} x1={a[0]} y1={a[1]} x2={b[0]} y2={b[1]} />;
  };
  return (
    <section class="card space" aria-label="Map">
      <h2>Map</h2>
      <svg ref={svg} viewBox={`0 0 ${SIZE} ${SIZE}`} role="group" aria-label="Nodes by position">
        {links.map((link) => line(link.from, link.to, "link"))}
        {map.hidden.map(([a, b]) => line(a, b, "hidden-pair"))}
        {heard.map((link) => line(link.from, link.to, "heard"))}
        {map.nodes.map((node, number) => {
          const [x, y] = at(node);
          const isAp = /^(ap|cells)/.test(node.name);
          return (
            <g transform={`translate(${x} ${y})`} tabIndex={0} role="button"
              class={node.path ? "node movable" : "node"}
              aria-label={`${node.name} at ${node.at.map((v) => v.toPrecision(3)).join(", ")} m`}
              onFocus={() => setChosen(node.name)} onBlur={() => setChosen(null)}
              onKeyDown={(event) => press(event, node)}
              onPointerDown={(event) => {
                setChosen(node.name);
                if (!node.path) return;
                event.currentTarget.setPointerCapture(event.pointerId);
                setMoved({ name: node.name, at: node.at });
              }}
              onPointerMove={(event) => {
                if (moved?.name === node.name) setMoved({ name: node.name, at: metres(event) });
              }}
              onPointerUp={() => {
                if (moved?.name === node.name && String(moved.at) !== String(node.at)) {
                  settle(node, moved.at);
                }
                setMoved(null);
              }}>
              <circle class="touch" r="16" />
              {isAp ? <rect class="dot ap" x="-7" y="-7" width="14" height="14" />
                : <circle class="dot" r="6" />}
              <text y={number % 2 ? 22 : -12}>{node.name}</text>
            </g>
          );
        })}
      </svg>
      <p class="dim">
        Lines are links; dashed lines are nodes hidden from each other. Drag a node, or move it with
        the arrow keys. {chosen && (heard.length
          ? `${chosen} detects ${heard.map((link) => link.from).join(", ")}.`
          : `${chosen} detects no other node.`)}
      </p>
    </section>
  );
}
