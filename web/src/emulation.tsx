// The emulation beside which the server runs: how late it is, and what its ports carry.

import { emulation, type EmulatedPort, type Emulation } from "./api";

const time = (seconds: number) =>
  seconds < 1e-3 ? `${(1e6 * seconds).toFixed(0)} µs` : `${(1e3 * seconds).toPrecision(3)} ms`;

function Row({ port }: { port: EmulatedPort }) {
  return (
    <tr>
      <th scope="row">{port.name}{port.at !== port.name && ` (${port.at})`}</th>
      <td class="number" data-name="sends">{port.sent_mbps.toFixed(2)} Mb/s</td>
      <td class="number" data-name="receives">{port.received_mbps.toFixed(2)} Mb/s</td>
      <td class="number" data-name="ping">{port.ping_s === null ? "–" : time(port.ping_s)}</td>
      <td class="number" data-name="queue">{port.queue === null ? "–" : port.queue.toFixed(0)}</td>
      <td class="number" data-name="on the way">{port.on_the_way}</td>
    </tr>
  );
}

/** The uses of the air that took any, as bars. */
function Airtime({ uses }: { uses: Emulation["airtime"] }) {
  return (
    <figure class="bars airtime">
      <figcaption>Airtime in the last half second</figcaption>
      {uses.filter((use) => use.fraction > 0).map((use) => (
        <div class="row" key={use.name}>
          <span class="label">{use.name}</span>
          <svg height="14" aria-hidden="true">
            <rect width={`${100 * Math.min(use.fraction, 1)}%`} height="14" />
          </svg>
          <span class="value">{(100 * use.fraction).toFixed(1)} %</span>
        </div>
      ))}
    </figure>
  );
}

export function EmulationBanner() {
  const told = emulation.value;
  if (!told) return null;
  const isSoFar = told.state === "running" && told.verdict === "kept up";
  return (
    <section class={`emulation ${told.verdict.split(" ")[0]}`} aria-label="Emulation">
      <p>
        <b>{told.state === "running" ? "Emulation runs" : "Emulation has ended"}</b>: {told.title},{" "}
        {told.at_s.toFixed(1)} s. <b>{told.verdict}{isSoFar && " so far"}</b>: late by {time(told.max_s)} at most
        {told.state === "running" && `, ${time(told.recent_max_s)} in the last half second`};{" "}
        {told.above_1ms} of {told.handed_over} packets by more than 1 ms. {told.dropped} dropped in
        the network.{" "}
        {told.run && <a href={`#/run/${told.run}`}>Its run in the library</a>}
      </p>
      {told.state === "running" && (
        <table class="cards">
          <thead><tr>
            <th scope="col">Port</th><th scope="col">sends</th><th scope="col">receives</th>
            <th scope="col">ping</th><th scope="col">queue of its node</th>
            <th scope="col">on the way</th>
          </tr></thead>
          <tbody>{told.ports.map((port) => <Row key={port.name} port={port} />)}</tbody>
        </table>
      )}
      {told.state === "running" && told.airtime.length > 0 && <Airtime uses={told.airtime} />}
    </section>
  );
}
