// The whole run in one strip above a timeline, with the stretch that is shown.

import { useEffect, useRef } from "preact/hooks";
import { BINS, type Tile } from "../tile";
import type { Layout } from "./draw";
import { time } from "./draw";
import type { Model } from "./model";

const HEIGHT = 34;
const LOST_PX = 3;
/** An end of the stretch can be taken so near to it. */
const END_PX = 7;

/** How much of each column of the strip frames of each kind take, and the columns with losses. */
function columns(tiles: Tile[], { about, first }: Model, width: number) {
  const scale = width / (about.end_ns - first);
  const shares = about.kind.map(() => new Float32Array(width));
  const losses = new Uint8Array(width);
  const add = (kind: number, from: number, to: number, share: number, isLost: boolean) => {
    const begin = Math.max((from - first) * scale, 0);
    const end = Math.min((to - first) * scale, width);
    for (let n = Math.floor(begin); n < end; n++) {
      shares[kind][n] += share * (Math.min(end, n + 1) - Math.max(begin, n));
      if (isLost) losses[n] = 1;
    }
  };
  const lost = about.outcome.map((name) => name in about.hatches && name !== "unknown");
  for (const { frames, bins, start, length } of tiles) {
    const bin = length / BINS;
    bins?.bin.forEach((place, n) => add(bins.kind[n], start + place * bin,
      start + (place + 1) * bin, bins.share[n], bins.lost[n] > 0));
    frames?.start.forEach((from, n) => {
      // A frame may be in two tiles.
      if (from >= start) add(frames.kind[n], from, frames.end[n], 1, lost[frames.outcome[n]]);
    });
  }
  return { shares, losses };
}

/** The share of the time on the air, stacked by kind; losses are marked below. */
function draw(canvas: HTMLCanvasElement, tiles: Tile[], model: Model, width: number): void {
  const { shares, losses } = columns(tiles, model, width);
  const ratio = devicePixelRatio || 1;
  const c = canvas.getContext("2d")!;
  [canvas.width, canvas.height] = [width * ratio, HEIGHT * ratio];
  c.scale(ratio, ratio);
  const colour = (name: string) => getComputedStyle(canvas).getPropertyValue(name);
  const full = HEIGHT - LOST_PX - 1;
  const used = new Float32Array(width);
  shares.forEach((share, kind) => {
    c.fillStyle = model.about.looks[model.about.kind[kind]]?.colour ?? colour("--dim");
    share.forEach((part, n) => {
      const high = Math.min(part, 1 - used[n]);
      used[n] += high;
      if (high > 0) c.fillRect(n, (1 - used[n]) * full, 1, high * full);
    });
  });
  c.fillStyle = colour("--mark");
  losses.forEach((is, n) => { if (is) c.fillRect(n, HEIGHT - LOST_PX, 1, LOST_PX); });
}

export function Overview({ model, layout, view, strip, onKeyDown }: {
  model: Model; layout: Layout; view: string; strip: preact.RefObject<HTMLDivElement | null>;
  onKeyDown: (event: KeyboardEvent) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  /** What a drag keeps: the other end of the stretch, or where in the stretch it was taken. */
  const drag = useRef<{ fixed: number } | { inside: number } | null>(null);
  const { about, first } = model;
  const length = about.end_ns - first;
  const width = Math.max(Math.round(layout.width - layout.gutter), 1);
  useEffect(() => {
    let isCurrent = true;
    model.whole(width).then((tiles) => {
      if (isCurrent) draw(canvas.current!, tiles, model, width);
    }, () => undefined);
    return () => { isCurrent = false; };
  }, [model, width]);
  const at = (event: PointerEvent) => {
    const { left, width: wide } = strip.current!.getBoundingClientRect();
    return first + Math.min(Math.max((event.clientX - left) / wide, 0), 1) * length;
  };
  const move = (event: PointerEvent) => {
    const kept = drag.current;
    if (!kept) return;
    const here = at(event);
    if ("inside" in kept) model.show(here - kept.inside, here - kept.inside + model.span);
    else if (Math.abs(here - kept.fixed) > 2 / width * length) {
      model.show(Math.min(here, kept.fixed), Math.max(here, kept.fixed));
    }
  };
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    strip.current!.setPointerCapture(event.pointerId);
    const here = at(event);
    const near = END_PX / width * length;
    const { start, end, span } = model;
    const isWide = span > 3 * near;
    // Of the whole run there is nothing to move: a drag chooses a stretch.
    if (model.isWhole) drag.current = { fixed: here };
    else if (isWide && Math.abs(here - start) < near) drag.current = { fixed: end };
    else if (isWide && Math.abs(here - end) < near) drag.current = { fixed: start };
    else drag.current = { inside: here > start && here < end ? here - start : span / 2 };
    move(event);
  };
  const up = () => { drag.current = null; };
  const part = (ns: number) => `${100 * ns / length}%`;
  return (
    <div class="overview" style={{ paddingLeft: `${layout.gutter}px` }}>
      <span class="dim" style={{ width: `${layout.gutter - 14}px` }}>run</span>
      <div ref={strip} class="strip" role="slider" tabIndex={0} aria-label="Stretch of the run"
        aria-valuemin={0} aria-valuemax={100}
        aria-valuenow={Math.round(100 * ((model.start + model.end) / 2 - first) / length)}
        aria-valuetext={`${view}, of ${time(about.end_ns)}`} aria-describedby="air-keys"
        onKeyDown={onKeyDown} onPointerDown={down} onPointerMove={move} onPointerUp={up}
        onPointerCancel={up}>
        <canvas ref={canvas} style={{ height: `${HEIGHT}px` }} aria-hidden="true" />
        <div class="stretch" style={{ left: part(model.start - first), width: part(model.span) }} />
      </div>
    </div>
  );
}
