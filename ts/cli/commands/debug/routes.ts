// What the page asks of `temporalex debug`: the feed of what changes, the histories' bytes, and a line in the user's editor.
import type { ServerResponse } from "node:http";
import type { Problem } from "../../../modules/loader/errors.ts";
import { displayName } from "../../../modules/loader/errors.ts";
import { Feed } from "../../page/feed.ts";
import { launchEditor } from "../../page/open_editor.ts";
import { type DataRoute, refusePageRequest, sendBytes, sendJson } from "../../page/page_server.ts";
import { type CodecEndpoint, codecRoute } from "./codec_relay.ts";
import { PageWaits } from "./page_waits.ts";
import { linkedRoute, type LinkedRuns } from "./linked_runs.ts";
import type { CodeVersion } from "./served_code.ts";
import type { ServedHistory } from "./served_histories.ts";

export interface DebugRoutes {
  route(path: string): DataRoute | undefined;
  code(version: CodeVersion): void;
  /** Resolves once the pages that listen have their verdicts on this version: at once where none listens, and in a second at most. */
  shown(version: number): Promise<void>;
  refused(version: number, problems: readonly Problem[], message: string): void;
  /** A history has more events. */
  grown(index: number): void;
  /** A history is another one now. */
  changed(index: number): void;
  close(): void;
}

export function routesOf(
  histories: readonly ServedHistory[],
  env: { readonly [name: string]: string | undefined },
  codecEndpoint?: CodecEndpoint,
  linked?: LinkedRuns,
): DebugRoutes {
  const feed = new Feed();
  const waits = new PageWaits();
  let places: CodeVersion["places"] = new Map();
  const open: DataRoute = {
    method: "POST",
    async handle(body, request, response) {
      const asked = lineAsked(body, request.headers["content-type"]);
      if (asked === undefined) return refusePageRequest(request, response, 400, "send JSON: file, line, column");
      // Files of the code that is served, and no others.
      const path = places.get(asked.file);
      if (path === undefined) return refusePageRequest(request, response, 404, "the code has no such file on the disk");
      await launchEditor({ path, line: asked.line, column: asked.column }, env)
        .then(() => done(response), (error: Error) => sendJson(response, { message: error.message }, 409));
    },
  };
  const shown: DataRoute = {
    method: "POST",
    handle(body, request, response) {
      const { version } = jsonOf(body, request.headers["content-type"]);
      if (!Number.isInteger(version)) return refusePageRequest(request, response, 400, "send JSON: version");
      waits.shown(version as number);
      done(response);
    },
  };
  const codec = codecEndpoint === undefined ? undefined : codecRoute(codecEndpoint);
  const history: DataRoute = {
    method: "GET",
    handle(_, request, response) {
      const index = Number(/\/history\/(\d{1,4})(?:\?|$)/.exec(request.url!)?.[1]);
      const found = histories[index];
      if (found === undefined) return refusePageRequest(request, response, 404, "history not found");
      sendBytes(response, found.file.bytes);
    },
  };
  const other = linked === undefined ? undefined : linkedRoute(histories, linked);
  return {
    route: (path) =>
      path === "data/linked"
        ? other
        : path === "data/feed"
        ? feed.route
        : path === "data/open"
        ? open
        : path === "data/shown"
        ? shown
        : path === "data/codec"
        ? codec
        : /^data\/history\/\d{1,4}$/.test(path)
        ? history
        : undefined,
    code({ version, bundle, entry, files, places: now }) {
      places = now;
      feed.forget("refused");
      feed.send("code", { version, bundle, entry, files });
    },
    shown: (version) => feed.listeners === 0 ? Promise.resolve() : waits.wait(version),
    refused(version, problems, message) {
      const shown = problems.map(({ file, line, column, message }) => ({ file: displayName(file), line, column, message }));
      feed.send("refused", { version, problems: shown, message });
    },
    grown(index) {
      const { file, open } = histories[index]!;
      feed.send("grown", { index, events: file.events, open }, `grown ${index}`);
    },
    changed: (index) => feed.send("changed", { index }, `changed ${index}`),
    close() {
      waits.close();
      feed.close();
    },
  };
}

const done = (response: ServerResponse): void => void response.writeHead(204).end();

/** Undefined for a body of another form. */
function lineAsked(
  body: Uint8Array,
  type: string | undefined,
): { readonly file: string; readonly line: number; readonly column: number } | undefined {
  const { file, line, column = 1 } = jsonOf(body, type);
  const isPlace = (n: unknown): n is number => Number.isInteger(n) && Number(n) > 0 && Number(n) < 1e7;
  return typeof file === "string" && isPlace(line) && isPlace(column) ? { file, line, column } : undefined;
}

/** The fields of a body; none for a body of another form. */
function jsonOf(body: Uint8Array, type: string | undefined): { readonly [field: string]: unknown } {
  if ((type ?? "").split(";")[0]!.trim() !== "application/json") return {};
  try {
    return { ...JSON.parse(new TextDecoder().decode(body)) as object };
  } catch {
    return {};
  }
}
