// Draws a timeline: lanes of nodes, and below them the lines of flows and queues.

import { CYCLE } from "../palette";
import { BinImages } from "./bins";
import { Rects, WAIT_BAND } from "./rects";
import { BINS, NONE, RETRY, type Frames, type Tile } from "../tile";
import { drawRoutes } from "./routes";
import type { About, Frame, Model, Step } from "./model";
import { users } from "./users";

export interface Layout {
  width: number; gutter: number; lane: number; axis: number; tracks: Track[]; track: number;
  height: number;
}
export interface Track { title: string; unit: string; lines: { series: number; name: string }[] }
export interface Colours {
  text: string; dim: string; line: string; faint: string; ground: string; mark: string;
  accent: string; wait: string;
}
export interface Shown {
  selected: Frame | null; life: Step[]; cursor: number | null;
}

const MOST_LINES = 6;
const FONT = "12px system-ui, sans-serif";

export function layoutOf(model: Model, width: number): Layout {
  const isNarrow = width < 600;
  const lane = model.lanes.length > 12 ? 30 : isNarrow ? 40 : 46;
  const tracks = tracksOf(model.about);
  const track = isNarrow ? 54 : 68;
  const axis = 26;
  return {
    width, gutter: isNarrow ? 62 : 96, lane, axis, tracks, track,
    height: axis + model.lanes.length * lane + tracks.length * (track + 8) + 4,
  };
}

function tracksOf(about: About): Track[] {
  const track = (title: string, unit: string, kinds: string[]): Track => ({
    title, unit,
    lines: about.series
      .map(([kind, of], series) => ({ kind, of, series }))
      .filter(({ kind }) => kinds.includes(kind))
      .slice(0, MOST_LINES)
      .map(({ kind, of, series }) => ({
        series,
        name: kind === "radio queue" ? about.radios[of]
          : kind === "wire queue" ? about.wires[of] : about.flows[of],
      })),
  });
  return [
    track("window", "bytes", ["window"]),
    track("queue", "packets", ["radio queue", "wire queue"]),
    track("RTT", "ms", ["rtt"]),
  ].filter((own) => own.lines.length > 0);
}

/** A time as it is written at an axis whose lines are this far apart. */
export function time(ns: number, step = 1): string {
  const digits = Math.min(Math.max(Math.ceil(9 - Math.log10(Math.max(step, 1))), 0), 9);
  return `${(ns / 1e9).toFixed(digits)} s`;
}

export function duration(ns: number): string {
  if (ns < 1e3) return `${ns.toFixed(0)} ns`;
  if (ns < 1e6) return `${Number((ns / 1e3).toPrecision(4))} µs`;
  if (ns < 1e9) return `${Number((ns / 1e6).toPrecision(4))} ms`;
  return `${Number((ns / 1e9).toPrecision(4))} s`;
}

export class Picture {
  private readonly patterns = new Map<string, CanvasPattern>();
  private readonly images: BinImages;

  constructor(private readonly context: CanvasRenderingContext2D, private readonly model: Model,
    private readonly layout: Layout, private readonly colours: Colours) {
    this.images = new BinImages(model, layout.lane, colours);
  }

  draw(shown: Shown): void {
    const { context: c, layout, model, colours } = this;
    const width = layout.width - layout.gutter;
    c.fillStyle = colours.ground;
    c.fillRect(0, 0, layout.width, layout.height);
    c.font = FONT;
    this.axis();
    const visible = model.visible(width);
    c.save();
    c.beginPath();
    c.rect(layout.gutter, 0, width, layout.height);
    c.clip();
    for (const { tile, from, to } of visible) {
      c.save();
      c.beginPath();
      // Whole pixels, so that neighbours leave no seam.
      const left = Math.max(Math.floor(this.x(from)), layout.gutter);
      const right = Math.floor(this.x(to));
      c.rect(left, layout.axis, right - left, layout.height);
      c.clip();
      if (tile.frames) this.frames(tile.frames);
      else this.bins(tile);
      this.waits(tile);
      c.restore();
    }
    const tiles = visible.map((own) => own.tile);
    new Set(tiles).forEach((tile) => drawRoutes(c, tile.routes, model, layout, colours));
    this.tracks(tiles);
    this.life(shown.life);
    if (shown.selected) this.outline(shown.selected, colours.text, 2);
    if (shown.cursor !== null) {
      c.fillStyle = colours.dim;
      c.fillRect(this.x(shown.cursor), layout.axis, 1, layout.height);
    }
    c.restore();
    this.labels();
  }

