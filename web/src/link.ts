// Links that hold a scenario and a seed behind #, which no browser sends to a server.

import { said } from "./api";

/** Bytes as text of an address (RFC 4648 section 5, without padding). */
function coded(data: Uint8Array): string {
  const binary = Array.from(data, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decoded(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (char) => char.charCodeAt(0));
}

async function through(data: Uint8Array<ArrayBuffer>, by: GenericTransformStream) {
  const stream = new Blob([data]).stream().pipeThrough(by);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The link of a scenario and a seed; the text is deflated where the browser can. */
export async function link(text: string, seed: number): Promise<string> {
  const data = new TextEncoder().encode(text);
  const packed = "CompressionStream" in globalThis
    ? `z=${coded(await through(data, new CompressionStream("deflate")))}` : `text=${coded(data)}`;
  return `${location.origin}${location.pathname}#/scenario?seed=${seed}&${packed}`;
}

/** Whether a link has a scenario: its text, plain or deflated, or its name in the gallery. */
export const hasScenario = (options: URLSearchParams) =>
  ["text", "z", "entry"].some((name) => options.has(name));

/** The text of a link. */
export async function linked(options: URLSearchParams): Promise<string> {
  const packed = options.get("z");
  const data = packed === null ? decoded(options.get("text")!)
    : await through(decoded(packed), new DecompressionStream("deflate"));
  return new TextDecoder("utf-8", { fatal: true }).decode(data);
}

/** Copies the link; without leave to do so, the address of the page becomes it. */
export async function copyLink(text: string, seed: number): Promise<void> {
  const address = await link(text, seed);
  try {
    await navigator.clipboard.writeText(address);
    said.value = "The link is copied. It holds scenario and seed.";
  } catch {
    location.href = address;
  }
}
