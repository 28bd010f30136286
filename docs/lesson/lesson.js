// The page of the lesson: writes a scenario to the simulator and shows what comes back.
"use strict";

const at = (id) => document.getElementById(id);
let parts = [];
let worker;

function start() {
  worker = new Worker("worker.js");
  worker.onmessage = ({ data }) => {
    at("run").disabled = false;
    at("stop").disabled = true;
    if (data.error) say(data.error, true);
    else if (data.ready) say("Ready.");
    else if (data.found.issues) say(data.found.issues.map(told).join("\n"), true);
    else show(data.found);
  };
}

const told = ({ path, message }) => (path ? `${path}: ${message}` : message);

function say(text, fault = false) {
  at("state").textContent = text;
  at("state").className = fault ? "fault" : "";
  if (fault) at("results").hidden = true;
}

function run() {
  at("run").disabled = true;
  at("stop").disabled = false;
  say("Running …");
  worker.postMessage({ text: at("text").value, seed: at("seed").valueAsNumber || 0 });
}

function stop() {
  worker.terminate();
  say("Stopped.");
  at("stop").disabled = true;
  start();
}

function show({ summary, digest }) {
  const number = (value) => (value == null ? "–" : String(Number(value.toPrecision(3))));
  const percent = (value) => `${(100 * value).toFixed(1)} %`;
  at("results").hidden = false;
  at("title").textContent = at("scenario").value;
  at("digest").textContent = digest;
  const figures = {
    "total goodput": `${number(summary["total.goodput_mbps"])} Mb/s`,
    "Jain's index": number(summary["total.jain_index"]),
    "collision probability": number(summary["total.collision_probability"]),
  };
  at("figures").replaceChildren(...Object.entries(figures).flatMap(([name, value]) =>
    [element("dt", name), element("dd", value)]));
  const used = parts.map((part) => ({ ...part, share: summary[part.path] }))
    .filter(({ share }) => share > 0);
  at("bar").setAttribute("aria-label", used.map((part) =>
    `${part.name} ${percent(part.share)}`).join(", "));
  at("bar").replaceChildren(...used.map(({ colour, share }) => {
    const piece = element("span");
    piece.style.cssText = `background:${colour};flex:${share}`;
    return piece;
  }));
  at("legend").replaceChildren(...used.map(({ name, colour, share }) => {
    const entry = element("li");
    const key = element("i");
    key.style.background = colour;
    entry.append(key, `${name} ${percent(share)}`);
    return entry;
  }));
  const rows = [];
  for (let n = 0; summary[`flows[${n}].name`] !== undefined; n += 1) {
    const delay = summary[`flows[${n}].delay_s.mean`];
    const row = element("tr");
    row.append(element("td", summary[`flows[${n}].name`]),
      element("td", number(summary[`flows[${n}].goodput_mbps`])),
      element("td", number(delay == null ? null : 1000 * delay)));
    rows.push(row);
  }
  at("flows").tBodies[0].replaceChildren(...rows);
  say("Done.");
}

function element(kind, text = "") {
  const made = document.createElement(kind);
  made.textContent = text;
  return made;
}

async function fill() {
  const [scenarios, airtime] = await Promise.all(["scenarios.json", "airtime.json"]
    .map(async (name) => (await fetch(name)).json()));
  parts = airtime;
  const texts = new Map(scenarios.map(({ name, text }) => [name, text]));
  at("scenario").replaceChildren(...scenarios.map(({ name }) => element("option", name)));
  at("scenario").value = "one_station";
  const choose = () => { at("text").value = texts.get(at("scenario").value); };
  at("scenario").onchange = choose;
  choose();
}

at("run").onclick = run;
at("stop").onclick = stop;
fill().then(start, (error) => say(error.message, true));
