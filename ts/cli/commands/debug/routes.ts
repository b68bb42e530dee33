// Requests of the page to `temporalex debug`: the event stream, the histories' bytes, and opening a
// line in the editor.
import { CodeRoutes, jsonOf } from "../../page/code_routes.ts";
import { type DataRoute, refusePageRequest, sendBytes } from "../../page/page_server.ts";
import { type CodecEndpoint, codecRoute } from "./codec_relay.ts";
import { linkedRoute, type LinkedRuns } from "./linked_runs.ts";
import type { ServedHistory } from "./served_histories.ts";

/** A verdict "ok" without warnings that a page has reached for a version of the code. */
export interface PageVerdict {
  readonly version: number;
  /** Index of the history. */
  readonly index: number;
  /** Number of replayed events, and of activations. */
  readonly events: number;
  readonly activations: number;
}

const HISTORY = /^data\/history\/(\d{1,4})$/;

export class DebugRoutes extends CodeRoutes {
  readonly #histories: readonly ServedHistory[];
  readonly #codec: DataRoute | undefined;
  readonly #linked: DataRoute | undefined;
  readonly #verdict: DataRoute;

  constructor(
    histories: readonly ServedHistory[],
    env: { readonly [name: string]: string | undefined },
    codecEndpoint?: CodecEndpoint,
    linked?: LinkedRuns,
    onVerdict: (verdict: PageVerdict) => void = () => {},
  ) {
    super(env);
    this.#verdict = {
      method: "POST",
      handle: (body, request, response) => {
        const { version, index, events, activations } = jsonOf(
          body,
          request.headers["content-type"],
        );
        const numbers = [version, index, events, activations];
        if (!numbers.every((n) => Number.isInteger(n) && Number(n) >= 0)) {
          return refusePageRequest(
            request,
            response,
            400,
            "send JSON: version, index, events, activations",
          );
        }
        onVerdict({ version, index, events, activations } as PageVerdict);
        response.writeHead(204).end();
      },
    };
    this.#histories = histories;
    this.#codec = codecEndpoint && codecRoute(codecEndpoint);
    this.#linked = linked && linkedRoute(histories, linked);
  }

  override route(path: string): DataRoute | undefined {
    if (path === "data/linked") return this.#linked;
    if (path === "data/codec") return this.#codec;
    if (path === "data/verdict") return this.#verdict;
    const index = HISTORY.exec(path)?.[1];
    return index === undefined ? super.route(path) : this.#history(Number(index));
  }

  #history(index: number): DataRoute {
    return {
      method: "GET",
      handle: (_, request, response) => {
        const found = this.#histories[index];
        if (found === undefined) {
          return refusePageRequest(request, response, 404, "history not found");
        }
        sendBytes(response, found.file.bytes);
      },
    };
  }

  /** Notifies the pages that a history has more events. */
  grown(index: number): void {
    const { file, open } = this.#histories[index]!;
    this.feed.send("grown", { index, events: file.events, open }, `grown ${index}`);
  }

  /** Notifies the pages that a history was replaced. */
  changed(index: number): void {
    this.feed.send("changed", { index }, `changed ${index}`);
  }
}
