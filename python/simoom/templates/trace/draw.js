// Drawing: the overview, the axis of time, and the lanes.

const canvases = { overview: byId("overview"), axis: byId("axis"), lanes: byId("lanes") };
const FRAME_ROOM = 0.74; // of a lane; the rest has the rows of waits
const view = { from: 0, to: data.end_ns };
const layout = { gutter: 70, width: 0, lane: 48 };
const chosen = { frame: -1, over: -1 };
let colours = {};

const x = (ns) =>
  layout.gutter + ((ns - view.from) / (view.to - view.from)) * (layout.width - layout.gutter);
const timeAt = (px) =>
  view.from + ((px - layout.gutter) / (layout.width - layout.gutter)) * (view.to - view.from);
const base = (lane) => (lane + FRAME_ROOM) * layout.lane;
const heightOf = (i) => data.kinds[kindOf(i)].height * layout.lane;
const rowHeight = (lane) =>
  Math.min(8, ((1 - FRAME_ROOM) * layout.lane - 5) / Math.max(1, rowsOf[lane].length));

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ground", "raised", "line", "faint", "text", "dim", "accent", "mark", "wait"])
    colours[name] = style.getPropertyValue(`--${name}`).trim();
  patterns.clear();
}

// Returns the context of a canvas whose unit is a CSS pixel.
function prepare(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.height = `${height}px`;
  }
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, width, height);
  c.font = "11.5px system-ui, sans-serif";
  c.textBaseline = "middle";
  return c;
}

const patterns = new Map();
// Returns the pattern of a hatching, "////" as in print.
function hatching(c, hatch) {
  if (!patterns.has(hatch)) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 7;
    const t = tile.getContext("2d");
    t.strokeStyle = t.fillStyle = colours.text;
    t.lineWidth = 1;
    t.beginPath();
    for (const shift of [-7, 0, 7]) {
      if (hatch[0] === "/") t.moveTo(shift, 7), t.lineTo(shift + 7, 0);
      if (hatch[0] === "\\") t.moveTo(shift, 0), t.lineTo(shift + 7, 7);
    }
    if (hatch[0] === "|") t.moveTo(3.5, 0), t.lineTo(3.5, 7);
    t.stroke();
    if (hatch[0] === ".") t.fillRect(1, 1, 1.6, 1.6), t.fillRect(4.5, 4.5, 1.6, 1.6);
    patterns.set(hatch, c.createPattern(tile, "repeat"));
  }
  return patterns.get(hatch);
}

const widths = new Map();
function textWidth(c, text) {
  const key = c.font + text;
  if (!widths.has(key))
    widths.set(key, Math.max(...text.split("\n").map((line) => c.measureText(line).width)));
  return widths.get(key);
}

// Draws a box of a frame: filled, or pale and hatched where it was lost.
function box(c, left, top, width, height, colour, hatch) {
  if (hatch) {
    c.fillStyle = colours.ground;
    c.fillRect(left, top, width, height);
    c.globalAlpha = 0.28;
    c.fillStyle = colour;
    c.fillRect(left, top, width, height);
    c.globalAlpha = 1;
    c.fillStyle = hatching(c, hatch);
    c.fillRect(left, top, width, height);
    if (width > 3) {
      c.strokeStyle = colours.text;
      c.lineWidth = 1;
      c.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
    }
  } else {
    c.fillStyle = colour;
    c.fillRect(left, top, width, height);
  }
}

function drawFrame(c, i, lane, room) {
  const { colour } = data.kinds[kindOf(i)];
  const [left, right] = [x(frames.start[i]), x(frames.end[i])];
  const width = Math.max(1.2, right - left);
  const height = heightOf(i);
  const top = base(lane) - height;
  box(c, left, top, width, height, colour, data.hatches[outcomeOf(i)]);
  const payload = x(frames.payload[i]);
  if (payload - left > 2 && !isLost(i)) {
    c.fillStyle = "rgb(255 255 255 / 45%)";
    c.fillRect(left, top, payload - left, height);
  }
  if (kindOf(i) === "Data" && right - payload > 1) drawMpdus(c, i, payload, right, top, height);
  if (isLost(i) && width > 2) cross(c, left + width / 2, top);
  if (i === chosen.frame || i === chosen.over) {
    c.strokeStyle = i === chosen.frame ? colours.accent : colours.dim;
    c.lineWidth = 2.5;
    c.strokeRect(left - 2, top - 2, width + 4, height + 3);
  }
  drawLabel(c, i, { left, right: left + width, payload, top, height }, room);
}

function cross(c, at, top) {
  c.strokeStyle = colours.mark;
  c.lineWidth = 2;
  c.beginPath();
  c.moveTo(at - 4, top - 4), c.lineTo(at + 4, top + 4);
  c.moveTo(at - 4, top + 4), c.lineTo(at + 4, top - 4);
  c.stroke();
}

