// The server of `simoom serve`: requests, and the WebSocket that says what runs.

import { ApiError, type Host, type Issue, type Told } from "./api";

const AGAIN_MS = 1500;

async function answered(response: Response): Promise<Response> {
  if (response.ok) return response;
  const text = await response.text();
  let body: { error?: string; issues?: Issue[] } = {};
  try {
    body = JSON.parse(text);
  } catch {
    body = { error: text.trim() };
  }
  const issues = body.issues ?? [];
  const first = issues[0] && `${issues[0].path}: ${issues[0].message}`;
  throw new ApiError(body.error ?? first ?? `the server answers ${response.status}`, issues);
}

export class Server implements Host {
  private socket: WebSocket | null = null;

  async ask(
    method: string, path: string, body?: unknown, signal?: AbortSignal,
  ): Promise<unknown> {
    const options: RequestInit = { method, signal };
    if (body !== undefined) options.body = JSON.stringify(body);
    return (await answered(await fetch(path, options))).json();
  }

  async bytes(path: string, signal?: AbortSignal): Promise<ArrayBuffer> {
    return (await answered(await fetch(path, { signal }))).arrayBuffer();
  }

  connect(told: (message: Told) => void, online: (is: boolean) => void): void {
    this.socket = new WebSocket(`ws://${location.host}/api/live`);
    this.socket.onopen = () => online(true);
    this.socket.onmessage = (event) => told(JSON.parse(event.data));
    this.socket.onclose = () => {
      online(false);
      setTimeout(() => this.connect(told, online), AGAIN_MS);
    };
  }

  tell(message: unknown): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}
