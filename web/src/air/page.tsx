// The view of the air: the timeline of a run, or the runs that have one.

import { useMemo } from "preact/hooks";
import { nameOf, runs, said } from "../api";
import { served } from "./model";
import { AirTimeline, type Shown } from "./timeline";

export function AirView({ id, options }: { id: string; options: URLSearchParams }) {
  const source = useMemo(() => served(id), [id]);
  if (!id) return <Choose />;
  const share = ({ from, to, frame }: Shown) => {
    const chosen = frame === null ? "" : `&frame=${frame}`;
    history.replaceState(null, "", `#/air/${id}?t=${from},${to}${chosen}`);
    said.value = "The address of the page has this stretch now.";
  };
  const [from, to] = (options.get("t") ?? "0,0").split(",").map(Number);
  const frame = options.has("frame") ? Number(options.get("frame")) : null;
  const entry = runs.value.find((run) => run.id === id);
  return (
    <AirTimeline isPage source={source} say={(text) => (said.value = text)}
      begin={{ from, to, frame }} share={share} title={entry ? nameOf(entry) : "Air"} />
  );
}

function Choose() {
  const own = runs.value.filter((run) => run.has_air);
  return (
    <div class="library"><h1>Air</h1>
      {own.length === 0
        ? <p>No run has a timeline yet. <a href="#/scenario">Run a scenario</a> with “Timeline of
          the air”.</p>
        : <ul class="choose">{own.map((run) => (
          <li key={run.id}><a href={`#/air/${run.id}`}>{nameOf(run)}</a>, seed {run.seed}</li>
        ))}</ul>}
    </div>
  );
}