function drawMpdus(c, i, payload, right, top, height) {
  const count = firstMpdu[i + 1] - firstMpdu[i];
  let bytes = 0;
  for (const m of mpdusOf(i)) bytes += mpdus.bytes[m];
  const scale = (right - payload) / Math.max(1, bytes);
  let at = payload;
  for (const m of mpdusOf(i)) {
    const width = scale * mpdus.bytes[m];
    if (!mpdus.received[m] && !isLost(i))
      box(c, at, top, width, height, data.kinds.Data.colour, data.hatches.interference);
    else if (count > 1 && width > 3) {
      c.fillStyle = "rgb(255 255 255 / 70%)";
      c.fillRect(at, top, 1, height);
    }
    if (mpdus.retry[m]) {
      c.fillStyle = colours.text;
      c.fillRect(at, top, Math.max(1, width), 3.5);
    }
    at += width;
  }
}

// Labels a data frame inside, and a low bar above itself where its neighbours leave room.
function drawLabel(c, i, place, room) {
  let { left, right } = place;
  const inside = kindOf(i) === "Data";
  if (layout.lane < (inside ? 30 : 40)) return;
  if (inside && !isLost(i) && place.payload - left < 0.3 * (right - left)) left = place.payload;
  if (!inside) {
    const middle = (left + right) / 2;
    const half = Math.min(middle - (room.left + left) / 2, (right + room.right) / 2 - middle);
    [left, right] = [middle - half, middle + half];
  }
  left = Math.max(left, layout.gutter);
  right = Math.min(right, layout.width);
  if (right - left < 12) return;
  const most = inside && place.height > 32 ? 2 : 1;
  // The label of a lost frame leaves some of the hatching to see.
  const widest = (right - left) * (inside && isLost(i) ? 0.75 : 1) - 5;
  const text = labels(i, most).find((each) => textWidth(c, each) < widest);
  if (!text) return;
  const lines = text.split("\n");
  const [middle, y] = [(left + right) / 2, inside ? place.top + place.height / 2 : place.top - 7];
  c.textAlign = "center";
  if (inside && isLost(i)) {
    const half = textWidth(c, text) / 2 + 3;
    c.fillStyle = colours.ground;
    c.fillRect(middle - half, y - 7.5 * lines.length, 2 * half, 15 * lines.length);
  }
  c.fillStyle = inside && !isLost(i) ? "#fff" : colours.text;
  const first = y + (isRetry(i) && inside ? 1 : 0) - 7 * (lines.length - 1);
  lines.forEach((line, number) => {
    if (inside && frames.mpdus[i] > 1 && !isLost(i)) {
      // MPDUs that were lost are pale.
      c.strokeStyle = data.kinds.Data.colour;
      c.lineWidth = 4;
      c.lineJoin = "round";
      c.strokeText(line, middle, first + 14 * number);
    }
    c.fillText(line, middle, first + 14 * number);
  });
}

function drawWaits(c, lane) {
  const height = rowHeight(lane);
  rowsOf[lane].forEach((row, number) => {
    const own = ownWaits[lane][row];
    const top = base(lane) + 3 + number * height;
    let done = -1;
    for (let n = from(own, waits.end, view.from); n < own.length; n++) {
      const i = own[n];
      if (waits.start[i] > view.to) break;
      const [left, right] = [x(waits.start[i]), x(waits.end[i])];
      if (right < done + 0.7) continue;
      done = right;
      drawWait(c, i, left, Math.max(1, right - left), top, height - 1.5);
    }
  });
}

function drawWait(c, i, left, width, top, height) {
  const kind = words[waits.kind[i]];
  c.fillStyle = colours.wait;
  if (kind === "NAV" || kind === "busy tone") c.fillRect(left, top, width, height);
  else if (kind === "defer") c.fillRect(left, top + height / 2 - 0.75, width, 1.5);
  else {
    c.strokeStyle = colours.text;
    c.lineWidth = 1;
    c.strokeRect(left + 0.5, top + 0.5, Math.max(0.1, width - 1), height);
    const slots = waits.slots_before[i] - waits.slots_after[i];
    if (waits.slots_before[i] === null || width < 4 * slots) return;
    c.beginPath();
    for (let n = 1; n < slots; n++) {
      const at = Math.round(left + (width * n) / slots) + 0.5;
      c.moveTo(at, top + 1), c.lineTo(at, top + height);
    }
    c.globalAlpha = 0.5;
    c.stroke();
    c.globalAlpha = 1;
  }
}

