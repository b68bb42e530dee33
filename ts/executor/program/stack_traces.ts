// Where a run waits, for people and for user interfaces. A stack is what the user's code had called when a primitive was called, frames of
// the user's only ("f (file:line:column)", nearest first, a line for each).

/** One place where code waits. */
export interface WaitingAt {
  /** Whose wait it is: `handler of update "pay"`. */
  readonly fiber: string;
  /** What it waits for: `activity "charge"`. */
  readonly label: string;
  /** The frames; "" where they were not recorded. */
  readonly site: string;
}

/** The JSON of temporal.api.sdk.v1.StackTraceFileLocation, with the names that Temporal's SDK for TypeScript writes. */
export interface FileLocation {
  readonly file_path?: string;
  readonly line?: number;
  readonly column?: number;
  readonly function_name?: string;
  readonly internal_code: boolean;
}

/** The JSON of temporal.api.sdk.v1.EnhancedStackTrace. Sources are never sent: a query's answer leaves the machine, code need not. */
export interface EnhancedStackTrace {
  readonly sdk: { readonly name: string; readonly version: string };
  readonly sources: Record<string, never>;
  readonly stacks: readonly { readonly locations: readonly FileLocation[] }[];
}

/** A block for each place: who waits for what, and the frames. Places that look the same are one block with a number. */
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

/** The same as data: a stack for each place that is known. */
export function enhancedStackTrace(waits: Iterable<WaitingAt>, name: string, version: string): EnhancedStackTrace {
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
    ...(file !== undefined && { file_path: pathOf(file), line: Number(line), column: Number(column) }),
    ...(name !== "" && { function_name: name }),
    internal_code: false,
  };
}

/** A file's URL as a path; other URLs stay as they are. */
function pathOf(file: string): string {
  if (!file.startsWith("file://")) return file;
  const path = file.slice("file://".length).replace(/^\/(?=[A-Za-z]:\/)/, "");
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
