// Holds the simulator, so that the page stays responsive and a run can be stopped.
"use strict";

const ready = fetch("simoom.wasm")
  .then((answer) => {
    if (!answer.ok) throw new Error("this copy of the site lacks simoom.wasm: make lesson site");
    return answer.arrayBuffer();
  })
  .then((bytes) => WebAssembly.instantiate(bytes))
  .then(({ instance }) => instance.exports);

ready.then(() => postMessage({ ready: true }), (error) => postMessage({ error: error.message }));

onmessage = async ({ data: { text, seed } }) => {
  const simulator = await ready;
  try {
    const written = new TextEncoder().encode(text);
    const address = simulator.input(written.length);
    new Uint8Array(simulator.memory.buffer, address, written.length).set(written);
    const length = simulator.run(seed);
    const found = new Uint8Array(simulator.memory.buffer, simulator.output(), length);
    postMessage({ found: JSON.parse(new TextDecoder().decode(found)) });
  } catch (error) {
    postMessage({ error: `the simulator ended: ${error.message}` });
  }
};
