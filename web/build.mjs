// Builds the page into the Python package: `make web`.

import { build, transform } from "esbuild";
import { createHash } from "node:crypto";
import { copyFile, readFile, readdir, writeFile } from "node:fs/promises";

const OUT = "../python/simoom/serve/static";

const options = {
  outdir: OUT,
  bundle: true,
  format: "esm",
  target: ["chrome110", "firefox115", "safari16"],
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: true,
  legalComments: "none",
  logLevel: "warning",
};
await build({ ...options, entryPoints: {
  app: "src/main.tsx", trace: "src/trace.tsx", worker: "src/local/worker.ts",
  offline: "src/local/offline.ts",
} });
// The widget of notebooks is one file, with its styles as a text.
const styles = {
  name: "styles",
  setup: ({ onLoad }) => onLoad({ filter: /\.css$/ }, async ({ path }) => {
    const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true });
    return { contents: code, loader: "text" };
  }),
};
await build({ ...options, entryPoints: { widget: "src/widget.tsx" }, plugins: [styles] });
await copyFile("index.html", `${OUT}/index.html`);

// The licences of what is bundled: every package that is not for development.
const lock = JSON.parse(await readFile("package-lock.json", "utf8"));
const parts = [];
for (const [path, entry] of Object.entries(lock.packages)) {
  if (!path || entry.dev || entry.optional) continue;
  const files = await readdir(path);
  const file = files.find((name) => /^licen[cs]e/i.test(name));
  const text = file ? await readFile(`${path}/${file}`, "utf8") : entry.license;
  parts.push(`${path.replace("node_modules/", "")} ${entry.version}\n\n${text.trim()}\n`);
}
await writeFile(`${OUT}/licences.txt`, parts.join("\n---\n\n"));

// A hash of the sources, by which the tests see without Node that the page is current.
const sources = (await readdir("src", { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => `${entry.parentPath}/${entry.name}`);
const hash = createHash("sha256");
for (const path of [...sources, "build.mjs", "index.html", "package-lock.json"].sort()) {
  hash.update(`${path}\n`).update(await readFile(path));
}
await writeFile(`${OUT}/sources.txt`, `${hash.digest("hex")}\n`);
