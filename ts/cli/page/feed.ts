// What a page is told as it happens: server-sent events. A page that comes later, or again, is given the last of each kind first.
import type { ServerResponse } from "node:http";
import type { DataRoute } from "./page_server.ts";

/** A comment every so often: a page that is gone without a word is noticed, and so are proxies' ends. */
const BEAT_MS = 15_000;

export class Feed {
  readonly #listeners = new Set<ServerResponse>();
  readonly #last = new Map<string, string>();
  readonly #beat: ReturnType<typeof setInterval>;

  constructor() {
    this.#beat = setInterval(() => this.#write(": still here\n\n"), BEAT_MS);
  }

  /** Pages that listen now. */
  get listeners(): number {
    return this.#listeners.size;
  }

  /** Tells all pages, and those to come. `key`: only the last message of a key is kept. */
  send(event: string, value: unknown, key: string = event): void {
    const text = `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`;
    this.#last.delete(key);
    this.#last.set(key, text);
    this.#write(text);
  }

  /** Forgets the last message of a key. */
  forget(key: string): void {
    this.#last.delete(key);
  }

  readonly route: DataRoute = {
    method: "GET",
    handle: (_, __, response) => {
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
      response.write(`retry: 500\n\n${[...this.#last.values()].join("")}`);
      this.#listeners.add(response);
      response.on("close", () => this.#listeners.delete(response));
    },
  };

  #write(text: string): void {
    for (const response of this.#listeners) response.write(text);
  }

  /** Ends all streams. */
  close(): void {
    clearInterval(this.#beat);
    for (const response of this.#listeners) response.end();
    this.#listeners.clear();
  }
}
