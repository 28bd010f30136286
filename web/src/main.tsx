// The page: its views, by the part of the address after #.

import { signal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { attach, get, has, isOnline, runs, said, start, type Start } from "./api";
import { AirView } from "./air/page";
import { LessonSteps } from "./lessons";
import { LibraryView } from "./library";
import { hasScenario } from "./link";
import { Local } from "./local/host";
import { Compare } from "./compare";
import { EmulationBanner } from "./emulation";
import { Pending } from "./pending";
import { RunView } from "./run";
import { openLinked, ScenarioView } from "./scenario";
import { HearingView } from "./hearing";
import { Server } from "./server";
import { SweepView } from "./sweep";
import { TwinView } from "./twin";
import { WhyView } from "./why";

const address = signal(location.hash.slice(1) || "/scenario");
addEventListener("hashchange", () => {
  said.value = "";
  address.value = location.hash.slice(1) || "/scenario";
});

function Navigation({ view }: { view: string }) {
  const active = runs.value.filter((run) => run.state === "running" || run.state === "waiting");
  const tab = (name: string, label: string, own: string[]) => (
    <a href={`#/${name}`} aria-current={own.includes(view) ? "page" : undefined}>{label}</a>
  );
  return (
    <header class="top">
      <a class="brand" href="#/scenario" aria-label="Simoom, scenario">Simoom</a>
      <nav aria-label="Views">
        {tab("scenario", "Scenario", ["scenario", "hearing"])}
        {tab("runs", "Runs", ["runs", "run", "compare", "why", "twin"])}
        {tab("air", "Air", ["air"])}
        {has("sweep") && tab("sweep", "Sweep", ["sweep"])}
      </nav>
      <span class="state" role="status">
        {!isOnline.value ? "no connection" : active.length ? `${active.length} in progress` : ""}
      </span>
    </header>
  );
}

/** The address after # names a view, so that it cannot name a place in one. */
const focusMain = () => document.querySelector("main")!.focus();

function App() {
  const [fault, setFault] = useState("");
  useEffect(() => {
    get<Start>("/api/start").then((own) => (start.value = own), (error) => setFault(String(error.message)));
  }, []);
  const [path, query] = address.value.split("?");
  const [, view = "scenario", first = "", second = ""] = path.split("/");
  const options = new URLSearchParams(query);
  useEffect(() => {
    if (start.value && view === "scenario" && hasScenario(options)) {
      openLinked(options, start.value);
    }
  }, [address.value, start.value]);
  useEffect(() => {
    document.title = `${view[0].toUpperCase()}${view.slice(1)} – Simoom`;
  }, [address.value]);
  let main = <Pending title="Simoom" text={fault} />;
  if (start.value) {
    if (view === "runs") main = <LibraryView />;
    else if (view === "run") main = <RunView key={first} id={first} />;
    else if (view === "why") main = <WhyView key={first} id={first} />;
    else if (view === "twin") main = <TwinView key={first} id={first} />;
    else if (view === "hearing") main = <HearingView />;
    else if (view === "sweep") main = <SweepView key={first} id={first} />;
    else if (view === "compare") main = <Compare key={first + second} ids={[first, second]} />;
    else if (view === "air") main = <AirView key={first} id={first} options={options} />;
    else main = <ScenarioView start={start.value} />;
  }
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); focusMain(); }}>
        Skip to the content</a>
      <Navigation view={view} />
      <EmulationBanner />
      <LessonSteps />
      <main id="main" tabIndex={-1}>{main}</main>
      <p class="said" role="status" aria-live="polite">{said.value}</p>
    </>
  );
}

const isAlone = document.querySelector<HTMLMetaElement>("meta[name=host]")?.content === "page";
attach(isAlone ? new Local() : new Server());
if (location.search) history.replaceState(null, "", `${location.pathname}${location.hash}`);
render(<App />, document.getElementById("app")!);
