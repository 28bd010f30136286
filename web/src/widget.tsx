// The timeline as a widget of a notebook (anywidget): what it needs it asks of the kernel.

import { render } from "preact";
import { useMemo, useState } from "preact/hooks";
import css from "./style.css";
import { AirTimeline } from "./air/timeline";
import type { About, Frame, Source, Step } from "./air/model";
import { decode } from "./tile";

/** What anywidget gives: https://anywidget.dev/en/afm/. */
interface Kernel {
  send(content: unknown): void;
  on(event: "msg:custom", take: (content: Answer, buffers: DataView[]) => void): void;
  off(event: "msg:custom", take: (content: Answer, buffers: DataView[]) => void): void;
  get(name: "title"): string;
}
interface Answer { id: number; value?: unknown; error?: string }
interface Question { take: (value: unknown) => void; fail: (error: Error) => void }

/** Asks the kernel, and gives each answer to who has asked. */
class Asked implements Source {
  private number = 0;
  private readonly waiting = new Map<number, Question>();

  constructor(private readonly kernel: Kernel) {
    kernel.on("msg:custom", this.take);
  }

  close(): void {
    this.kernel.off("msg:custom", this.take);
  }

  private take = (answer: Answer, buffers: DataView[]): void => {
    const question = this.waiting.get(answer.id);
    if (!question) return;
    this.waiting.delete(answer.id);
    if (answer.error !== undefined) question.fail(new Error(answer.error));
    else if (buffers.length) {
      const { buffer, byteOffset, byteLength } = buffers[0];
      // A copy begins at a multiple of eight, as the columns of a tile must.
      question.take(buffer.slice(byteOffset, byteOffset + byteLength));
    } else question.take(answer.value);
  };

  private ask<T>(what: string, content: object = {}): Promise<T> {
    const id = ++this.number;
    return new Promise<T>((take, fail) => {
      this.waiting.set(id, { take: take as (value: unknown) => void, fail });
      this.kernel.send({ ...content, id, what });
    });
  }

  about = () => this.ask<About>("about");
  tile = async (level: number, number: number) =>
    decode(await this.ask<ArrayBuffer>("tile", { level, number }), number);
  find = (query: object, number: number, forward: boolean) =>
    this.ask<Frame | null>("find", { ...query, number, forward });
  frame = (number: number) => this.ask<Frame>("frame", { number });
  life = (number: number) => this.ask<Step[]>("life", { number });
}

function Widget({ kernel, source }: { kernel: Kernel; source: Source }) {
  const [said, say] = useState("");
  const title = useMemo(() => kernel.get("title"), []);
  return (
    <div class="widget">
      <AirTimeline source={source} say={say} title={title} />
      <p class="said" role="status" aria-live="polite">{said}</p>
    </div>
  );
}

export default {
  render({ model, el }: { model: Kernel; el: HTMLElement }): () => void {
    // The styles of the page end at the shadow root, and those of the notebook before it.
    const root = el.attachShadow({ mode: "open" });
    const style = document.createElement("style");
    style.textContent = css.replaceAll(":root", ":host");
    const place = document.createElement("div");
    root.append(style, place);
    const source = new Asked(model);
    render(<Widget kernel={model} source={source} />, place);
    return () => {
      render(null, place);
      source.close();
    };
  },
};
