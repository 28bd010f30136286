// The view of the scenario: gallery, editor, form and map of one text.

import { effect, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import {
  ApiError, get, has, queue, said, send, type DraftState, type Start,
} from "./api";
import { Editor } from "./editor";
import { Form } from "./form";
import { Gallery, openEntry, opened, remember, search, Tries } from "./gallery";
import { Intro } from "./lessons";
import { copyLink, linked } from "./link";
import { SpaceView } from "./space";
import { Keys, type Schema } from "./schema";

const KEPT = "simoom scenario";
const CHECK_MS = 250;
/** What the page opens if the server was started without a scenario. */
const START = "performance_anomaly";

export const text = signal("");
/** The scenario with which the server was started: a text is kept while it is the same. */
const first = signal<string | null>(null);
const seed = signal(1);
const name = signal("");
const state = signal<DraftState>({ issues: [], keys: null, map: null });
export const schema = signal<Keys | null>(null);

/** The scenario as it is now, for views of it. */
export const draft = () => ({ text: text.value, seed: seed.value });

export function openText(content: string, own = 1, title = ""): void {
  text.value = content;
  seed.value = own;
  name.value = title;
  remember(null);
}

export async function openLinked(options: URLSearchParams, start: Start): Promise<void> {
  const asked = options.get("entry");
  const entry = start.gallery.find(({ name }) => name === asked);
  if (asked !== null && !entry) {
    const near = search(start.gallery, asked).map(({ name }) => name)[0];
    said.value = `The link names ${asked}, which the gallery does not have`
      + (near ? `; a search for it finds ${near}.` : ".");
    return;
  }
  try {
    if (entry) openEntry(entry);
    else openText(await linked(options), Number(options.get("seed")) || 1);
    history.replaceState(null, "", "#/scenario");
  } catch {
    said.value = "The link holds no scenario.";
  }
}

/** The text that was here before the page was loaded again, and its name in the gallery. */
function kept(own: string | null): { text: string; entry?: string } | null {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
    return found && found.first === own ? found : null;
  } catch {
    return null;
  }
}

let timer = 0;
let asked = new AbortController();
effect(() => {
  const content = text.value;
  if (!content) return;
  try {
    const own = { first: first.value, text: content, entry: opened.value?.name };
    sessionStorage.setItem(KEPT, JSON.stringify(own));
  } catch {
    // The text is then lost when the page is loaded again.
  }
  clearTimeout(timer);
  timer = window.setTimeout(() => check(content), CHECK_MS);
});

async function check(content: string): Promise<void> {
  // The server ends a check that nobody waits for.
  asked.abort();
  const own = asked = new AbortController();
  try {
    const found = await send<DraftState>("POST", "/api/check", { text: content }, own.signal);
    if (own === asked) state.value = found;
  } catch (error) {
    const message = (error as Error).message;
    const issues = [{ path: "", message, from: 0, to: 0, line: 1 }];
    if (own === asked) state.value = { issues, keys: null, map: null };
  }
}

let edits: Promise<void> = Promise.resolve();

/** Changes one value of the text, after the changes before it; the editor and the form show it. */
export function change(path: string, value: unknown): Promise<void> {
  return (edits = edits.then(() => edit(path, value)));
}

async function edit(path: string, value: unknown): Promise<void> {
  try {
    let before, after;
    do {
      before = text.value;
      after = (await send<{ text: string }>("POST", "/api/edit", { text: before, path, value })).text;
    } while (text.value !== before); // Somebody typed into the text meanwhile.
    text.value = after;
    said.value = "";
  } catch (error) {
    said.value = (error as Error).message;
  }
}

async function run(air: boolean): Promise<void> {
  try {
    const body = { text: text.value, seed: seed.value, name: name.value, air };
    const id = await queue(body);
    said.value = "";
    location.hash = `#/run/${id}`;
  } catch (error) {
    const issues = (error as ApiError).issues ?? [];
    if (issues.length) state.value = { ...state.value, issues };
    said.value = (error as Error).message;
  }
}

