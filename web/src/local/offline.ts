// The page works without a network, once it has been loaded: what comes is kept.

/** What lib.dom lacks of a service worker. */
interface Extended extends Event {
  waitUntil(until: Promise<unknown>): void;
  request: Request; respondWith(answer: Promise<Response>): void;
}
interface Scope { clients: { claim(): Promise<void> } }

const CACHE = "simoom playground";
const FILES = [
  "./", "index.html", "app.js", "app.css", "worker.js", "simoom.wasm", "start.json", "facts.json",
  "schema.json",
];

addEventListener("install", (event) => {
  (event as Extended).waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)));
});

// The page that has installed it is served by it, too, and needs no second visit.
addEventListener("activate", (event) => {
  (event as Extended).waitUntil((globalThis as unknown as Scope).clients.claim());
});

/** The newest, if there is a network; else what was kept. */
async function answer(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  try {
    const fresh = await fetch(request);
    if (fresh.ok) await cache.put(request, fresh.clone());
    return fresh;
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (!kept) throw error;
    return kept;
  }
}

addEventListener("fetch", (event) => {
  const { request } = event as Extended;
  if (request.method === "GET") (event as Extended).respondWith(answer(request));
});
