// Tiles with bins, as images of a pixel for each bin: a frame of the page stretches them.

import { BINS, type Tile } from "../tile";
import type { Colours } from "./draw";
import type { Model } from "./model";
import { WAIT_BAND } from "./rects";

const MOST_IMAGES = 64;
/** Room above the bars of a lane. */
const ABOVE_PX = 6;

/** The images of tiles, of which those drawn last are kept. */
export class BinImages {
  private readonly images = new Map<Tile, HTMLCanvasElement>();

  private readonly kinds: number[];
  private readonly mark: number;

  constructor(private readonly model: Model, private readonly lane: number, colours: Colours) {
    const { kind, looks } = model.about;
    this.kinds = kind.map((name) => pixel(looks[name]?.colour ?? colours.dim));
    this.mark = pixel(colours.mark);
  }

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
    const { model, lane } = this;
    const ratio = devicePixelRatio || 1;
    const image = document.createElement("canvas");
    image.width = BINS;
    image.height = Math.max(Math.round(model.lanes.length * lane * ratio), 1);
    const context = image.getContext("2d")!;
    const data = context.createImageData(image.width, image.height);
    const pixels = new Uint32Array(data.data.buffer);
    const column = (x: number, top: number, bottom: number, colour: number) => {
      const last = Math.min(Math.round(bottom * ratio), image.height);
      // What is there is seen, if it is less than a pixel, too.
      const first = Math.max(Math.min(Math.round(top * ratio), last - 1), 0);
      for (let y = first; y < last; y++) pixels[y * BINS + x] = colour;
    };
    const bins = tile.bins!;
    const used = new Float32Array(model.lanes.length * BINS);
    const band = WAIT_BAND * lane;
    const full = lane - band - ABOVE_PX;
    for (let n = 0; n < bins.bin.length; n++) {
      const place = model.laneOf.get(bins.radio[n]);
      if (place === undefined) continue;
      const x = bins.bin[n];
      const slot = place * BINS + x;
      const height = Math.min(bins.share[n], 1) * full;
      const bottom = (place + 1) * lane - band;
      column(x, bottom - used[slot] - height, bottom - used[slot], this.kinds[bins.kind[n]]);
      used[slot] += height;
      if (bins.lost[n]) {
        const part = Math.sqrt(bins.lost[n] / bins.frames[n]);
        column(x, bottom + 2, bottom + 2 + part * band, this.mark);
      }
    }
    context.putImageData(data, 0, 0);
    return image;
  }
}

/** A colour of six hexadecimal digits as a pixel of image data. */
function pixel(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return new Uint32Array(new Uint8ClampedArray([red, green, blue, 255]).buffer)[0];
}
