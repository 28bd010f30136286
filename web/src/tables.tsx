// The sections of a report as tables.

import { useState } from "preact/hooks";
import type { Table } from "./api";

/** A longer table shows its first rows, until all are asked for. */
const MOST_ROWS = 50;

function Section({ table }: { table: Table }) {
  const [all, setAll] = useState(false);
  const { title, caption, columns, rows } = table;
  const kind = (place: number) => (columns[place].words ? undefined : "number");
  const name = <><strong>{title}</strong> {caption}</>;
  if (rows.length === 0) return <p>{name}</p>;
  return (
    <section>
      <div class="wide" tabIndex={0} role="group" aria-label={title}>
        <table>
          <caption>{name}</caption>
          <thead><tr>
            {columns.map(({ heading }, place) =>
              <th key={place} scope="col" class={kind(place)}>{heading}</th>)}
          </tr></thead>
          <tbody>
            {rows.slice(0, all ? undefined : MOST_ROWS).map((row, number) => (
              <tr key={number}>
                {row.map((cell, place) => (place === 0
                  ? <th key={place} scope="row">{cell}</th>
                  : <td key={place} class={kind(place)}>{cell}</td>))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!all && rows.length > MOST_ROWS &&
        <button onClick={() => setAll(true)}>All {rows.length} rows</button>}
    </section>
  );
}

export function Tables({ tables }: { tables: Table[] }) {
  return <div class="report">{tables.map((own) => <Section key={own.title} table={own} />)}</div>;
}
