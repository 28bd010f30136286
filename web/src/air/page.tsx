// The view of the air: the timeline, its tools, and what is selected.

import { useEffect, useRef, useState } from "preact/hooks";
import { nameOf, runs, said } from "../api";
import { style } from "../chart";
import { Details } from "./details";
import { duration, layoutOf, Picture, time, type Colours, type Layout } from "./draw";
import { open, parse, type Frame, type Model, type Query, type Step } from "./model";

const ZOOM = 1.25;
const CLICK_PX = 4;
/** The stretch that is shown around a frame that was found, in its lengths. */
const AROUND = 24;

function colours(): Colours {
  const names = ["text", "dim", "line", "faint", "ground", "mark", "accent", "wait"] as const;
  return Object.fromEntries(names.map((name) => [name, style(`--${name}`)])) as unknown as Colours;
}

/** The timeline of one canvas: what is drawn, and what the pointer does. */
class Timeline {
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
    this.picture = new Picture(context, this.model, this.layout, colours());
    this.redraw();
  }

  redraw = (): void => {
    if (this.wanted || !this.picture) return;
    this.wanted = requestAnimationFrame(() => {
      this.wanted = 0;
      const begin = performance.now();
      this.picture.draw(this);
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
      this.model.pan((before.x - now.x) / (this.layout.width - this.layout.gutter) * this.model.span);
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
      const { start, end, from } = tile.frames;
      for (let n = 0; n < start.length; n++) {
        if (from[n] !== radio) continue;
        const off = at < start[n] ? start[n] - at : at > end[n] ? at - end[n] : 0;
        if (off < slack && off < nearest) [nearest, number] = [off, tile.frames.number[n]];
      }
    }
    if (number < 0) this.select(null);
    else this.select(await model.frame(number));
  }

  select(frame: Frame | null): void {
    this.selected = frame;
    this.life = [];
    this.onSelect(frame);
    this.redraw();
  }

  /** Selects a frame and shows the stretch around it. */
  async reveal(number: number): Promise<void> {
    const frame = await this.model.frame(number);
    const length = frame.end_ns - frame.start_ns;
    const isInside = frame.start_ns >= this.model.start && frame.end_ns <= this.model.end;
    const isLegible = length / this.model.span > 0.004;
    this.select(frame);
    if (isInside && isLegible) return;
    const half = isLegible ? this.model.span / 2 : AROUND * Math.max(length, 100_000) / 2;
    const middle = (frame.start_ns + frame.end_ns) / 2;
    this.model.show(middle - half, middle + half);
  }
}

