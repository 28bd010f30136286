// The timeline of one canvas: what is drawn, and what the pointer does.

import { Picture, layoutOf, type Colours, type Layout } from "./draw";
import type { Frame, Model, Step } from "./model";
import { WAIT_BAND } from "./rects";
import { users } from "./users";

const CLICK_PX = 4;
/** The stretch that is shown around a frame that was found, in its lengths. */
const AROUND = 24;

/** The colours of the page, or of the part of it in which an element is. */
function colours(element: Element): Colours {
  const names = ["text", "dim", "line", "faint", "ground", "mark", "accent", "wait"] as const;
  const own = getComputedStyle(element);
  const value = (name: string) => own.getPropertyValue(`--${name}`).trim();
  return Object.fromEntries(names.map((name) => [name, value(name)])) as unknown as Colours;
}

export class Timeline {
  model!: Model;
  layout!: Layout;
  selected: Frame | null = null;
  life: Step[] = [];
  cursor: number | null = null;
  private picture!: Picture;
  private wanted = 0;
  private readonly pointers = new Map<number, { x: number; y: number }>();
  private pressed: { x: number; y: number } | null = null;

  constructor(readonly canvas: HTMLCanvasElement, readonly onView: () => void,
    readonly onSelect: (frame: Frame | null) => void) {}

  begin(model: Model): void {
    this.model = model;
    this.resize();
  }

  resize(): void {
    if (!this.model) return;
    const width = this.canvas.parentElement!.clientWidth;
    this.layout = layoutOf(this.model, width);
    const ratio = devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.layout.height * ratio);
    this.canvas.style.height = `${this.layout.height}px`;
    const context = this.canvas.getContext("2d", { alpha: false })!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.picture = new Picture(context, this.model, this.layout, colours(this.canvas));
    this.redraw();
  }

  redraw = (): void => {
    if (this.wanted || !this.picture) return;
    this.wanted = requestAnimationFrame(() => {
      this.wanted = 0;
      const begin = performance.now();
      this.picture.draw(this);
      this.canvas.ariaBusy = String(!this.model.isComplete);
      this.canvas.dispatchEvent(new CustomEvent("drawn", { detail: performance.now() - begin }));
      this.onView();
    });
  };

  at(x: number): number {
    const { layout, model } = this;
    return model.start + (x - layout.gutter) / (layout.width - layout.gutter) * model.span;
  }

  wheel = (event: WheelEvent): void => {
    event.preventDefault();
    const isAcross = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const by = event.deltaY || event.deltaX;
    if (isAcross) this.model.pan((event.deltaX || by) / this.layout.width * this.model.span);
    else this.model.zoom(Math.exp(Math.max(-300, Math.min(300, by)) / 400), this.at(event.offsetX));
  };

  down = (event: PointerEvent): void => {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.pressed = this.pointers.size === 1 ? { x: event.offsetX, y: event.offsetY } : null;
  };

  move = (event: PointerEvent): void => {
    const before = this.pointers.get(event.pointerId);
    this.cursor = event.offsetX > this.layout.gutter ? this.at(event.offsetX) : null;
    this.redraw();
    if (!before) return;
    const now = { x: event.offsetX, y: event.offsetY };
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
    this.pointers.set(event.pointerId, now);
    if (others.length === 0) {
      const width = this.layout.width - this.layout.gutter;
      this.model.pan((before.x - now.x) / width * this.model.span);
    } else {
      const other = others[0][1];
      const [was, is] = [Math.abs(before.x - other.x), Math.abs(now.x - other.x)];
      if (was > 4 && is > 4) this.model.zoom(was / is, this.at((now.x + other.x) / 2));
    }
  };

  up = (event: PointerEvent): void => {
    this.pointers.delete(event.pointerId);
    const from = this.pressed;
    this.pressed = null;
    const isClick = from && Math.hypot(event.offsetX - from.x, event.offsetY - from.y) < CLICK_PX;
    if (isClick) this.pick(event.offsetX, event.offsetY);
  };

  leave = (): void => {
    this.cursor = null;
    this.redraw();
  };

  /** Selects the frame at a point; where frames are too dense, shows a shorter stretch. */
  private async pick(x: number, y: number): Promise<void> {
    const { model, layout } = this;
    const lane = Math.floor((y - layout.axis) / layout.lane);
    const radio = model.lanes[lane];
    if (radio === undefined || x < layout.gutter) return;
    const at = this.at(x);
    const slack = 4 / (layout.width - layout.gutter) * model.span;
    let nearest = Infinity;
    let number = -1;
    for (const { tile } of model.visible(layout.width - layout.gutter)) {
      if (!tile.frames) {
        if (tile.start <= at && at < tile.start + tile.length) {
          model.zoom(1 / 8, at);
          return;
        }
        continue;
      }
      const { start, end, from, kind } = tile.frames;
      const { place, count } = users(tile.frames);
      for (let n = 0; n < start.length; n++) {
        if (from[n] !== radio) continue;
        if (count[n] > 1 && this.userAt(y, lane, kind[n], count[n]) !== place[n]) continue;
        const off = at < start[n] ? start[n] - at : at > end[n] ? at - end[n] : 0;
        if (off < slack && off < nearest) [nearest, number] = [off, tile.frames.number[n]];
      }
    }
    if (number < 0) this.select(null);
    else this.select(await model.frame(number));
  }

  /** The user of a PPDU of so many at a height of a lane. */
  private userAt(y: number, lane: number, kind: number, count: number): number {
    const { about } = this.model;
    const bottom = this.layout.axis + (lane + 1 - WAIT_BAND) * this.layout.lane;
    const height = (about.looks[about.kind[kind]]?.height ?? 0.5) * this.layout.lane;
    const place = Math.floor((bottom - y) / height * count);
    return Math.max(0, Math.min(place, count - 1));
  }

  select(frame: Frame | null): void {
    this.selected = frame;
    this.life = [];
    this.onSelect(frame);
    this.redraw();
  }

  /** Selects a frame and shows the stretch around it, unless the view is to stay. */
  async reveal(number: number, stays = false): Promise<void> {
    const frame = await this.model.frame(number);
    const length = frame.end_ns - frame.start_ns;
    const isInside = frame.start_ns >= this.model.start && frame.end_ns <= this.model.end;
    const isLegible = length / this.model.span > 0.004;
    this.select(frame);
    if (stays || (isInside && isLegible)) return;
    const half = isLegible ? this.model.span / 2 : AROUND * Math.max(length, 100_000) / 2;
    const middle = (frame.start_ns + frame.end_ns) / 2;
    this.model.show(middle - half, middle + half);
  }
}