function drawLanes() {
  const height = lanes.length * layout.lane + 4;
  const c = prepare(canvases.lanes, layout.width, height);
  const lines = ticks();
  c.fillStyle = colours.faint;
  for (const { ns } of lines) c.fillRect(Math.round(x(ns)), 0, 1, height);
  c.save();
  c.beginPath();
  c.rect(layout.gutter, 0, layout.width - layout.gutter, height);
  c.clip();
  lanes.forEach((_, lane) => {
    c.fillStyle = colours.line;
    c.fillRect(layout.gutter, Math.round(base(lane)), layout.width, 1);
    drawWaits(c, lane);
    const own = ownFrames[lane];
    let done = -1;
    for (let n = from(own, frames.end, view.from); n < own.length; n++) {
      const i = own[n];
      if (frames.start[i] > view.to) break;
      const right = x(frames.end[i]);
      // Where several frames share a pixel, one is drawn, and each that was lost.
      if (right < done + 0.8 && !isLost(i) && i !== chosen.frame) continue;
      done = right;
      drawFrame(c, i, lane, {
        left: n ? x(frames.end[own[n - 1]]) : -Infinity,
        right: n + 1 < own.length ? x(frames.start[own[n + 1]]) : Infinity,
      });
    }
  });
  c.restore();
  drawNames(c);
}

function drawNames(c) {
  c.textAlign = "right";
  lanes.forEach((name, lane) => {
    const middle = base(lane) - 0.3 * layout.lane;
    c.fillStyle = colours.text;
    let text = name;
    while (textWidth(c, text) > layout.gutter - 12 && text.length > 2)
      text = `${text.replace(/…$/, "").slice(0, -1)}…`;
    c.fillText(text, layout.gutter - 8, middle);
    const height = rowHeight(lane);
    const categories = rowsOf[lane].filter((row) => row !== "NAV");
    if (categories.length < 2 || height < 5.5) return;
    c.fillStyle = colours.dim;
    c.save();
    c.font = "8px system-ui, sans-serif";
    rowsOf[lane].forEach((row, number) =>
      c.fillText(row, layout.gutter - 8, base(lane) + 3 + (number + 0.45) * height),
    );
    c.restore();
  });
}

// The ticks of the axis: steps of 1, 2 or 5 times a power of ten.
function ticks() {
  const room = Math.max(2, Math.floor((layout.width - layout.gutter) / 70));
  const raw = (view.to - view.from) / room;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= raw);
  const found = [];
  const zero = data.start_s * 1e9;
  // Whole steps of the simulated time, not of the time since the first frame.
  for (let n = Math.ceil((view.from + zero) / step); n * step <= view.to + zero; n++)
    found.push({ ns: n * step - zero, value: n * step, step });
  return found;
}

function drawAxis() {
  const c = prepare(canvases.axis, layout.width, 24);
  c.fillStyle = colours.dim;
  c.textAlign = "right";
  const found = ticks();
  const step = found.length ? found[0].step : 1;
  const digits = Math.max(0, Math.ceil(-Math.log10(step / 1e6)));
  c.fillText("ms", layout.gutter - 8, 12);
  c.textAlign = "center";
  let done = layout.gutter;
  for (const { ns, value } of found) {
    const text = (value / 1e6).toFixed(digits);
    const half = textWidth(c, text) / 2;
    if (x(ns) - half < done || x(ns) + half > layout.width) continue;
    done = x(ns) + half + 6;
    c.fillText(text, x(ns), 12);
  }
}

// The whole stretch: how much of each pixel's time is on the air, losses, and the view.
const busy = { width: 0, air: [], lost: [] };
function drawOverview() {
  const [width, height] = [layout.width, 34];
  const c = prepare(canvases.overview, width, height);
  if (busy.width !== width) countBusy(width);
  for (let px = 0; px < width; px++) {
    const share = Math.min(1, busy.air[px]);
    c.fillStyle = busy.lost[px] ? colours.mark : data.kinds.Data.colour;
    if (share > 0) c.fillRect(px, height - 2 - share * 22, 1, share * 22);
    if (busy.lost[px]) c.fillRect(px, 2, 1, 5);
  }
  const [left, right] = [view.from, view.to].map((ns) => (ns / data.end_ns) * width);
  c.fillStyle = colours.ground;
  c.globalAlpha = 0.7;
  c.fillRect(0, 0, left, height);
  c.fillRect(right, 0, width - right, height);
  c.globalAlpha = 1;
  c.strokeStyle = colours.accent;
  c.lineWidth = 2;
  c.strokeRect(left + 1, 1, Math.max(3, right - left - 2), height - 2);
}

function countBusy(width) {
  busy.width = width;
  busy.air = new Float64Array(width + 1);
  busy.lost = new Uint8Array(width + 1);
  const scale = width / data.end_ns;
  for (let i = 0; i < COUNT; i++) {
    const [left, right] = [frames.start[i] * scale, frames.end[i] * scale];
    for (let px = Math.max(0, Math.floor(left)); px < right && px <= width; px++) {
      busy.air[px] += Math.min(right, px + 1) - Math.max(left, px);
      if (isLost(i)) busy.lost[px] = 1;
    }
  }
}

let pending = 0;
function redraw() {
  pending ||= requestAnimationFrame(() => {
    pending = 0;
    drawOverview();
    drawAxis();
    drawLanes();
  });
}