function Code() {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  useEffect(() => {
    const own = new Editor(host.current!, text.value, () => schema.value,
      (content) => (text.value = content));
    editor.current = own;
    const ends = [
      effect(() => own.set(text.value)),
      effect(() => own.mark(state.value.issues)),
    ];
    return () => {
      ends.forEach((end) => end());
      own.destroy();
    };
  }, []);
  const issues = state.value.issues;
  return (
    <>
      <div class="editor" ref={host} />
      <div class="issues" role="status" aria-live="polite">
        {issues.length === 0
          ? <p class="fine">No faults.</p>
          : (
            <ul>
              {issues.map((issue) => (
                <li key={issue.path + issue.message}>
                  <button class="issue" onClick={() => editor.current?.show(issue.from)}>
                    line {issue.line}
                  </button>
                  <span>{issue.path && <code>{issue.path}</code>} {issue.message}</span>
                </li>
              ))}
            </ul>
          )}
      </div>
    </>
  );
}

function RunBar({ air, setAir }: { air: boolean; setAir: (wants: boolean) => void }) {
  const isFine = state.value.issues.length === 0;
  return (
    <form class="bar" onSubmit={(event) => { event.preventDefault(); run(air); }}>
      <button class="primary" disabled={!isFine} aria-keyshortcuts="Control+Enter"
        title="Ctrl+Enter">Run</button>
      <label>Seed
        <input type="number" min="0" step="1" class="short" value={seed.value}
          onInput={(event) => (seed.value = Math.floor(Number(event.currentTarget.value)) || 0)} />
      </label>
      <label>Name
        <input type="text" maxLength={200} value={name.value} placeholder="optional"
          onInput={(event) => (name.value = event.currentTarget.value)} />
      </label>
      <label class="check">
        <input type="checkbox" checked={air}
          onChange={(event) => setAir(event.currentTarget.checked)} /> Timeline of the air
      </label>
      <button type="button" onClick={() => copyLink(text.value, seed.value)}>Copy link</button>
      {state.value.keys?.radio && has("hearing") && <a class="button" href="#/hearing">Who hears whom</a>}
    </form>
  );
}

export function ScenarioView({ start }: { start: Start }) {
  const [tab, setTab] = useState<"text" | "form">("text");
  const [air, setAir] = useState(true);
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    if (state.value.issues.length === 0) run(air);
  };
  useEffect(() => {
    first.value = start.first?.text ?? null;
    if (!text.value) {
      const before = kept(first.value);
      const named = (name?: string) => start.gallery.find((entry) => entry.name === name);
      const entry = named(before?.entry ?? (before ? undefined : start.first?.entry ?? START));
      openText(before?.text ?? first.value ?? entry!.text);
      if (entry) remember(entry);
    }
    if (!schema.value) get<Schema>("/api/schema").then((own) => (schema.value = new Keys(own)));
  }, []);
  const tabs = (["text", "form"] as const).map((own) => (
    <button role="tab" id={`tab-${own}`} aria-selected={tab === own} aria-controls="draft"
      onClick={() => setTab(own)}>{own === "text" ? "Text" : "Form"}</button>
  ));
  return (
    <div class="scenario" onKeyDownCapture={press}>
      <h1 class="hidden">Scenario</h1>
      <Intro entries={start.gallery} />
      <Gallery entries={start.gallery} />
      <section class="card draft" aria-label="Scenario">
        <RunBar air={air} setAir={setAir} />
        <Tries />
        <div role="tablist" aria-label="Views of the scenario" class="tabs">{tabs}</div>
        <div id="draft" role="tabpanel" aria-labelledby={`tab-${tab}`}>
          {tab === "text" ? <Code /> : <Form keys={state.value.keys} schema={schema.value}
            issues={state.value.issues} />}
        </div>
      </section>
      {state.value.map && <SpaceView map={state.value.map} />}
    </div>
  );
}
