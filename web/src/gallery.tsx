// The gallery: shipped scenarios by words, each with a picture, and what to try with one.

import { signal } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import { said, send, type GalleryEntry, type Picture, type Try } from "./api";
import { openText, text } from "./scenario";

/** The scenario of the gallery that was opened last, unless another text has replaced it. */
export const opened = signal<GalleryEntry | null>(null);
/** The texts that variations of it have made, and its own: none of them has work of the user. */
const made = new Map<string, string>();
const AS_IT_CAME = "";

export function openEntry(entry: GalleryEntry): void {
  openText(entry.text, 1);
  remember(entry);
}

export function remember(entry: GalleryEntry | null): void {
  opened.value = entry;
  made.clear();
  if (entry) made.set(entry.text, AS_IT_CAME);
}

/** A text without accents, capitals and underscores, as words are compared. */
export const folded = (words: string) =>
  words.normalize("NFD").replace(/\p{Mn}/gu, "").toLowerCase().replaceAll("_", " ");

/** How far a word is from what an entry is about: the less, the better; infinite without it. */
function distance(entry: GalleryEntry, word: string): number {
  const places = [entry.name, entry.title, entry.about, entry.text].map(folded);
  const begins = (content: string) => content.split(/[^\p{L}\p{N}]+/u).some((w) => w.startsWith(word));
  if (places[0] === word) return 0;
  const whole = places.findIndex(begins);
  if (whole >= 0) return 1 + 2 * whole;
  const part = places.findIndex((content) => content.includes(word));
  return part >= 0 ? 10 + 2 * part : Infinity;
}

/** The entries that have all words, best first. */
export function search(entries: GalleryEntry[], words: string): GalleryEntry[] {
  const wanted = folded(words).split(/\s+/).filter(Boolean);
  const found = entries.map((entry) => {
    const exact = folded(entry.name) === wanted.join(" ") ? -1 : 0;
    return { entry, far: wanted.reduce((sum, word) => sum + distance(entry, word), exact) };
  });
  return found.filter(({ far }) => far < Infinity)
    .sort((a, b) => a.far - b.far).map(({ entry }) => entry);
}

function Drawing({ picture }: { picture: Picture }) {
  return (
    <svg class="picture" viewBox="0 0 96 56" width="72" height="42" aria-hidden="true">
      {picture.lines.map(([x1, y1, x2, y2, isWire], n) =>
        <line key={n} x1={x1} y1={y1} x2={x2} y2={y2} class={isWire ? "wire" : ""} />)}
      {picture.nodes.map(([x, y, kind], n) => (kind === "ap"
        ? <rect key={n} class="ap" x={x - 4} y={y - 4} width="8" height="8" />
        : <circle key={n} class={kind} cx={x} cy={y} r={picture.nodes.length > 12 ? 2 : 3} />))}
    </svg>
  );
}

export function Gallery({ entries }: { entries: GalleryEntry[] }) {
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const card = useRef<HTMLDetailsElement>(null);
  const shown = search(entries, words);
  const open = (entry: GalleryEntry) => {
    openEntry(entry);
    if (innerWidth <= 900 && card.current) card.current.open = false;
  };
  const move = (event: KeyboardEvent) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(to, shown.length - 1));
    setAt(next);
    list.current?.querySelectorAll<HTMLElement>(".entry")[next]?.focus();
  };
  return (
    <details class="card gallery" open={innerWidth > 900} ref={card}>
      <summary><h2>Gallery</h2></summary>
      <input type="search" placeholder="Search the gallery" aria-label="Search the gallery"
        value={words} onInput={(event) => { setWords(event.currentTarget.value); setAt(0); }}
        onKeyDown={(event) => { if (event.key === "Enter" && shown[0]) open(shown[0]); }} />
      <ul ref={list} onKeyDown={move}>
        {shown.map((entry, number) => (
          <li key={entry.name}>
            <button class="entry" tabIndex={number === Math.min(at, shown.length - 1) ? 0 : -1}
              aria-current={opened.value === entry ? "true" : undefined}
              onFocus={() => setAt(number)} onClick={() => open(entry)}>
              <Drawing picture={entry.picture} />
              <span><strong>{entry.name.replaceAll("_", " ")}</strong>
                <span>{entry.title}</span></span>
            </button>
          </li>
        ))}
        {shown.length === 0 && <li class="dim">Nothing matches.</li>}
      </ul>
    </details>
  );
}

/** Starts from the scenario as it came, unless the user has written something since. */
async function vary(entry: GalleryEntry, one: Try | null): Promise<void> {
  const key = one ? one.set.join("\n") : AS_IT_CAME;
  try {
    const base = made.has(text.value) ? entry.text : text.value;
    const next = one
      ? (await send<{ text: string }>("POST", "/api/edit", { text: base, set: one.set })).text
      : entry.text;
    if (base === entry.text) made.set(next, key);
    text.value = next;
    said.value = one ? `Changed: ${one.set.join(", ")}. Run it, and compare the two runs.` : "";
  } catch (error) {
    said.value = (error as Error).message;
  }
}

export function Tries() {
  const entry = opened.value;
  if (!entry || entry.tries.length === 0) return null;
  const now = made.get(text.value);
  const button = (one: Try | null, words: string) => (
    <button type="button" aria-pressed={now === (one ? one.set.join("\n") : AS_IT_CAME)}
      title={one?.set.join(", ")} onClick={() => vary(entry, one)}>{words}</button>
  );
  return (
    <div class="tries" role="group" aria-label={`Try with ${entry.name}`}>
      <span class="dim">Try</span>
      {button(null, "as it came")}
      {entry.tries.map((one) => button(one, labelled(one)))}
    </div>
  );
}

/** Words that go on from the setting need it before them. */
function labelled({ set, words }: Try): string {
  const settings = set.join(", ");
  if (!words) return settings;
  return /^or /.test(words) ? `${settings} (${words})` : words;
}
