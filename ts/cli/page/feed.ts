// Server-sent events for pages. A page that connects receives the last event of each kind first.
import type { ServerResponse } from "node:http";
import type { DataRoute } from "./page_server.ts";

/** Interval of comments: detects pages that are gone, and keeps proxies from closing the stream. */
const BEAT_MS = 15_000;

export class Feed {
  readonly #listeners = new Set<ServerResponse>();
  readonly #last = new Map<string, string>();
  readonly #beat: ReturnType<typeof setInterval>;

  constructor() {
    this.#beat = setInterval(() => this.#write(": still here\n\n"), BEAT_MS);
  }

  /** Number of connected pages. */
  get listeners(): number {
    return this.#listeners.size;
  }

  /**
   * Sends an event to all current and future pages. `key`: only the last message of a key is kept.
   */
  send(event: string, value: unknown, key: string = event): void {
    const text = `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`;
    this.#last.delete(key);
    this.#last.set(key, text);
    this.#write(text);
  }

  /** Removes the last message of a key. */
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
