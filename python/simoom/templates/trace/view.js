// Moving, zooming, choosing frames, and what is said about them.

const SHORTEST = 2000; // ns
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const search = { query: "", found: [] };

function show(start, end) {
  const span = Math.min(data.end_ns * 1.04, Math.max(SHORTEST, end - start));
  const margin = data.end_ns * 0.02;
  const first = Math.min(Math.max(start, -margin), data.end_ns + margin - span);
  [view.from, view.to] = [first, first + span];
  redraw();
  settle();
}

// Moves the view in a sixth of a second, or at once where motion is unwelcome.
let motion = 0;
function glide(start, end) {
  cancelAnimationFrame(motion);
  if (calm.matches) return show(start, end);
  const [a, b, began] = [view.from, view.to, performance.now()];
  const step = (now) => {
    const part = Math.min(1, Math.max(0, (now - began) / 160));
    const eased = 1 - (1 - part) ** 3;
    show(a + (start - a) * eased, b + (end - b) * eased);
    if (part < 1) motion = requestAnimationFrame(step);
  };
  motion = requestAnimationFrame(step);
}

function zoom(factor, at = (view.from + view.to) / 2) {
  show(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

const move = (part) => show(
  view.from + part * (view.to - view.from),
  view.to + part * (view.to - view.from),
);
const all = () => glide(-0.01 * data.end_ns, 1.01 * data.end_ns);

// Shows a frame with its surroundings: it takes at least a fortieth of the width.
function reveal(i) {
  const [start, end] = [frames.start[i], frames.end[i]];
  const span = Math.min(view.to - view.from, 40 * (end - start));
  const inside = start > view.from && end < view.to && span === view.to - view.from;
  if (!inside) glide((start + end - span) / 2, (start + end + span) / 2);
  const lane = frames.transmitter[i] * layout.lane;
  const frame = canvases.lanes.getBoundingClientRect();
  const covered = byId("above").offsetHeight;
  const [top, bottom] = [frame.top + lane, frame.top + lane + layout.lane];
  if (top < covered) window.scrollBy(0, top - covered - 8);
  else if (bottom > window.innerHeight) window.scrollBy(0, bottom - window.innerHeight + 8);
}

function choose(i, quietly = false) {
  chosen.frame = i;
  byId("said").textContent = i < 0 ? "" : sentence(i);
  details(i);
  if (i >= 0 && !quietly) reveal(i);
  redraw();
  settle();
}

function details(i) {
  const panel = byId("details");
  panel.replaceChildren();
  if (i < 0) {
    panel.append(element("p", "Choose a frame to see its fields: tap or click it, or step " +
      "through the frames with the arrow keys.", "note"));
    return;
  }
  panel.append(element("h2", `${kindOf(i)} ${word(frames.transmitter, i)} → ` +
    `${word(frames.receiver, i) ?? "all"}`));
  panel.append(element("p", outcomeText(i), isLost(i) ? "lost" : ""));
  const list = document.createElement("dl");
  for (const [name, value] of fields(i)) {
    const entry = document.createElement("div");
    entry.append(element("dt", name), element("dd", value));
    list.append(entry);
  }
  panel.append(list);
  if (firstMpdu[i] < firstMpdu[i + 1]) panel.append(mpduTable(i));
}

function fields(i) {
  const f = frames;
  const streams = f.streams[i] === 1 ? "" : `, ${f.streams[i]} streams`;
  return [
    ["frame", f.number[i]],
    ["begin", `${seconds(f.start[i], 9)} s`],
    ["end", `${seconds(f.end[i], 9)} s`],
    ["duration", micros(lasting(i))],
    ["preamble, header", micros(f.payload[i] - f.start[i])],
    ["access category", word(f.access_category, i)],
    ["mode", `${word(f.format, i)}${f.mcs[i] === null ? "" : ` MCS ${f.mcs[i]}`}, ` +
      `${f.rate_mbps[i]} Mb/s${streams}`],
    ["width", `${f.width_mhz[i]} MHz`],
    ["PSDU", `${f.psdu_bytes[i]} B`],
    ["Duration field", `${f.nav_us[i]} µs`],
    ["exchange", f.exchange[i]],
    ...(f.signal_dbm[i] === null ? [] : [["signal", `${f.signal_dbm[i].toFixed(1)} dBm`]]),
    ...(f.mpdus[i] ? [["MPDUs", `${f.mpdus[i]}, ${f.mpdus_retried[i]} sent again, ` +
      `${f.mpdus_received[i]} received`]] : []),
  ];
}

function mpduTable(i) {
  const table = document.createElement("table");
  table.createTHead().innerHTML =
    "<tr><th>seq</th><th>MPDU</th><th>flow, segment</th></tr>";
  const body = table.createTBody();
  for (const m of mpdusOf(i)) {
    const row = body.insertRow();
    const state = [mpdus.retry[m] ? "retry" : "", mpdus.received[m] ? "received" : "not received"];
    row.insertCell().textContent = mpdus.sequence[m];
    row.insertCell().textContent =
      `${mpdus.bytes[m]} B ${state.filter(Boolean).join(", ")}`;
    row.insertCell().textContent = [word(mpdus.flow, m), mpdus.segment[m]]
      .filter(Boolean).join(": ");
    for (const cell of row.cells) cell.style.whiteSpace = "normal";
  }
  return table;
}

function element(name, text, className = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

// Returns the next of `places` after the chosen frame, or before it; it wraps around.
function next(places, direction) {
  if (!places.length) return -1;
  const first = lowerBound(frames.start, view.from, (time) => time) - 0.5;
  const now = chosen.frame >= 0 ? chosen.frame : first;
  const after = lowerBound(places, now, (i) => i);
  const isHere = places[after] === now;
  const place = direction > 0 ? after + (isHere ? 1 : 0) : after - 1;
  return places[(place + places.length) % places.length];
}

function jump(places, direction, output) {
  const i = next(places, direction);
  if (i < 0) return;
  choose(i);
  if (output) output.textContent = `${places.indexOf(i) + 1} of ${places.length}`;
}

function step(direction, inLane) {
  const places = inLane && chosen.frame >= 0 ? ownFrames[frames.transmitter[chosen.frame]] : null;
  if (places) return jump(places, direction);
  const now = chosen.frame >= 0 ? chosen.frame : next(frames.start.map((_, i) => i), 1) - direction;
  choose(Math.min(COUNT - 1, Math.max(0, now + direction)));
}

function otherLane(direction) {
  if (chosen.frame < 0) return step(1, false);
  let lane = frames.transmitter[chosen.frame] + direction;
  while (lane >= 0 && lane < lanes.length && !ownFrames[lane].length) lane += direction;
  if (!ownFrames[lane]?.length) return undefined;
  const own = ownFrames[lane];
  const place = lowerBound(own, frames.start[chosen.frame], (i) => frames.start[i]);
  return choose(own[Math.min(place, own.length - 1)]);
}

function find(direction = 1) {
  const query = byId("search").querySelector("input").value;
  const output = byId("search").querySelector("output");
  if (query !== search.query) Object.assign(search, { query, found: matches(query) });
  if (!search.found.length) {
    output.textContent = query ? "none" : "";
    byId("said").textContent = query ? "No frame matches." : "";
    return;
  }
  jump(search.found, direction, output);
}

function frameAt(event) {
  const [px, py] = [event.offsetX, event.offsetY];
  const lane = Math.floor(py / layout.lane);
  if (px < layout.gutter || !lanes[lane]) return -1;
  const own = ownFrames[lane];
  const reach = ((view.to - view.from) / layout.width) * 4;
  const time = timeAt(px);
  const i = own[from(own, frames.end, time - reach)];
  return i !== undefined && frames.start[i] <= time + reach ? i : -1;
}

function hover(event) {
  const i = frameAt(event);
  const tip = byId("tip");
  tip.hidden = i < 0;
  if (i >= 0) {
    tip.textContent = `${labels(i)[0]}\n${outcomeText(i)}, ${micros(lasting(i))}`;
    const top = canvases.lanes.offsetTop + base(frames.transmitter[i]) + 6;
    tip.style.top = `${top}px`;
    tip.style.left = `${Math.min(event.offsetX + 8, layout.width - tip.offsetWidth - 4)}px`;
  }
  if (chosen.over !== i) {
    chosen.over = i;
    redraw();
  }
}

// What follows when the view has come to rest: address and table.
let rest = 0;
function settle() {
  clearTimeout(rest);
  rest = setTimeout(() => {
    const frame = chosen.frame < 0 ? "" : `&frame=${frames.number[chosen.frame]}`;
    const stretch = [view.from, view.to].map((ns) => seconds(Math.round(ns), 9)).join(",");
    history.replaceState(null, "", `#t=${stretch}${frame}`);
    if (byId("table").open) fillTable();
  }, 150);
}

const MOST_ROWS = 200;
function fillTable() {
  const body = byId("table").querySelector("tbody");
  body.replaceChildren();
  let count = 0;
  for (let i = 0; i < COUNT && frames.start[i] <= view.to; i++) {
    if (frames.end[i] < view.from || ++count > MOST_ROWS) continue;
    const row = body.insertRow();
    const button = element("button", frames.number[i]);
    button.addEventListener("click", () => choose(i));
    row.insertCell().append(button);
    for (const text of [seconds(frames.start[i]), (lasting(i) / 1e3).toFixed(1),
      word(frames.transmitter, i), word(frames.receiver, i) ?? "all", kindOf(i), mode(i),
      frames.mpdus[i] || "", outcomeText(i)]) row.insertCell().textContent = text;
  }
  byId("table").querySelector(".note").textContent =
    count > MOST_ROWS ? `The first ${MOST_ROWS} of ${count} frames in view; zoom in for the others.`
      : `${count} frames in view.`;
}

function resize() {
  const shell = byId("chart").clientWidth;
  const c = prepare(canvases.lanes, shell, 1);
  const longest = Math.max(...lanes.map((name) => textWidth(c, name)));
  layout.width = shell;
  layout.gutter = Math.min(longest + 20, shell < 500 ? 76 : 120);
  const rows = Math.max(...rowsOf.map((own) => own.length), 1);
  const usual = (window.innerHeight - 300) / lanes.length;
  layout.lane = Math.max(lanes.length > 16 ? 30 : 46, Math.min(rows > 2 ? 96 : 78, usual));
  redraw();
}

function legend() {
  const list = byId("legend");
  list.replaceChildren();
  const kinds = new Set(frames.kind.map((n) => words[n]));
  for (const [kind, { colour, height }] of Object.entries(data.kinds))
    if (kinds.has(kind)) {
      const bar = 22 * height;
      list.append(key(kind, (c) => c.fillRect(0, 15 - bar, 30, bar), colour));
    }
  const outcomes = new Set(frames.outcome.map((n) => words[n]));
  for (const hatch of new Set(Object.values(data.hatches))) {
    const names = [...outcomes].filter((outcome) => data.hatches[outcome] === hatch);
    if (names.length)
      list.append(key(names[0] === "unknown" ? "run ends" : `lost: ${names.join(", ")}`,
        (c) => box(c, 0, 1, 30, 14, colours.dim, hatch), colours.dim));
  }
  if (lost.some(losesMpdus))
    list.append(key("MPDU not received",
      (c) => box(c, 0, 1, 30, 14, data.kinds.Data.colour, data.hatches.interference), ""));
  if (retried.length) list.append(key("on top: retransmission", (c) => c.fillRect(0, 2, 30, 3.5),
    colours.text));
  const has = new Set(waits.kind.map((n) => words[n]));
  if (has.has("backoff")) list.append(key("back-off, in slots", (c) => {
    c.strokeStyle = colours.text;
    for (let n = 0; n < 4; n++) c.strokeRect(0.5 + 7 * n, 5.5, 7, 6);
  }, colours.text));
  if (has.has("defer")) list.append(key("defers: medium busy, or IFS",
    (c) => c.fillRect(0, 8, 30, 1.5), colours.wait));
  if (has.has("busy tone")) list.append(key("busy tone",
    (c) => c.fillRect(0, 5, 30, 6), colours.wait));
  if (has.has("NAV")) list.append(key("NAV", (c) => c.fillRect(0, 5, 30, 6), colours.wait));
}

function key(text, draw, colour) {
  const item = document.createElement("li");
  const canvas = document.createElement("canvas");
  canvas.setAttribute("aria-hidden", "true");
  const c = prepare(canvas, 30, 16);
  c.fillStyle = colour;
  draw(c);
  item.append(canvas, text);
  return item;
}
