// Tiles with bins, as images of a pixel for each bin: a frame of the page stretches them.

import { BINS, type Tile } from "../tile";
import type { Colours } from "./draw";
import type { Model } from "./model";
import { Rects, WAIT_BAND } from "./rects";

const MOST_IMAGES = 64;
/** Room above the bars of a lane. */
const ABOVE_PX = 6;

/** The images of tiles, of which those drawn last are kept. */
export class BinImages {
  private readonly images = new Map<Tile, HTMLCanvasElement>();

  constructor(private readonly model: Model, private readonly lane: number,
    private readonly colours: Colours) {}

  of(tile: Tile): HTMLCanvasElement {
    const image = this.images.get(tile) ?? this.made(tile);
    this.images.delete(tile);
    this.images.set(tile, image);
    for (const old of this.images.keys()) {
      if (this.images.size <= MOST_IMAGES) break;
      this.images.delete(old);
    }
    return image;
  }

  /** The share of the time on the air, stacked by kind; losses are marked below. */
  private made(tile: Tile): HTMLCanvasElement {
    const { model, lane, colours } = this;
    const ratio = devicePixelRatio || 1;
    const image = document.createElement("canvas");
    image.width = BINS;
    image.height = Math.max(Math.round(model.lanes.length * lane * ratio), 1);
    const context = image.getContext("2d")!;
    context.scale(1, ratio);
    const bins = tile.bins!;
    const used = new Float32Array(model.lanes.length * BINS);
    const band = WAIT_BAND * lane;
    const full = lane - band - ABOVE_PX;
    const marks = new Rects();
    const bars = model.about.kind.map(() => new Rects());
    for (let n = 0; n < bins.bin.length; n++) {
      const place = model.laneOf.get(bins.radio[n]);
      if (place === undefined) continue;
      const x = bins.bin[n];
      const slot = place * BINS + x;
      const height = Math.max(Math.min(bins.share[n], 1) * full, 0.5);
      const bottom = (place + 1) * lane - band;
      bars[bins.kind[n]].rect(x, bottom - used[slot] - height, 1, height);
      used[slot] += height;
      if (bins.lost[n]) {
        const part = Math.sqrt(bins.lost[n] / bins.frames[n]);
        marks.rect(x, bottom + 2, 1, Math.max(part * band, 1));
      }
    }
    bars.forEach((own, kind) => {
      context.fillStyle = model.about.looks[model.about.kind[kind]]?.colour ?? colours.dim;
      own.fill(context);
    });
    context.fillStyle = colours.mark;
    marks.fill(context);
    return image;
  }
}
