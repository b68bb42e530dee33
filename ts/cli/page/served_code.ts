// The user's workflow code for the page: loaded as in a worker, with packages, bundled, and rebuilt
// when a file changes. Errors are reported, and the previous code stays.
import { fileURLToPath, pathToFileURL } from "node:url";
import type { SourceHost } from "../../platform/source_files.ts";
import { bundleFromSources, type BundleSource } from "../../modules/bundle/build.ts";
import { addressOf, isBundle, readBundle } from "../../modules/bundle/format.ts";
import { displayName, type Problem, WorkflowLoadError } from "../../modules/loader/errors.ts";
import { packageFolder } from "../../modules/loader/package_files.ts";
import { notingSources } from "../commands/worker/files.ts";
import { FileWatch } from "../commands/worker/watch.ts";

/** Absolute paths. */
export interface CodeModules {
  readonly workflows: readonly string[];
  readonly interceptors: readonly string[];
  readonly payloadConverter?: string;
}

/** One version of the code. */
export interface CodeVersion {
  /** From 1. */
  readonly version: number;
  /** Text of the bundle, without a source map. */
  readonly bundle: string;
  /** Name of the first workflow module. */
  readonly entry: string;
  /**
   * Source texts by the names in stack traces, and manifests of packages: what must be known to
   * load the code.
   */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Absolute paths, by the same names. */
  readonly places: ReadonlyMap<string, string>;
  readonly warnings: readonly Problem[];
  /** The texts of this version, unaffected by later changes on disk. */
  readonly host: SourceHost;
}

export interface CodeEvents {
  loaded(code: CodeVersion): void;
  /** A version does not load. */
  refused(version: number, problems: readonly Problem[], message: string): void;
}

/**
 * Delay after a change: editors write a file in several steps, and each step triggers another read.
 */
const REST_MS = 15;
const LOOK_MS = 500;

export class ServedCode {
  readonly #modules: CodeModules;
  readonly #events: CodeEvents;
  readonly #watch: FileWatch;
  #stamps = new Map<string, string>();
  #version = 0;
  #closed = false;
  /** Serializes loads. */
  #turn: Promise<void> = Promise.resolve();

  constructor(modules: CodeModules, events: CodeEvents) {
    this.#modules = modules;
    this.#events = events;
    this.#watch = new FileWatch(() => void this.load(), { restMs: REST_MS, lookMs: LOOK_MS });
  }

  /** Number of watched files. */
  get files(): number {
    return [...this.#stamps.values()].filter((stamp) => stamp !== "").length;
  }

  /** Reads the code and watches its files. Never rejects: errors are reported to `refused`. */
  load(): Promise<void> {
    return this.#turn = this.#turn.then(() => this.#load());
  }

  async #load(): Promise<void> {
    if (this.#closed) return;
    const version = ++this.#version;
    const before = this.#stamps;
    const stamps = new Map<string, string>();
    try {
      const host = await snapshot((path) =>
        stamps.has(path) || stamps.set(path, FileWatch.stamps([path]).get(path)!)
      );
      const made = await makeOf(this.#modules, host);
      this.#stamps = stamps;
      if (!this.#closed) this.#events.loaded({ version, host, ...made });
    } catch (error) {
      // A load that failed early has not read all relevant files.
      const missed = [...before.keys(), ...this.#modules.workflows].filter((path) =>
        !stamps.has(path)
      );
      this.#stamps = new Map([...stamps, ...FileWatch.stamps(missed)]);
      const problems = error instanceof WorkflowLoadError ? error.problems : [];
      if (!this.#closed) this.#events.refused(version, problems, (error as Error).message);
    }
    if (!this.#closed) this.#watch.set(this.#stamps);
  }

  close(): void {
    this.#closed = true;
    this.#watch.close();
  }
}

type Made = Pick<CodeVersion, "bundle" | "entry" | "files" | "places" | "warnings">;

async function makeOf(
  { workflows, interceptors, payloadConverter }: CodeModules,
  host: SourceHost,
): Promise<Made> {
  const [only] = workflows;
  const text = workflows.length === 1 ? host.read(pathToFileURL(only!).href) : undefined;
  if (text !== undefined && isBundle(text)) return bundled(text, only!);
  const { code, sources, warnings } = await bundleFromSources({
    workflows: workflows.map((path) => pathToFileURL(path)),
    interceptors: interceptors.map((path) => pathToFileURL(path)),
    ...(payloadConverter === undefined
      ? {}
      : { payloadConverter: pathToFileURL(payloadConverter) }),
    sources: host,
  });
  const files = sources.filter(({ url }) => url.startsWith("file:"));
  return {
    bundle: code,
    entry: entryOf(code),
    files: [
      ...sources.map(({ name, text }) => ({ path: name, text })),
      ...manifests(sources, host),
    ],
    places: new Map(files.map(({ name, url }) => [name, fileURLToPath(url)])),
    warnings,
  };
}

/** A bundle of `temporalex build`, which has no other files. */
function bundled(text: string, path: string): Made {
  const { modules } = readBundle(text, pathToFileURL(path).href);
  return {
    bundle: text,
    entry: entryOf(text),
    files: modules.map(({ name, text }) => ({ path: displayName(addressOf(0, name)), text })),
    places: new Map(),
    warnings: [],
  };
}

const entryOf = (bundle: string): string =>
  displayName(addressOf(0, readBundle(bundle, "").entries.workflows[0]!));

/** Returns package.json of each package of a module. */
function manifests(
  sources: readonly BundleSource[],
  host: SourceHost,
): { path: string; text: string }[] {
  const found = new Map<string, string>();
  for (const { name, url } of sources) {
    const installed = packageFolder(url);
    const named = packageFolder(`bundle:///${name}`);
    if (installed === undefined || named === undefined) continue;
    const text = host.read(`${installed.folder}package.json`);
    if (text !== undefined) {
      found.set(`${named.folder.slice("bundle:///".length)}package.json`, text);
    }
  }
  return [...found].map(([path, text]) => ({ path, text }));
}

/** Returns the file system with each file read once. Calls `asked` before a file is read. */
async function snapshot(asked: (path: string) => void): Promise<SourceHost> {
  const disk = await notingSources(asked);
  const texts = new Map<string, string | undefined>();
  return {
    ...disk,
    read(url) {
      if (!texts.has(url)) texts.set(url, disk.read(url));
      return texts.get(url);
    },
  };
}
