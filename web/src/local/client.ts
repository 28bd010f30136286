// A worker with the simulator, and questions to it.

import type { Begin, Question } from "./worker";

interface Waiting { take: (value: unknown) => void; fail: (error: Error) => void }
export interface News {
  news: { progress: number; simulated_s: number; series: object }; owners: object;
}

export class Client {
  private readonly worker = new Worker("worker.js", { type: "module" });
  private readonly waiting = new Map<number, Waiting>();
  private asked = 0;
  /** A defect has stopped it: what it then answers may be wrong. */
  isBroken = false;

  constructor(begin: Begin, hear?: (news: News) => void) {
    this.worker.onmessage = ({ data }) => {
      if (data.news) {
        hear?.(data);
        return;
      }
      const own = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (data.error !== undefined) {
        this.isBroken = true;
        own?.fail(new Error(data.error));
      } else own?.take(data.value);
    };
    this.worker.onerror = (event) => this.fail(event.message || "the worker cannot be loaded");
    this.worker.postMessage(begin);
  }

  ask<T>(question: Question): Promise<T> {
    const id = ++this.asked;
    return new Promise<T>((take, fail) => {
      this.waiting.set(id, { take: take as (value: unknown) => void, fail });
      this.worker.postMessage({ id, question });
    });
  }

  /** Ends the worker at once, whatever it does. */
  end(): void {
    this.worker.terminate();
    this.fail("stopped");
  }

  private fail(why: string): void {
    for (const { fail } of this.waiting.values()) fail(new Error(why));
    this.waiting.clear();
  }
}

/** Answers what needs no run; after a defect by a new worker. */
export class Desk {
  private client: Client;

  constructor(private readonly begin: Begin) {
    this.client = new Client(begin);
  }

  ask<T>(question: Question): Promise<T> {
    if (this.client.isBroken) {
      this.client.end();
      this.client = new Client(this.begin);
    }
    return this.client.ask<T>(question);
  }
}
