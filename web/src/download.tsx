// What can be taken away from a run or a sweep.

import { useRef, useState } from "preact/hooks";
import { bytes, said } from "./api";

/** A menu of files, by name and words. Reports, pictures and captures take as long as a run. */
export function Download({ from, files, query = "" }: {
  from: string; files: [string, string][]; query?: string;
}) {
  const [coming, setComing] = useState("");
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => { menu.current!.open = false; };
  const take = async (name: string) => {
    setComing(name);
    said.value = "";
    try {
      const data = await bytes(`${from}/${name}${query}`);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([data]));
      link.download = name;
      link.click();
      URL.revokeObjectURL(link.href);
    } catch (error) {
      said.value = (error as Error).message;
    }
    setComing("");
  };
  return (
    <details class="menu" ref={menu}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        close();
        menu.current!.querySelector("summary")!.focus();
      }}
      onFocusOut={({ relatedTarget }) => {
        // The focus goes nowhere while a button that is disabled had it.
        if (relatedTarget && !menu.current!.contains(relatedTarget as Node)) close();
      }}>
      <summary class="button">{coming ? `${coming} is made …` : "Download"}</summary>
      <ul>
        {files.map(([name, words]) => (
          <li key={name}><button type="button" disabled={coming !== ""}
            onClick={() => take(name)}>{words}</button></li>))}
      </ul>
    </details>
  );
}
