// The page of a trace: the timeline of a stretch, whose rows are in the page.

import { render } from "preact";
import { useState } from "preact/hooks";
import { embedded, type Rows } from "./air/rows";
import { AirTimeline, type Shown } from "./air/timeline";

const source = embedded(JSON.parse(document.getElementById("data")!.textContent!) as Rows);

/** Stretch, in seconds, and frame of the address. */
function asked(): Partial<Shown> {
  const parts = new URLSearchParams(location.hash.slice(1));
  const [from, to] = (parts.get("t") ?? "0,0").split(",").map((text) => 1e9 * Number(text));
  return { from, to, frame: parts.has("frame") ? Number(parts.get("frame")) : null };
}

function share({ from, to, frame }: Shown): void {
  const stretch = [from, to].map((ns) => (ns / 1e9).toFixed(9)).join(",");
  history.replaceState(null, "", `#t=${stretch}${frame === null ? "" : `&frame=${frame}`}`);
}

function Page({ begin }: { begin: Partial<Shown> }) {
  const [said, say] = useState("");
  return (
    <>
      <AirTimeline isPage source={source} say={say} title={document.title} begin={begin}
        share={(shown) => {
          share(shown);
          say("The address of the page has this stretch now.");
        }} />
      <p id="said" class="said" role="status" aria-live="polite">{said}</p>
    </>
  );
}

const place = document.getElementById("timeline")!;
place.replaceChildren();
const show = () => render(<Page key={location.hash} begin={asked()} />, place);
addEventListener("hashchange", show);
show();