  x(ns: number): number {
    const { layout, model } = this;
    return layout.gutter + (ns - model.start) / model.span * (layout.width - layout.gutter);
  }

  private top(radio: number): number {
    const lane = this.model.laneOf.get(radio);
    return lane === undefined ? -1 : this.layout.axis + lane * this.layout.lane;
  }

  private axis(): void {
    const { context: c, layout, model, colours } = this;
    const wanted = model.span * 110 / (layout.width - layout.gutter);
    const power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].map((part) => part * power).find((own) => own >= wanted)!;
    c.textAlign = "center";
    c.textBaseline = "middle";
    for (let at = Math.ceil(model.start / step) * step; at <= model.end; at += step) {
      const x = this.x(at);
      c.fillStyle = colours.faint;
      c.fillRect(x, layout.axis, 1, layout.height);
      c.fillStyle = colours.dim;
      if (x > layout.gutter + 30 && x < layout.width - 34) c.fillText(time(at, step), x, 13);
    }
  }

  private labels(): void {
    const { context: c, layout, model, colours } = this;
    c.textBaseline = "middle";
    c.textAlign = "right";
    model.lanes.forEach((radio, lane) => {
      const y = layout.axis + lane * layout.lane;
      c.fillStyle = colours.line;
      c.fillRect(0, y, layout.width, 1);
      c.fillStyle = colours.text;
      c.fillText(model.about.radios[radio], layout.gutter - 10, y + layout.lane / 2,
        layout.gutter - 14);
    });
    c.fillStyle = colours.line;
    c.fillRect(0, layout.axis + model.lanes.length * layout.lane, layout.width, 1);
  }

  /** Frames as bars. Where several of a kind fall into one pixel, one is drawn. */
  private frames(frames: Frames): void {
    const { model, layout } = this;
    const { about } = model;
    const kinds = about.kind.length;
    const last = new Float64Array(model.lanes.length * kinds * 2).fill(-1);
    const paths = about.kind.map(() => [new Rects(), new Rects()]);
    const hatched = about.outcome.map(() => new Rects());
    const crosses = new Path2D();
    const stripes = new Rects();
    const heads = new Rects();
    const heights = about.kind.map((kind) => (about.looks[kind]?.height ?? 0.5) * layout.lane);
    const lostOf = about.outcome.map((name) => name in about.hatches && name !== "unknown");
    const base = layout.lane * (1 - WAIT_BAND);
    const { place, count } = users(frames);
    for (let n = 0; n < frames.start.length; n++) {
      const lane = model.laneOf.get(frames.from[n]);
      if (lane === undefined || frames.end[n] < model.start) continue;
      if (frames.start[n] > model.end) break;
      const kind = frames.kind[n];
      const isLost = lostOf[frames.outcome[n]];
      const [x0, x1] = [this.x(frames.start[n]), this.x(frames.end[n])];
      const slot = (lane * kinds + kind) * 2 + Number(isLost);
      if (x1 <= last[slot] && x1 - x0 < 1) continue;
      const width = Math.max(x1 - x0, 1);
      last[slot] = Math.ceil(x0 + width);
      const bottom = layout.axis + lane * layout.lane + base;
      const height = heights[kind] / count[n];
      const y = bottom - height * (place[n] + 1);
      // A gap tells the users of a PPDU apart.
      const gap = count[n] > 1 && height > 2 ? Math.min(1, height / 4) : 0;
      paths[kind][Number(isLost)].rect(x0, y + gap, width, height - gap);
      if (width > 3) {
        if (isLost) hatched[frames.outcome[n]].rect(x0, y + gap, width, height - gap);
        if (frames.flags[n] & RETRY) stripes.rect(x0, y + gap, width, Math.min(3, height / 3));
        const head = frames.preamble[n] / (frames.end[n] - frames.start[n]) * width;
        const above = Math.min(3, height / 3);
        if (head > 1) heads.rect(x0, y + above, Math.min(head, width), height - above);
      } else if (frames.flags[n] & RETRY) {
        stripes.rect(x0, y, width, Math.min(2, height));
      }
      if (isLost) this.cross(crosses, x0 + width / 2, y - 4, width > 5);
    }
    this.fill(paths, hatched, { crosses, stripes, heads });
    this.names(frames, { heights, base, place, count });
  }

  private cross(path: Path2D, x: number, y: number, isWide: boolean): void {
    const size = isWide ? 3 : 1.5;
    path.moveTo(x - size, y - size);
    path.lineTo(x + size, y + size);
    path.moveTo(x - size, y + size);
    path.lineTo(x + size, y - size);
  }

  private fill(paths: Rects[][], hatched: Rects[],
    marks: { crosses: Path2D; stripes: Rects; heads: Rects }): void {
    const { context: c, model, colours } = this;
    paths.forEach(([fine, lost], kind) => {
      c.fillStyle = model.about.looks[model.about.kind[kind]]?.colour ?? colours.dim;
      fine.fill(c);
      c.globalAlpha = 0.4;
      lost.fill(c);
      c.globalAlpha = 1;
    });
    c.globalAlpha = 0.35;
    c.fillStyle = colours.ground;
    marks.heads.fill(c);
    c.globalAlpha = 1;
    hatched.forEach((path, outcome) => {
      const hatch = model.about.hatches[model.about.outcome[outcome]];
      if (!hatch) return;
      c.fillStyle = this.pattern(hatch);
      path.fill(c);
    });
    c.fillStyle = colours.text;
    marks.stripes.fill(c);
    c.strokeStyle = colours.mark;
    c.lineWidth = 1.5;
    c.stroke(marks.crosses);
  }

  private pattern(hatch: string): CanvasPattern {
    const known = this.patterns.get(hatch);
    if (known) return known;
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const c = tile.getContext("2d")!;
    c.strokeStyle = c.fillStyle = this.colours.text;
    c.beginPath();
    if (hatch.startsWith("/")) { c.moveTo(-1, 7); c.lineTo(7, -1); }
    else if (hatch.startsWith("\\")) { c.moveTo(-1, -1); c.lineTo(7, 7); }
    else if (hatch.startsWith("|")) { c.moveTo(3, 0); c.lineTo(3, 6); }
    else c.rect(2, 2, 1, 1);
    c.stroke();
    const pattern = this.context.createPattern(tile, "repeat")!;
    this.patterns.set(hatch, pattern);
    return pattern;
  }

  /** Kind and receiver in bars that have room for them. */
  private names(frames: Frames, where: {
    heights: number[]; base: number; place: Uint16Array; count: Uint16Array;
  }): void {
    const { context: c, model, layout } = this;
    const { heights, base, place, count } = where;
    c.font = "11px system-ui, sans-serif";
    c.textAlign = "left";
    c.textBaseline = "middle";
    for (let n = 0; n < frames.start.length; n++) {
      const [x0, x1] = [this.x(frames.start[n]), this.x(frames.end[n])];
      if (x1 - x0 < 34 || x1 < layout.gutter || x0 > layout.width) continue;
      const lane = model.laneOf.get(frames.from[n]);
      const height = heights[frames.kind[n]] / count[n];
      if (lane === undefined || height < 12) continue;
      const kind = model.about.kind[frames.kind[n]];
      const to = frames.to[n] === NONE ? "all" : model.about.radios[frames.to[n]];
      const text = `${kind} → ${to}`;
      const left = Math.max(x0, layout.gutter) + 4;
      const width = c.measureText(text).width;
      if (width > x1 - left - 4) continue;
      const y = layout.axis + lane * layout.lane + base - height * (place[n] + 0.5) + 1;
      c.fillStyle = this.colours.ground;
      c.globalAlpha = 0.85;
      c.fillRect(left - 2, y - 7, width + 4, 14);
      c.globalAlpha = 1;
      c.fillStyle = this.colours.text;
      c.fillText(text, left, y);
    }
    c.font = FONT;
  }

  /** The bins of a tile, stretched to where they are on whole pixels, so that no seam is left. */
  private bins(tile: Tile): void {
    const { context: c, model, layout } = this;
    const image = this.images.of(tile);
    const bin = tile.length / BINS;
    const first = Math.max(Math.floor((model.start - tile.start) / bin), 0);
    const last = Math.min(Math.ceil((model.end - tile.start) / bin), BINS);
    if (last <= first) return;
    const left = Math.floor(this.x(tile.start + first * bin));
    const right = Math.floor(this.x(tile.start + last * bin));
    c.imageSmoothingEnabled = false;
    c.drawImage(image, first, 0, last - first, image.height, left, layout.axis, right - left,
      model.lanes.length * layout.lane);
  }

  /** Below the frames of a node: back-off in dots, defer periods as a line, NAV as a bracket. */
  private waits(tile: Tile): void {
    const { context: c, model, layout, colours } = this;
    const { waits } = tile;
    if (!tile.frames) return;
    const band = WAIT_BAND * layout.lane;
    const [dots, lines, brackets] = [new Rects(), new Rects(), new Rects()];
    const last = new Float64Array(model.lanes.length * 4).fill(-1);
    c.textAlign = "center";
    c.font = "10px system-ui, sans-serif";
    c.fillStyle = colours.dim;
    for (let n = 0; n < waits.start.length; n++) {
      const lane = model.laneOf.get(waits.radio[n]);
      if (lane === undefined) continue;
      const [x0, x1] = [this.x(waits.start[n]), this.x(waits.end[n])];
      const slot = lane * 4 + waits.kind[n];
      if (x1 < last[slot] + 1) continue;
      last[slot] = x1;
      const y = layout.axis + (lane + 1) * layout.lane - band / 2;
      const width = Math.max(x1 - x0, 1);
      if (waits.kind[n] === 0) dots.rect(x0, y - 2, width, 4);
      else if (waits.kind[n] === 1) lines.rect(x0, y, width, 1);
      else brackets.rect(x0, y + 2.5, width, 1.5);
      if (waits.kind[n] === 0 && width > 26 && x1 > layout.gutter) {
        c.fillText(`${waits.before[n]}→${waits.after[n]}`, (x0 + x1) / 2, y - 7);
      }
    }
    c.fillStyle = this.pattern("....");
    dots.fill(c);
    c.fillStyle = colours.wait;
    lines.fill(c);
    c.fillStyle = colours.accent;
    brackets.fill(c);
    c.font = FONT;
  }

  private tracks(tiles: Tile[]): void {
    const { context: c, layout, colours } = this;
    const seen = [...new Set(tiles)].sort((a, b) => a.start - b.start);
    const held = this.model.held(layout.width - layout.gutter);
    layout.tracks.forEach((track, number) => {
      const top = layout.axis + this.model.lanes.length * layout.lane + 8
        + number * (layout.track + 8);
      const most = this.highest(track, seen, held);
      c.fillStyle = colours.ground;
      c.globalAlpha = 0.5;
      c.fillRect(layout.gutter, top, layout.width, layout.track);
      c.globalAlpha = 1;
      track.lines.forEach((line, place) => {
        this.line(seen, line.series, top, most, CYCLE[place % CYCLE.length],
          held.get(line.series));
      });
      c.textAlign = "left";
      c.textBaseline = "top";
      let x = layout.gutter + 6;
      c.fillStyle = colours.dim;
      const highest = Number(most.toPrecision(3)).toLocaleString("en");
      const head = `${track.title}, ${track.unit}, to ${highest}`;
      c.fillText(head, x, top + 2);
      x += c.measureText(head).width + 14;
      track.lines.forEach((line, place) => {
        c.fillStyle = CYCLE[place % CYCLE.length];
        c.fillRect(x, top + 7, 12, 3);
        c.fillStyle = colours.dim;
        c.fillText(line.name, x + 16, top + 2);
        x += c.measureText(line.name).width + 30;
      });
      c.fillStyle = colours.line;
      c.fillRect(layout.gutter, top + layout.track, layout.width, 1);
    });
  }

  private highest(track: Track, tiles: Tile[], held: Map<number, number>): number {
    let most = Math.max(1e-9, ...track.lines.map((line) => held.get(line.series) ?? 0));
    const own = new Set(track.lines.map((line) => line.series));
    for (const { points } of tiles) {
      for (let n = 0; n < points.at.length; n++) {
        if (own.has(points.series[n]) && points.high[n] > most
          && points.at[n] <= this.model.end) most = points.high[n];
      }
    }
    return most;
  }

  /** A line that keeps its value until the next point; a range is a bar from least to greatest. */
  private line(tiles: Tile[], series: number, top: number, most: number, colour: string,
    held: number | undefined): void {
    const { context: c, layout } = this;
    const y = (value: number) => top + layout.track - 2 - value / most * (layout.track - 20);
    const path = new Path2D();
    let before: number | null = null;
    if (held !== undefined) {
      before = y(held);
      path.moveTo(this.x(this.model.begins(layout.width - layout.gutter)), before);
    }
    for (const { points } of tiles) {
      for (let n = 0; n < points.at.length; n++) {
        if (points.series[n] !== series) continue;
        const x = this.x(points.at[n]);
        const [low, high] = [y(points.low[n]), y(points.high[n])];
        if (before === null) path.moveTo(x, low);
        else path.lineTo(x, before);
        path.lineTo(x, high);
        if (high !== low) path.lineTo(x, low);
        before = low;
      }
    }
    if (before !== null) path.lineTo(layout.width, before);
    c.strokeStyle = colour;
    c.lineWidth = 1.25;
    c.stroke(path);
  }

  private outline(frame: Frame, colour: string, width: number): void {
    const top = this.top(frame.from);
    if (top < 0) return;
    const { context: c, layout, model } = this;
    const height = (model.about.looks[model.about.kind[frame.kind]]?.height ?? 0.5) * layout.lane;
    const x = this.x(frame.start_ns);
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.strokeRect(x - 1, top + layout.lane * (1 - WAIT_BAND) - height - 1,
      Math.max(this.x(frame.end_ns) - x, 2) + 2, height + 2);
  }

  /** The life of a packet: its frames, and a line at each of its steps. */
  private life(life: Step[]): void {
    const { context: c, layout, model, colours } = this;
    if (life.length === 0) return;
    const bottom = layout.axis + model.lanes.length * layout.lane;
    const [from, to] = [life[0].at_ns, life[life.length - 1].at_ns];
    c.fillStyle = colours.accent;
    c.globalAlpha = 0.12;
    c.fillRect(this.x(from), layout.axis, this.x(to) - this.x(from), bottom - layout.axis);
    c.globalAlpha = 1;
    c.fillRect(this.x(from), layout.axis, Math.max(this.x(to) - this.x(from), 2), 3);
    for (const step of life) {
      if (step.frame) this.outline(step.frame, colours.accent, 2.5);
      else c.fillRect(this.x(step.at_ns), layout.axis, 1, step.what === "packet" ? 8 : 16);
    }
  }
}
