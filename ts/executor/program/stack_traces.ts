// Where a run waits, for people and user interfaces. A stack has the user frames at the call of a
// primitive ("f (file:line:column)", nearest first, one per line).

/** One position where code waits. */
export interface WaitingAt {
  /** The fiber's label: `handler of update "pay"`. */
  readonly fiber: string;
  /** What it waits for: `activity "charge"`. */
  readonly label: string;
  /** User frames; "" if not recorded. */
  readonly site: string;
}

/**
 * JSON of temporal.api.sdk.v1.StackTraceFileLocation, with the names in Temporal's TypeScript SDK.
 */
export interface FileLocation {
  readonly file_path?: string;
  readonly line?: number;
  readonly column?: number;
  readonly function_name?: string;
  readonly internal_code: boolean;
}

/** JSON of temporal.api.sdk.v1.EnhancedStackTrace. Sources are never sent to callers of queries. */
export interface EnhancedStackTrace {
  readonly sdk: { readonly name: string; readonly version: string };
  readonly sources: Record<string, never>;
  readonly stacks: readonly { readonly locations: readonly FileLocation[] }[];
}

/** One block per position: fiber, wait and frames. Equal blocks are counted. */
export function stackTraceText(waits: Iterable<WaitingAt>): string {
  const blocks = new Map<string, { wait: WaitingAt; times: number }>();
  for (const wait of waits) {
    const key = `${wait.fiber}\0${wait.label}\0${wait.site}`;
    const block = blocks.get(key);
    if (block === undefined) blocks.set(key, { wait, times: 1 });
    else block.times++;
  }
  return [...blocks.values()].map(({ wait: { fiber, label, site }, times }) => {
    const head = `${fiber}: ${label}${times === 1 ? "" : ` (${times} times)`}`;
    return [head, ...framesOf(site).map((frame) => `    at ${frame}`)].join("\n");
  }).join("\n\n");
}

/** The same as data: one stack for each known position. */
export function enhancedStackTrace(
  waits: Iterable<WaitingAt>,
  name: string,
  version: string,
): EnhancedStackTrace {
  const sites = new Set([...waits].map(({ site }) => site).filter((site) => site !== ""));
  return {
    sdk: { name, version },
    sources: {},
    stacks: [...sites].map((site) => ({ locations: framesOf(site).map(locationOf) })),
  };
}

const framesOf = (site: string): string[] => site === "" ? [] : site.split("\n");

function locationOf(frame: string): FileLocation {
  const [, before, inside] = /^(.*?) ?\((.*)\)$/.exec(frame) ?? [undefined, "", frame];
  const [, file, line, column] = /^(.*):(\d+):(\d+)$/.exec(inside!.replace(/^async /, "")) ?? [];
  const name = before!.replace(/^async /, "");
  return {
    ...(file !== undefined &&
      { file_path: pathOf(file), line: Number(line), column: Number(column) }),
    ...(name !== "" && { function_name: name }),
    internal_code: false,
  };
}

/** Converts a file URL to a path; other URLs are unchanged. */
function pathOf(file: string): string {
  if (!file.startsWith("file://")) return file;
  const path = file.slice("file://".length).replace(/^\/(?=[A-Za-z]:\/)/, "");
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
