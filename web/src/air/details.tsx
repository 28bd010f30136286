// What is known of the selected frame, its packets, and the life of one of them.

import { duration, time } from "./draw";
import type { Frame, Model, Step } from "./model";
import { mode, outcome } from "./table";

const MOST_PACKETS = 64;

export function Details({ model, frame, life, follow, reveal }: {
  model: Model; frame: Frame; life: Step[]; follow: (packet: number) => void;
  reveal: (number: number) => void;
}) {
  const { about } = model;
  const name = (radio: number | null) => (radio === null ? "all" : about.radios[radio]);
  const rows: [string, string][] = [
    ["begins", time(frame.start_ns, 1)],
    ["lasts", duration(frame.end_ns - frame.start_ns)],
    ["preamble", duration(frame.preamble_ns)],
    ["rate", mode(frame)],
    ["PSDU", `${frame.psdu_bytes.toLocaleString("en")} bytes`],
    ["MPDUs", `${frame.received} of ${frame.mpdus} received, ${frame.retried} again`],
    ["Duration", duration(frame.nav_ns)],
    ["exchange", String(frame.exchange)],
    ["category", about.access_category[frame.access_category]],
  ];
  if (frame.mpdus === 0) rows.splice(5, 1);
  if (frame.tones !== null) rows.splice(4, 0, ["resource unit", unit(frame)]);
  if (frame.padding_bytes) {
    const lasts = duration(8000 * frame.padding_bytes / frame.rate_mbps);
    const bytes = `${frame.padding_bytes.toLocaleString("en")} bytes, ${lasts}`;
    rows.splice(rows.findIndex(([label]) => label === "PSDU") + 1, 0, ["padding", bytes]);
  }
  if (frame.punctured) {
    rows.splice(4, 0, ["punctured", `${frame.punctured}, of ${frame.width_mhz} MHz`]);
  }
  const named = frame.stations ?? [...(frame.named ?? []).map(name),
    ...(frame.random_units ? [`${frame.random_units} RA-RUs`] : [])].join(", ");
  if (frame.trigger != null) {
    const whom = named && `, asks ${named}`;
    rows.unshift(["Trigger", about.trigger[frame.trigger] + whom]);
  } else if (named) rows.unshift(["Multi-STA", `acknowledges ${named}`]);
  if (frame.signal_dbm !== null) rows.push(["signal", `${frame.signal_dbm.toFixed(1)} dBm`]);
  const packets = frame.mpdus_carried ?? [];
  return (
    <aside class="card details" aria-label="Selected frame">
      <h2>{about.kind[frame.kind]} {name(frame.from)} → {name(frame.to)}</h2>
      <p class={frame.is_lost ? "fault" : ""}>{outcome(model, frame)}</p>
      <dl>
        <div><dt>frame</dt><dd>{frame.number}</dd></div>
        {rows.map(([label, value]) => <div key={label}><dt>{label}</dt><dd>{value}</dd></div>)}
      </dl>
      {packets.length > 0 && (
        <>
          <h3>Packets</h3>
          <ul class="packets">
            {packets.slice(0, MOST_PACKETS).map((mpdu) => (
              <li key={mpdu.packet}>
                <button onClick={() => follow(mpdu.packet)}>Life of packet {mpdu.packet}</button>
                <span class="dim">{mpdu.flow === null ? "" : about.flows[mpdu.flow]}
                  {mpdu.segment && `: ${mpdu.segment}`}{mpdu.retry && ", again"}
                  {!mpdu.received && ", not received"}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {life.length > 0 && (
        <>
          <h3>{life[0].what === "segment" ? "From write to ACK" : "On the air"}: {duration(life[life.length - 1].at_ns - life[0].at_ns)}</h3>
          <ol class="life">
            {life.map((step) => (
              <li key={`${step.at_ns} ${step.what} ${step.step} ${step.frame?.number}`}>
                <span class="dim">{duration(step.at_ns - life[0].at_ns)}</span>{" "}
                {step.frame
                  ? <button class="plain" onClick={() => reveal(step.frame!.number)}>
                    {sentence(model, step)}</button>
                  : sentence(model, step)}
              </li>
            ))}
          </ol>
        </>
      )}
    </aside>
  );
}

/** The tones of a user, and its place among the units of that size. */
function unit(frame: Frame): string {
  const place = frame.ru_index == null ? "" : `, number ${frame.ru_index}`;
  return `${frame.tones} tones${place}`;
}

function sentence(model: Model, step: Step): string {
  const { about } = model;
  if (step.what === "frame") {
    const { frame, mpdu } = step;
    return `${about.radios[frame!.from]} sends it in frame ${frame!.number}`
      + `${mpdu!.retry ? ", again" : ""}${mpdu!.received ? "" : ", lost"}`;
  }
  if (step.what === "packet") {
    const lists = [about.nodes, about.radios, about.wires];
    const place = lists[step.place_kind!][step.place!];
    const cause = step.cause == null ? "" : ` (${about.cause[step.cause]})`;
    const waiting = step.waiting == null ? "" : `, behind ${step.waiting}`;
    return `${about.step[step.step!]} at ${place}${cause}${waiting}`;
  }
  if (step.what === "acknowledged") return `its ACK ${step.ack} arrives at the sender`;
  const length = step.length_bytes ? `, ${step.length_bytes} bytes` : "";
  const again = step.retransmission ? ", a retransmission" : "";
  return `segment ${step.seq}${length} ${step.received ? "received" : "sent"}${again}`;
}