export function AirView({ id, options }: { id: string; options: URLSearchParams }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const timeline = useRef<Timeline | null>(null);
  const words = useRef<HTMLInputElement>(null);
  const [model, setModel] = useState<Model | null>(null);
  const [fault, setFault] = useState("");
  const [frame, setFrame] = useState<Frame | null>(null);
  const [life, setLife] = useState<Step[]>([]);
  const [view, setView] = useState("");
  useEffect(() => {
    if (!id) return;
    const own = new Timeline(canvas.current!, () => {
      const { start, end, span } = own.model;
      setView(`${time(start, span / 1000)} to ${time(end, span / 1000)}, ${duration(span)}`);
    }, (selected) => {
      setFrame(selected);
      setLife([]);
    });
    timeline.current = own;
    open(id, own.redraw).then((opened) => {
      own.begin(opened);
      setModel(opened);
      const [from, to] = (options.get("t") ?? "").split(",").map(Number);
      if (from < to) opened.show(from, to);
      if (options.has("frame")) own.reveal(Number(options.get("frame")));
    }, (error) => setFault(error.message));
    const watcher = new ResizeObserver(() => own.resize());
    watcher.observe(canvas.current!.parentElement!);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const recolour = () => own.resize();
    scheme.addEventListener("change", recolour);
    const element = canvas.current!;
    element.addEventListener("wheel", (event) => own.wheel(event), { passive: false });
    return () => {
      watcher.disconnect();
      scheme.removeEventListener("change", recolour);
    };
  }, [id]);
  const go = async (query: Query, forward: boolean) => {
    const own = timeline.current;
    if (!own?.model) return;
    const middle = (own.model.start + own.model.end) / 2;
    const begin = own.selected ? own.selected.number
      : await numberAt(own.model, own.model.span < own.model.about.end_ns ? middle : 0, forward);
    const found = await own.model.find(query, begin, forward);
    if (found) {
      await own.reveal(found.number);
      said.value = sentence(own.model, found);
    } else {
      said.value = forward ? "No later frame matches." : "No earlier frame matches.";
    }
  };
  const search = (forward: boolean) => {
    if (!model) return;
    const query = parse(words.current!.value, model.about);
    if (typeof query === "string") said.value = query;
    else go(query, forward);
  };
  const keys = (event: KeyboardEvent) => {
    const own = timeline.current;
    if (!own?.model || event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = (own.model.start + own.model.end) / 2;
    const forward = !event.shiftKey;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => own.model.pan(-own.model.span / 8),
      ArrowRight: () => own.model.pan(own.model.span / 8),
      "+": () => own.model.zoom(1 / ZOOM, middle), "=": () => own.model.zoom(1 / ZOOM, middle),
      "-": () => own.model.zoom(ZOOM, middle),
      "0": () => own.model.show(0, own.model.about.end_ns),
      Home: () => own.model.pan(-own.model.about.end_ns),
      End: () => own.model.pan(own.model.about.end_ns),
      "]": () => go({}, true), "[": () => go({}, false),
      l: () => go({ lost: true }, forward), r: () => go({ retried: true }, forward),
      n: () => search(forward), "/": () => words.current!.focus(),
      Escape: () => own.select(null),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  };
  const follow = async (packet: number) => {
    const own = timeline.current!;
    own.life = await own.model.life(packet);
    setLife(own.life);
    const [first, last] = [own.life[0], own.life[own.life.length - 1]];
    if (first && (first.at_ns < own.model.start || last.at_ns > own.model.end)) {
      const room = 0.1 * (last.at_ns - first.at_ns) + 1e5;
      own.model.show(first.at_ns - room, last.at_ns + room);
    }
    own.redraw();
  };
  const share = () => {
    const own = timeline.current!;
    const at = `t=${Math.round(own.model.start)},${Math.round(own.model.end)}`;
    const chosen = own.selected ? `&frame=${own.selected.number}` : "";
    history.replaceState(null, "", `#/air/${id}?${at}${chosen}`);
    said.value = "The address of the page has this stretch now.";
  };
  if (!id) return <Choose />;
  const entry = runs.value.find((run) => run.id === id);
  const own = timeline.current;
  return (
    <div class="air">
      <div class="heading">
        <h1>{entry ? nameOf(entry) : "Air"}</h1>
        <p class="dim">{model && `${model.about.frames.toLocaleString("en")} frames, `
          + `${model.about.lost.toLocaleString("en")} lost, `
          + `${model.about.retried.toLocaleString("en")} with a retransmission`}
          {model && model.about.radios.length > model.lanes.length
            && `; the ${model.lanes.length} busiest of ${model.about.radios.length} nodes`}
          {model?.about.cut_ns && `; the timeline ends at ${time(model.about.cut_ns)}`}</p>
      </div>
      {fault && <p class="fault" role="alert">{fault}</p>}
      <div class="bar" role="toolbar" aria-label="Timeline">
        <span class="group">
          <button onClick={() => own!.model.zoom(2, (own!.model.start + own!.model.end) / 2)}
            aria-label="Zoom out">−</button>
          <button onClick={() => own!.model.zoom(0.5, (own!.model.start + own!.model.end) / 2)}
            aria-label="Zoom in">+</button>
          <button onClick={() => own!.model.show(0, own!.model.about.end_ns)}>All</button>
        </span>
        <span class="group">
          <button onClick={() => go({ lost: true }, false)} aria-label="Previous lost frame">‹</button>
          <button onClick={() => go({ lost: true }, true)}>Lost ›</button>
        </span>
        <span class="group">
          <button onClick={() => go({ retried: true }, false)}
            aria-label="Previous retransmission">‹</button>
          <button onClick={() => go({ retried: true }, true)}>Retry ›</button>
        </span>
        <form class="search" role="search"
          onSubmit={(event) => { event.preventDefault(); search(true); }}>
          <input ref={words} type="search" aria-label="Find frames"
            placeholder="next collision of sta0" />
          <button>Find</button>
        </form>
        <button onClick={share}>Link</button>
      </div>
      <div class="timeline">
        <div class="chart-box">
          <canvas ref={canvas} id="air" tabIndex={0} role="application"
            aria-roledescription="timeline" aria-label="Frames by node over time"
            aria-describedby="air-keys" onKeyDown={keys}
            onPointerDown={(event) => own?.model && own.down(event)}
            onPointerMove={(event) => own?.model && own.move(event)}
            onPointerUp={(event) => own?.model && own.up(event)}
            onPointerCancel={(event) => own?.model && own.up(event)}
            onPointerLeave={() => own?.model && own.leave()} />
        </div>
        {model && frame && <Details model={model} frame={frame} life={life} follow={follow}
          reveal={(number) => own!.reveal(number)} />}
      </div>
      <p class="dim view" role="status">{view}</p>
      {model && <Legend model={model} />}
      <details><summary>Keys, wheel and touch</summary>
        <p id="air-keys">Left and right arrow: move. Plus and minus: zoom; 0: the whole run. Square
          brackets: next and previous frame. L: next lost frame, R: next retransmission, N: next
          match of the search; with Shift, previous. Slash: search. Escape: nothing selected. The
          wheel zooms and with Shift moves; drag to move, pinch to zoom.</p></details>
    </div>
  );
}

/** The number of the first frame after an instant, less one; by a tile of the lowest level. */
async function numberAt(model: Model, at: number, forward: boolean): Promise<number> {
  if (at <= 0) return forward ? -1 : model.about.frames;
  let [low, high] = [-1, model.about.frames];
  for (let step = 0; step < 40 && low + 1 < high; step++) {
    const middle = Math.floor((low + high) / 2);
    const found = await model.find({}, middle, true);
    if (found && found.start_ns < at) low = middle;
    else high = middle;
  }
  return low;
}

function sentence(model: Model, frame: Frame): string {
  const { radios, kind, outcome } = model.about;
  const to = frame.to === null ? "all" : radios[frame.to];
  const by = frame.lost_to === null ? "" : `, caused by ${radios[frame.lost_to]}`;
  return `Frame ${frame.number} at ${time(frame.start_ns, 1000)}: ${radios[frame.from]} sends `
    + `${kind[frame.kind]} to ${to}; ${outcome[frame.outcome]}${by}.`;
}

function Legend({ model }: { model: Model }) {
  return (
    <ul class="legend" aria-label="Legend">
      {model.about.kind.map((kind) => model.about.looks[kind] && (
        <li key={kind}><svg viewBox="0 0 12 12" aria-hidden="true">
          <rect width="12" height={12 * model.about.looks[kind].height}
            y={12 * (1 - model.about.looks[kind].height)} fill={model.about.looks[kind].colour} />
        </svg>{kind}</li>
      ))}
      <li><svg viewBox="0 0 12 12" aria-hidden="true" class="mark"><path d="M2 2l8 8M2 10l8-8" />
      </svg>lost, hatched by cause</li>
      <li><svg viewBox="0 0 12 12" aria-hidden="true"><rect class="ink" y="1" width="12" height="3" />
      </svg>retransmission</li>
      <li><svg viewBox="0 0 12 12" aria-hidden="true"><path class="ink dots" d="M0 6h12" />
      </svg>back-off</li>
      <li><svg viewBox="0 0 12 12" aria-hidden="true"><path class="wait" d="M0 6h12" />
      </svg>defers</li>
      <li><svg viewBox="0 0 12 12" aria-hidden="true"><path class="nav" d="M0 9h12" /></svg>NAV</li>
    </ul>
  );
}

function Choose() {
  const own = runs.value.filter((run) => run.has_air);
  return (
    <div class="library"><h1>Air</h1>
      {own.length === 0
        ? <p>No run has a timeline yet. <a href="#/scenario">Run a scenario</a> with “Timeline of
          the air”.</p>
        : <ul class="choose">{own.map((run) => (
          <li key={run.id}><a href={`#/air/${run.id}`}>{nameOf(run)}</a>, seed {run.seed}</li>
        ))}</ul>}
    </div>
  );
}
