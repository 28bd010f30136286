// What the page carries, and how a frame is found and put in words.

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const { frames, mpdus, waits, words, lanes } = data;
const COUNT = frames.start.length;
const word = (column, i) => (column[i] < 0 ? null : words[column[i]]);
const kindOf = (i) => words[frames.kind[i]];
const outcomeOf = (i) => words[frames.outcome[i]];
const isLost = (i) => outcomeOf(i) in data.hatches && outcomeOf(i) !== "unknown";
const losesMpdus = (i) =>
  outcomeOf(i) === "received" && frames.mpdus_received[i] < frames.mpdus[i];
const isRetry = (i) => frames.mpdus_retried[i] > 0;
const hasCategories = new Set(frames.access_category).size > 1;

// Frames and waits of each lane, in the order of their beginnings. The names of the lanes are the
// first words, so that a lane has the number of its word.
const ownFrames = lanes.map(() => []);
for (let i = 0; i < COUNT; i++) ownFrames[frames.transmitter[i]].push(i);
const ROWS = ["VO", "VI", "BE", "BK", "NAV"];
const ownWaits = lanes.map(() => ({}));
for (let i = 0; i < waits.start.length; i++) {
  const row = words[waits.kind[i]] === "NAV" ? "NAV" : words[waits.access_category[i]];
  (ownWaits[waits.node[i]][row] ??= []).push(i);
}
const rowsOf = ownWaits.map((own) => ROWS.filter((row) => row in own));

// MPDUs are in the order of their frames: those of frame i are from firstMpdu[i] on.
const firstMpdu = new Int32Array(COUNT + 1);
for (const frame of mpdus.frame) firstMpdu[frame + 1]++;
for (let i = 0; i < COUNT; i++) firstMpdu[i + 1] += firstMpdu[i];

const lost = [];
const retried = [];
for (let i = 0; i < COUNT; i++) {
  if (isLost(i) || losesMpdus(i)) lost.push(i);
  if (isRetry(i)) retried.push(i);
}

// Returns the first place in `items` whose key is at least `value`; keys rise.
function lowerBound(items, value, key) {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(items[middle]) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Frames of one node do not overlap: their ends rise with their beginnings. So do those of waits.
const from = (items, ends, time) => lowerBound(items, time, (i) => ends[i]);

function mode(i) {
  return frames.mcs[i] === null ? `${frames.rate_mbps[i]} Mb/s` : `MCS ${frames.mcs[i]}`;
}

function retries(i) {
  const count = frames.mpdus_retried[i];
  if (!count) return "";
  if (frames.mpdus[i] === 1) return "retry";
  return count === 1 ? "1 retry" : `${count} retries`;
}

// The labels of a frame, the longest first, of at most so many lines.
function labels(i, lines = 1) {
  const kind = kindOf(i);
  const to = word(frames.receiver, i) ?? "all";
  if (kind === "CTS-to-self") return [kind, "CTS"];
  if (kind !== "Data") return [`${kind} → ${to}`, kind, kind.startsWith("Block") ? "BA" : kind];
  const category = hasCategories ? `${word(frames.access_category, i)} ` : "";
  const count = frames.mpdus[i] > 1 ? `${frames.mpdus[i]} MPDUs` : "";
  const details = [mode(i), count, retries(i)].filter(Boolean);
  const between = lines > 1 ? "\n" : ", ";
  return [
    `Data ${category}→ ${to}${between}${details.join(", ")}`,
    `${category}→ ${to}${between}${details.join(", ")}`,
    `${category}→ ${to}${between}${details[0]}`,
    `${category}→ ${to}`,
    category.trim() || to,
  ];
}

const lasting = (i) => frames.end[i] - frames.start[i];
const seconds = (ns, digits = 6) => (data.start_s + ns / 1e9).toFixed(digits);
const micros = (ns) => `${(ns / 1e3).toFixed(ns % 1000 ? 1 : 0)} µs`;

function outcomeText(i) {
  const other = word(frames.lost_to, i);
  const by = other === null ? "" : ` with ${other}`;
  if (isLost(i)) return `lost: ${outcomeOf(i)}${by}`;
  return losesMpdus(i)
    ? `${frames.mpdus_received[i]} of ${frames.mpdus[i]} MPDUs received`
    : outcomeOf(i);
}

function sentence(i) {
  const to = word(frames.receiver, i) ?? "all nodes";
  const kind = kindOf(i);
  const details = [kind === "Data" ? mode(i) : "", retries(i)].filter(Boolean).join(", ");
  return (
    `Frame ${frames.number[i]} at ${seconds(frames.start[i])} s: ` +
    `${word(frames.transmitter, i)} sends ${kind} to ${to}` +
    `${details ? `, ${details}` : ""}; ${outcomeText(i)}`
  );
}

// What the search looks at, made when it is first needed.
const searchable = [];
function haystack(i) {
  searchable[i] ??= [
    sentence(i),
    labels(i)[0],
    word(frames.access_category, i),
    word(frames.format, i),
    [...mpdusOf(i)].map((m) => `${word(mpdus.flow, m)} ${mpdus.segment[m]}`).join(" "),
  ]
    .join(" ")
    .toLowerCase();
  return searchable[i];
}

function* mpdusOf(i) {
  for (let m = firstMpdu[i]; m < firstMpdu[i + 1]; m++) yield m;
}

function matches(query) {
  const exact = /^#(\d+)$/.exec(query.trim());
  const parts = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = [];
  if (!parts.length) return found;
  for (let i = 0; i < COUNT; i++) {
    if (exact ? frames.number[i] === Number(exact[1]) : parts.every((p) => haystack(i).includes(p)))
      found.push(i);
  }
  return found;
}
