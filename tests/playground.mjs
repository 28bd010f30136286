// Runs scenarios in the worker of the playground, without a browser: what it says, as JSON.
// node playground.mjs FOLDER < scenarios.json

import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [folder] = process.argv.slice(2);
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const questions = JSON.parse(Buffer.concat(chunks).toString());

let take = null;
globalThis.postMessage = (message) => { if (message.id !== undefined) take(message); };
await import(pathToFileURL(`${folder}/worker.js`));
const module = await WebAssembly.compile(await readFile(`${folder}/simoom.wasm`));
const catalogue = JSON.parse(await readFile(`${folder}/facts.json`, "utf8"));

const found = [];
for (const question of questions) {
  // Each has a simulator of its own, as on the page.
  globalThis.onmessage({ data: { module, catalogue } });
  found.push(await new Promise((resolve) => {
    take = ({ value, error }) => resolve(value ?? { error });
    globalThis.onmessage({ data: { id: 1, question } });
  }));
}
console.log(JSON.stringify(found));
