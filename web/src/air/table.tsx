// The frames in view as a table, and how a frame is described in words.

import { useEffect, useState } from "preact/hooks";
import { time } from "./draw";
import type { Timeline } from "./canvas";
import type { Frame, Model } from "./model";

const MOST_ROWS = 100;
/** The view rests before its frames are asked for. */
const REST_MS = 250;

export function mode(frame: Frame): string {
  const rate = `${Number(frame.rate_mbps.toPrecision(5))} Mb/s`;
  return frame.mcs === null ? rate : `${rate}, MCS ${frame.mcs}`;
}

export function outcome(model: Model, frame: Frame): string {
  const { about } = model;
  const by = frame.lost_to === null ? "" : `, caused by ${about.radios[frame.lost_to]}`;
  return `${frame.is_lost ? "lost: " : ""}${about.outcome[frame.outcome]}${by}`;
}

/** The numbers of the frames in view; null where they are too dense to be single ones. */
function inView({ model, layout }: Timeline): number[] | null {
  const numbers = new Set<number>();
  for (const { tile: { frames } } of model.visible(layout.width - layout.gutter)) {
    if (!frames) return null;
    for (let n = 0; n < frames.start.length; n++) {
      const isSeen = frames.end[n] > model.start && frames.start[n] < model.end;
      if (isSeen && model.laneOf.has(frames.from[n])) numbers.add(frames.number[n]);
    }
  }
  return [...numbers].sort((a, b) => a - b);
}

export function FrameTable({ timeline, view }: { timeline: Timeline; view: string }) {
  const { model } = timeline;
  const [isOpen, setOpen] = useState(false);
  const [frames, setFrames] = useState<Frame[]>([]);
  const [count, setCount] = useState<number | null>(0);
  useEffect(() => {
    if (!isOpen) return undefined;
    const rest = setTimeout(async () => {
      const numbers = inView(timeline);
      setFrames(await Promise.all((numbers ?? []).slice(0, MOST_ROWS).map((n) => model.frame(n))));
      setCount(numbers && numbers.length);
    }, REST_MS);
    return () => clearTimeout(rest);
  }, [isOpen, view]);
  const { radios, kind } = model.about;
  const few = count !== null && count <= MOST_ROWS;
  return (
    <details class="frames" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Frames in view, as a table</summary>
      <div class="wide" tabIndex={0} role="group" aria-label="Frames in view">
        <table>
          <thead><tr>{["frame", "begins", "µs", "from", "to", "kind", "rate", "MPDUs", "outcome"]
            .map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
          <tbody>
            {frames.map((own) => (
              <tr key={own.number}>
                <th scope="row"><button onClick={() => timeline.reveal(own.number)}>{own.number}</button></th>
                <td>{time(own.start_ns, 1000)}</td>
                <td class="number">{((own.end_ns - own.start_ns) / 1000).toFixed(1)}</td>
                <td>{radios[own.from]}</td><td>{own.to === null ? "all" : radios[own.to]}</td>
                <td>{kind[own.kind]}</td><td>{mode(own)}</td>
                <td class="number">{own.mpdus || ""}</td><td>{outcome(model, own)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!few && <p class="dim">{count === null ? "The frames are too dense" : `${count} frames`}: zoom
        in to see {count === null ? "them" : "all"}.</p>}
    </details>
  );
}
