// Workflow code that a page replays: its versions as they are saved, a line opened in the user's
// editor, and which version the pages have shown.
import type { IncomingMessage, ServerResponse } from "node:http";
import { displayName, type Problem } from "../../modules/loader/errors.ts";
import { Feed } from "./feed.ts";
import { launchEditor } from "./open_editor.ts";
import { PageWaits } from "./page_waits.ts";
import { type DataRoute, refusePageRequest, sendJson } from "./page_server.ts";
import type { CodeVersion } from "./served_code.ts";

export class CodeRoutes {
  /** Event stream of the pages, also for other events. */
  readonly feed = new Feed();
  readonly #waits = new PageWaits();
  readonly #routes: ReadonlyMap<string, DataRoute>;
  #places: CodeVersion["places"] = new Map();

  constructor(env: { readonly [name: string]: string | undefined }) {
    const open: DataRoute = {
      method: "POST",
      handle: (body, request, response) => this.#open(body, request, response, env),
    };
    const shown: DataRoute = {
      method: "POST",
      handle: (body, request, response) => {
        const { version } = jsonOf(body, request.headers["content-type"]);
        if (!Number.isInteger(version)) {
          return refusePageRequest(request, response, 400, "send JSON: version");
        }
        this.#waits.shown(version as number);
        done(response);
      },
    };
    this.#routes = new Map([["data/feed", this.feed.route], ["data/open", open], [
      "data/shown",
      shown,
    ]]);
  }

  /** Returns the route of an address below the token. */
  route(path: string): DataRoute | undefined {
    return this.#routes.get(path);
  }

  /** Sends a version that loads to the pages. */
  code({ version, bundle, entry, files, places }: CodeVersion): void {
    this.#places = places;
    this.feed.forget("refused");
    this.feed.send("code", { version, bundle, entry, files });
  }

  /** Sends to the pages why a version does not load. They keep the one before it. */
  refused(version: number, problems: readonly Problem[], message: string): void {
    const shown = problems.map(({ file, line, column, message }) => ({
      file: displayName(file),
      line,
      column,
      message,
    }));
    this.feed.send("refused", { version, problems: shown, message });
  }

  /**
   * Resolves when the connected pages have their verdicts on this version: at once without pages,
   * after 1 s at most.
   */
  shown(version: number): Promise<void> {
    return this.feed.listeners === 0 ? Promise.resolve() : this.#waits.wait(version);
  }

  close(): void {
    this.#waits.close();
    this.feed.close();
  }

  async #open(
    body: Uint8Array,
    request: IncomingMessage,
    response: ServerResponse,
    env: { readonly [name: string]: string | undefined },
  ): Promise<void> {
    const asked = lineAsked(body, request.headers["content-type"]);
    if (asked === undefined) {
      return refusePageRequest(request, response, 400, "send JSON: file, line, column");
    }
    // Files of the code that is served, and no others.
    const path = this.#places.get(asked.file);
    if (path === undefined) {
      return refusePageRequest(request, response, 404, "the code has no such file on the disk");
    }
    await launchEditor({ path, line: asked.line, column: asked.column }, env)
      .then(
        () => done(response),
        (error: Error) => sendJson(response, { message: error.message }, 409),
      );
  }
}

const done = (response: ServerResponse): void => void response.writeHead(204).end();

/** Undefined for a body of another form. */
function lineAsked(
  body: Uint8Array,
  type: string | undefined,
): { readonly file: string; readonly line: number; readonly column: number } | undefined {
  const { file, line, column = 1 } = jsonOf(body, type);
  const isPlace = (n: unknown): n is number =>
    Number.isInteger(n) && Number(n) > 0 && Number(n) < 1e7;
  return typeof file === "string" && isPlace(line) && isPlace(column)
    ? { file, line, column }
    : undefined;
}

/** The fields of a body; none for a body of another form. */
export function jsonOf(
  body: Uint8Array,
  type: string | undefined,
): { readonly [field: string]: unknown } {
  if ((type ?? "").split(";")[0]!.trim() !== "application/json") return {};
  try {
    return { ...JSON.parse(new TextDecoder().decode(body)) as object };
  } catch {
    return {};
  }
}
