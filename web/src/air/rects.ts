// What the parts of the timeline's picture share.

/** The share of a lane below its frames, in which it shows back-off, defer periods and NAV. */
export const WAIT_BAND = 0.2;

/** Rectangles of one colour: filled one by one, which is faster than as one path. */
export class Rects {
  private readonly values: number[] = [];

  rect(x: number, y: number, width: number, height: number): void {
    this.values.push(x, y, width, height);
  }

  fill(context: CanvasRenderingContext2D): void {
    const { values } = this;
    for (let n = 0; n < values.length; n += 4) {
      context.fillRect(values[n], values[n + 1], values[n + 2], values[n + 3]);
    }
  }
}
