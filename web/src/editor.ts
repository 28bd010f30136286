// The editor: TOML with completion from the schema, and faults at their places.

import { autocompletion, completionKeymap, type CompletionContext } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import {
  drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Issue } from "./api";
import type { Keys } from "./schema";

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--dim)" },
  { tag: [tags.propertyName, tags.variableName], color: "var(--accent)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.number, tags.atom, tags.bool], color: "var(--number)" },
]);

export class Editor {
  private readonly view: EditorView;
  private isSetting = false;

  constructor(parent: HTMLElement, text: string, keys: () => Keys | null,
    onChange: (text: string) => void) {
    const nonce = document.querySelector<HTMLMetaElement>("meta[name=nonce]")!.content;
    this.view = new EditorView({
      parent,
      state: EditorState.create({
        doc: text,
        extensions: [
          EditorView.cspNonce.of(nonce),
          lineNumbers(), history(), drawSelection(), highlightActiveLine(),
          highlightSelectionMatches(), lintGutter(),
          StreamLanguage.define(toml), syntaxHighlighting(colours),
          autocompletion({ override: [(context) => complete(context, keys())] }),
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, ...searchKeymap,
            ...lintKeymap]),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ "aria-label": "Scenario in TOML" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !this.isSetting) onChange(this.text);
          }),
        ],
      }),
    });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  set(text: string): void {
    if (text === this.text) return;
    this.isSetting = true;
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
    this.isSetting = false;
  }

  mark(issues: Issue[]): void {
    const end = this.view.state.doc.length;
    const diagnostics = issues.map((issue) => ({
      from: Math.min(issue.from, end), to: Math.min(issue.to, end), severity: "error" as const,
      message: issue.path ? `${issue.path}: ${issue.message}` : issue.message,
    }));
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
  }

  show(offset: number): void {
    const at = Math.min(offset, this.view.state.doc.length);
    this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at) });
    this.view.focus();
  }

  destroy(): void {
    this.view.destroy();
  }
}

function complete(context: CompletionContext, keys: Keys | null) {
  if (!keys) return null;
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  if (/^\s*#/.test(before)) return null;
  const table = tableAt(context.state.doc.sliceString(0, line.from));
  const pair = /^\s*([\w.]+)\s*=\s*("?)(\w*)$/.exec(before);
  if (pair) {
    const [, path, quote, word] = pair;
    const choices = keys.values([...table, ...path.split(".")]);
    if (!choices.length) return null;
    const isText = (label: string) => !quote && label !== "true" && label !== "false";
    const options = choices.map(({ label, detail }) => ({
      label, info: detail || undefined, apply: isText(label) ? `"${label}"` : label,
    }));
    return { from: context.pos - word.length, options };
  }
  const header = /^\s*\[{1,2}([\w.]*)$/.exec(before);
  const key = header ?? /^\s*([\w.]*)$/.exec(before);
  if (!key || (!key[1] && !context.explicit)) return null;
  const parts = key[1].split(".");
  const word = parts.pop()!;
  const choices = keys.keys(header ? parts : [...table, ...parts]);
  const options = choices.map(({ label, detail }) => ({ label, info: detail || undefined }));
  return { from: context.pos - word.length, options };
}

/** The keys of the last header of a text. */
function tableAt(text: string): string[] {
  const headers = [...text.matchAll(/^\s*\[{1,2}([\w.]+)\]{1,2}/gm)];
  return headers.length ? headers[headers.length - 1][1].split(".") : [];
}
