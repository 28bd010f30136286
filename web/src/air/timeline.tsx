// A timeline with its tools, and what is selected: on the page and in notebooks.

import { useEffect, useRef, useState } from "preact/hooks";
import { Timeline } from "./canvas";
import { Details } from "./details";
import { Overview } from "./overview";
import { FrameTable, mode, outcome } from "./table";
import { duration, time } from "./draw";
import { open, parse, type Frame, type Model, type Query, type Source, type Step } from "./model";

const ZOOM = 1.25;

export interface Shown { from: number; to: number; frame: number | null }

/** The timeline with its tools, the selected frame, and its legend. */
export function AirTimeline({ source, say, begin, share, title, isPage = false }: {
  source: Source; say: (text: string) => void; begin?: Partial<Shown>;
  share?: (shown: Shown) => void; title: string;
  /** Whether it is all of a page: keys then work wherever the focus is. */
  isPage?: boolean;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const timeline = useRef<Timeline | null>(null);
  const strip = useRef<HTMLDivElement>(null);
  const words = useRef<HTMLInputElement>(null);
  const help = useRef<HTMLDetailsElement>(null);
  const [model, setModel] = useState<Model | null>(null);
  const [fault, setFault] = useState("");
  const [frame, setFrame] = useState<Frame | null>(null);
  const [life, setLife] = useState<Step[]>([]);
  const [view, setView] = useState("");
  const [, setWidth] = useState(0);
  useEffect(() => {
    const own = new Timeline(canvas.current!, () => {
      const { start, end, span } = own.model;
      setView(`${time(start, span / 1000)} to ${time(end, span / 1000)}, ${duration(span)}`);
      setWidth(own.layout.width);
    }, (selected) => {
      setFrame(selected);
      setLife([]);
    });
    timeline.current = own;
    open(source, own.redraw).then((opened) => {
      own.begin(opened);
      setModel(opened);
      const { from = 0, to = 0, frame: chosen = null } = begin ?? {};
      if (from < to) opened.show(from, to);
      if (chosen !== null) {
        own.reveal(chosen, from < to).then(() => told(own), (error) => say(error.message));
      }
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
  }, [source]);
  const go = async (query: Query, forward: boolean) => {
    const own = timeline.current;
    if (!own?.model) return;
    const middle = (own.model.start + own.model.end) / 2;
    const begin = own.selected ? own.selected.number
      : await numberAt(own.model, own.model.isWhole ? 0 : middle, forward);
    const found = await own.model.find(query, begin, forward);
    if (found) {
      await own.reveal(found.number);
      told(own);
    } else {
      say(forward ? "No later frame matches." : "No earlier frame matches.");
    }
  };
  const search = (forward: boolean) => {
    if (!model) return;
    const number = /^#(\d+)$/.exec(words.current!.value.trim());
    if (number) {
      const own = timeline.current!;
      own.reveal(Number(number[1])).then(() => told(own), (error) => say(error.message));
      return;
    }
    const query = parse(words.current!.value, model.about);
    if (typeof query === "string") say(query);
    else go(query, forward);
  };
  const told = (own: Timeline) => own.selected && say(sentence(own.model, own.selected));
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
      "0": () => own.model.all(),
      PageUp: () => own.model.pan(-own.model.span), PageDown: () => own.model.pan(own.model.span),
      Home: () => own.model.pan(-own.model.about.end_ns),
      End: () => own.model.pan(own.model.about.end_ns),
      "]": () => go({}, true), "[": () => go({}, false),
      "}": () => go({ radio: own.selected?.from }, true),
      "{": () => go({ radio: own.selected?.from }, false),
      ArrowDown: () => beside(own, 1), ArrowUp: () => beside(own, -1),
      l: () => go({ lost: true }, forward), r: () => go({ retried: true }, forward),
      n: () => search(forward), "/": () => words.current!.focus(), "?": () => list(),
      Escape: () => own.select(null),
    };
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = actions[name];
    // Elsewhere than in the pictures these scroll the page.
    const scrolls = /^(ArrowUp|ArrowDown|PageUp|PageDown|Home|End)$/.test(name)
      && !hears(event.target);
    if (action && !scrolls) {
      event.preventDefault();
      action();
    }
  };
  /** Whether an element takes keys itself: the picture, and the strip of the whole run. */
  const hears = (target: EventTarget | null) =>
    target === canvas.current || target === strip.current;
  const list = () => {
    const details = help.current!;
    details.open = !details.open;
    if (details.open) details.scrollIntoView({ block: "nearest" });
  };
  const onKey = useRef(keys);
  onKey.current = keys;
  useEffect(() => {
    if (!isPage) return;
    const press = (event: KeyboardEvent) => {
      const writes = event.target instanceof Element
        && event.target.closest("input, select, textarea, [contenteditable]");
      if (!writes && !hears(event.target)) onKey.current(event);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [isPage]);
  /** Goes to the frame of the next lane, below or above, that began last. */
  const beside = (own: Timeline, by: number) => {
    const { selected, model: { lanes, laneOf } } = own;
    const lane = selected && laneOf.get(selected.from);
    const radio = lane == null ? undefined : lanes[lane + by];
    if (radio !== undefined) go({ radio }, false);
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
  const give = () => {
    const { model: shown, selected } = timeline.current!;
    const frame = selected ? selected.number : null;
    share!({ from: Math.round(shown.start), to: Math.round(shown.end), frame });
  };
  const own = timeline.current;
  return (
    <div class="air">
      <div class="heading">
        <h1>{title}</h1>
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
          <button onClick={() => own!.model.all()}>All</button>
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
        {share && <button onClick={give}>Link</button>}
      </div>
      <div class="timeline">
        <div class="chart-box">
          {model && <Overview model={model} layout={own!.layout} view={view} strip={strip}
            onKeyDown={keys} />}
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
      {model && <FrameTable timeline={own!} view={view} />}
      <details ref={help}><summary>Keys, wheel and touch (?)</summary>
        <p id="air-keys">Left and right arrow: move; in the picture or the strip also Page up and
          Page down, by a stretch, Home and End. Plus and minus: zoom; 0: the whole run. Square
          brackets: next and previous frame; braces: of the same node. Up and down arrow: the frame
          before of the node above, below. L: next lost frame, R: next retransmission, N: next
          match of the search; with Shift, previous. Slash: search; #12 finds frame 12. Escape: nothing selected.
          Question mark: these keys. The wheel zooms and with Shift moves; drag to move, pinch to zoom. In the
          strip of the whole run, drag the stretch or one of its ends.</p></details>
    </div>
  );
}

/** The number of the first frame after an instant, less one; by a tile of the lowest level. */
async function numberAt(model: Model, at: number, forward: boolean): Promise<number> {
  const [first, last] = model.about.numbers ?? [0, model.about.frames - 1];
  let [low, high] = [first - 1, last + 1];
  if (at <= 0) return forward ? low : high;
  for (let step = 0; step < 40 && low + 1 < high; step++) {
    const middle = Math.floor((low + high) / 2);
    const found = await model.find({}, middle, true);
    if (found && found.start_ns < at) low = middle;
    else high = middle;
  }
  return low;
}

function sentence(model: Model, frame: Frame): string {
  const { radios, kind } = model.about;
  const to = frame.to === null ? "all" : radios[frame.to];
  const how = [kind[frame.kind] === "Data" && mode(frame), frame.retried && "a retransmission"]
    .filter(Boolean).map((own) => `, ${own}`).join("");
  return `Frame ${frame.number} at ${time(frame.start_ns, 1000)}: ${radios[frame.from]} sends `
    + `${kind[frame.kind]} to ${to}${how}; ${outcome(model, frame)}.`;
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
      {model.about.routes > 0 && (
        <>
          <li><svg viewBox="0 0 12 12" aria-hidden="true"><path class="route" d="M2 2h8l-4 8z" />
          </svg>route changes</li>
          <li><svg viewBox="0 0 12 12" aria-hidden="true" class="mark">
            <path d="M2 2h8l-4 8z" /></svg>route or link fails</li>
        </>
      )}
    </ul>
  );
}
