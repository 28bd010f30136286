// Pointer, wheel, keys and buttons; and the first picture.

const KEYS = {
  ArrowRight: (event) => step(1, event.shiftKey),
  ArrowLeft: (event) => step(-1, event.shiftKey),
  ArrowUp: () => otherLane(-1),
  ArrowDown: () => otherLane(1),
  Home: () => choose(0),
  End: () => choose(COUNT - 1),
  l: () => jump(lost, 1),
  L: () => jump(lost, -1),
  r: () => jump(retried, 1),
  R: () => jump(retried, -1),
  n: () => find(1),
  N: () => find(-1),
  "+": () => zoom(0.5),
  "=": () => zoom(0.5),
  "-": () => zoom(2),
  a: () => move(-0.25),
  d: () => move(0.25),
  0: () => all(),
  Escape: () => choose(-1),
};

function listenToKeys() {
  canvases.lanes.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
    event.preventDefault();
    KEYS[event.key](event);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input")) return;
    event.preventDefault();
    byId("search").querySelector("input").focus();
  });
}

function listenToWheel() {
  const turn = (event) => {
    if (event.offsetX < layout.gutter && !event.ctrlKey) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    const [across, down] = [event.deltaX * lines, event.deltaY * lines];
    if (event.shiftKey || Math.abs(across) > Math.abs(down)) move((across || down) / layout.width);
    else zoom(1.0015 ** Math.max(-300, Math.min(300, down)), timeAt(event.offsetX));
  };
  for (const canvas of [canvases.lanes, canvases.axis])
    canvas.addEventListener("wheel", turn, { passive: false });
}

// One pointer drags, two pinch; a press without movement chooses.
function listenToPointers() {
  const canvas = canvases.lanes;
  const down = new Map();
  let travelled = 0;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, event.offsetX);
    if (down.size === 1) travelled = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!down.has(event.pointerId)) return hover(event);
    const before = [...down.values()];
    const width = layout.width - layout.gutter;
    const shift = event.offsetX - down.get(event.pointerId);
    down.set(event.pointerId, event.offsetX);
    travelled += Math.abs(shift);
    if (down.size === 1) {
      if (travelled > 4) {
        canvas.classList.add("moving");
        byId("tip").hidden = true;
        show(view.from - (shift / width) * (view.to - view.from),
          view.to - (shift / width) * (view.to - view.from));
      }
    } else if (down.size === 2) {
      const after = [...down.values()];
      const [wide, now] = [before, after].map(([a, b]) => Math.max(12, Math.abs(a - b)));
      zoom(wide / now, timeAt((after[0] + after[1]) / 2));
    }
    return undefined;
  });
  const up = (event) => {
    if (down.delete(event.pointerId) && travelled <= 4 && event.type === "pointerup")
      choose(frameAt(event), true);
    canvas.classList.remove("moving");
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => {
    byId("tip").hidden = true;
    chosen.over = -1;
    redraw();
  });
  canvas.addEventListener("dblclick", (event) => zoom(0.25, timeAt(event.offsetX)));
}

function listenToOverview() {
  const canvas = canvases.overview;
  const to = (event) => {
    const [middle, span] = [(event.offsetX / layout.width) * data.end_ns, view.to - view.from];
    show(middle - span / 2, middle + span / 2);
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    to(event);
  });
  canvas.addEventListener("pointermove", (event) => event.buttons && to(event));
}

function listenToButtons() {
  const buttons = {
    "next-loss": () => jump(lost, 1, byId("next-loss").querySelector("output")),
    "previous-loss": () => jump(lost, -1, byId("next-loss").querySelector("output")),
    "next-retry": () => jump(retried, 1, byId("next-retry").querySelector("output")),
    "previous-retry": () => jump(retried, -1, byId("next-retry").querySelector("output")),
    "zoom-in": () => zoom(0.5),
    "zoom-out": () => zoom(2),
    fit: all,
  };
  for (const [id, act] of Object.entries(buttons)) byId(id).addEventListener("click", act);
  for (const [name, places] of [["loss", lost], ["retry", retried]]) {
    byId(`next-${name}`).querySelector("output").textContent = places.length;
    for (const id of [`next-${name}`, `previous-${name}`]) byId(id).disabled = !places.length;
  }
  byId("search").addEventListener("submit", (event) => {
    event.preventDefault();
    find(1);
  });
  byId("table").addEventListener("toggle", () => byId("table").open && fillTable());
}

// Reads stretch and frame from the address.
function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const [start, end] = (parts.get("t") ?? "").split(",").map(Number);
  const number = Number(parts.get("frame") ?? NaN);
  const i = frames.number.indexOf(number);
  if (start < end) show((start - data.start_s) * 1e9, (end - data.start_s) * 1e9);
  else if (i < 0) firstView();
  choose(i, start < end);
  if (i < 0 && parts.has("frame"))
    byId("said").textContent = `This page has no frame ${parts.get("frame")}.`;
}

// Begins with a few dozen frames, which can be read; the overview shows the rest.
function firstView() {
  const few = layout.width < 500 ? 12 : 36;
  if (COUNT <= 3 * few) show(-0.01 * data.end_ns, 1.01 * data.end_ns);
  else show(-0.03 * frames.end[few], frames.end[few]);
}

for (const id of ["tools", "timeline", "legend", "table"]) byId(id).hidden = false;
readColours();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  readColours();
  legend();
  redraw();
});
new ResizeObserver(resize).observe(byId("chart"));
addEventListener("hashchange", readAddress);
resize();
legend();
listenToKeys();
listenToWheel();
listenToPointers();
listenToOverview();
listenToButtons();
readAddress();
