// The form: the common keys of the text. A change edits the text.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Issue, Keys as Values } from "./api";
import { change } from "./scenario";
import type { Keys } from "./schema";

interface Of { keys: Values | null; schema: Keys | null; issues: Issue[] }

/** The steps of a path: those of `flows[0].to` are "flows", "0", "to". */
function steps(path: string): string[] {
  return path.replaceAll("[", ".").replaceAll("]", "").split(".");
}

/** The name of a choice: a text, or the key of a table. */
function chosen(value: unknown): string {
  if (value && typeof value === "object") return Object.keys(value)[0] ?? "";
  return value === null || value === undefined ? "" : String(value);
}

function Field({ path, label, type, of, choices }: {
  path: string; label: string; type: "text" | "number" | "choice"; of: Of; choices?: string[];
}) {
  const value = steps(path).reduce<unknown>((at, step) => (at as Values | null)?.[step], of.keys);
  const names = choices ?? of.schema?.values(steps(path)).map((own) => own.label) ?? [];
  const fault = of.issues.find((issue) => issue.path === path);
  const id = `form-${path}`;
  // What is being typed: the answer to a check arrives meanwhile and must not replace it.
  const [typed, setTyped] = useState<string | null>(null);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (input.current !== document.activeElement) setTyped(null);
  }, [of.keys]);
  const own = { id, "aria-invalid": !!fault, "aria-describedby": fault ? `${id}-fault` : undefined };
  const take = (text: string) => {
    if (type === "number" && text.trim() === "") return;
    const number = Number(text);
    change(path, type === "number" && Number.isFinite(number) ? number : text);
  };
  return (
    <div class="field">
      <label for={id}>{label} <code>{path}</code></label>
      {type === "choice"
        ? (
          <select {...own} value={chosen(value)} onChange={(e) => take(e.currentTarget.value)}>
            {[...new Set([...names, chosen(value)])].map((name) => (
              <option value={name}>{name || "default"}</option>
            ))}
          </select>
        )
        : (
          <input {...own} type="text" value={typed ?? chosen(value)} ref={input}
            inputMode={type === "number" ? "decimal" : "text"}
            onInput={(e) => setTyped(e.currentTarget.value)}
            onChange={(e) => take(e.currentTarget.value)} />
        )}
      {fault && <span class="fault" id={`${id}-fault`}>{fault.message}</span>}
    </div>
  );
}

export function Form(of: Of) {
  if (!of.keys) return <p class="pad">The form needs a text without faults of syntax.</p>;
  const flows = (of.keys.flows as Values[] | undefined) ?? [];
  const hasCell = of.keys.standard !== null && of.keys.standard !== undefined;
  return (
    <div class="form">
      <fieldset>
        <legend>Run</legend>
        <Field path="title" label="Title" type="text" of={of} />
        <Field path="duration_s" label="Simulated time, s" type="number" of={of} />
        <Field path="warmup_s" label="Warm-up, s" type="number" of={of} />
      </fieldset>
      {hasCell && (
        <fieldset>
          <legend>Cell</legend>
          <Field path="standard" label="Standard" type="choice" of={of} />
          {typeof of.keys.stations === "number" &&
            <Field path="stations" label="Stations" type="number" of={of} />}
          {of.keys.ap !== undefined &&
            <Field path="ap.queue" label="Queue of the access point" type="choice" of={of} />}
        </fieldset>
      )}
      {flows.map((flow, number) => (
        <fieldset key={number}>
          <legend>Flow {number}{flow.name ? `: ${flow.name}` : ""}</legend>
          <Field path={`flows[${number}].from`} label="From" type="text" of={of} />
          <Field path={`flows[${number}].to`} label="To" type="text" of={of} />
          <Field path={`flows[${number}].traffic`} label="Traffic" type="choice" of={of} />
          <Field path={`flows[${number}].control`} label="Congestion control" type="choice"
            of={of} />
        </fieldset>
      ))}
    </div>
  );
}
