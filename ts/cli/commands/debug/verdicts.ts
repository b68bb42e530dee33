// Verdicts of the command itself: each version of the code replays each history in a worker realm,
// as `temporalex replay` does. A new version replaces a running one at once, whatever its code
// does. The next version's worker is started in advance.
import type { SourceHost } from "../../../platform/source_files.ts";
import { createWorkerRealm, type WorkerRealm } from "../../../realm/mod.ts";
import { loadSources } from "../../../modules/sources.ts";
import { pathToFileURL } from "node:url";
import { brokenLine, type ReplayLine, replayLine } from "../replay/line.ts";
import type { CodeModules } from "../../page/served_code.ts";
import type { ServedHistory } from "./served_histories.ts";

type Modules = Awaited<ReturnType<typeof loadSources>>;

/** A realm whose worker has started and waits for its modules. */
class ComingRealm {
  readonly realm: Promise<WorkerRealm>;
  readonly #ended = new AbortController();
  #give!: (modules: Promise<Modules>) => void;
  #refuse!: (error: Error) => void;

  constructor() {
    const modules = new Promise<Modules>((resolve, reject) =>
      [this.#give, this.#refuse] = [resolve, reject]
    );
    this.realm = createWorkerRealm({
      graph: () => modules,
      signal: this.#ended.signal,
      threads: 1,
      cacheSize: 0,
      runOptions: { namespace: "default", identity: "temporalex debug" },
    });
    this.realm.catch(() => {});
  }

  give(modules: Promise<Modules>): void {
    this.#give(modules);
  }

  /** Ends the worker at once, also during an endless loop at the top level of its modules. */
  async end(): Promise<void> {
    this.#refuse(new Error("the realm is not needed any more"));
    this.#ended.abort();
    await this.realm.then((realm) => realm.dispose(), () => {});
  }
}

export class Verdicts {
  readonly #modules: CodeModules;
  readonly #tell: (version: number, line: ReplayLine) => void;
  #current: ComingRealm | undefined;
  #next: ComingRealm | undefined = new ComingRealm();
  #version = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor(modules: CodeModules, tell: (version: number, line: ReplayLine) => void) {
    this.#modules = modules;
    this.#tell = tell;
  }

  /**
   * Replays all histories with these texts, after `after` has resolved. Never rejects: a realm that
   * cannot be created is the verdict.
   */
  take(
    version: number,
    sources: SourceHost,
    histories: readonly ServedHistory[],
    after: Promise<void> = Promise.resolve(),
  ): void {
    this.#version = version;
    void this.#current?.end();
    const own = this.#current = this.#next ?? new ComingRealm();
    this.#next = undefined;
    this.#turn = this.#turn.then(async () => {
      await after;
      if (this.#version !== version) return;
      own.give(this.#load(sources));
      for (const history of histories) await this.#replay(version, history);
      if (this.#version === version) this.#next ??= new ComingRealm();
    });
  }

  #load(sources: SourceHost): Promise<Modules> {
    const { workflows, interceptors, payloadConverter } = this.#modules;
    return loadSources({
      workflows: workflows.map((path) => pathToFileURL(path)),
      interceptors: interceptors.map((path) => pathToFileURL(path)),
      ...(payloadConverter === undefined
        ? {}
        : { payloadConverter: pathToFileURL(payloadConverter) }),
      sources,
    });
  }

  /** Replays a replaced history. */
  again(history: ServedHistory): void {
    const version = this.#version;
    this.#turn = this.#turn.then(() =>
      this.#current === undefined ? undefined : this.#replay(version, history)
    );
  }

  async #replay(version: number, history: ServedHistory): Promise<void> {
    if (this.#version !== version) return;
    const { found, file } = history;
    const started = performance.now();
    const ms = () => Math.round((performance.now() - started) * 10) / 10;
    let line: ReplayLine;
    try {
      const realm = await this.#current!.realm;
      line = replayLine(
        found,
        file,
        await realm.replay(file.workflowId, file.bytes, { strict: false }),
        ms(),
      );
    } catch (error) {
      line = brokenLine(found, error, ms());
    }
    if (this.#version === version) this.#tell(version, line);
  }

  /** Ends running replays. */
  async close(): Promise<void> {
    this.#version = -1;
    await Promise.all([this.#current?.end(), this.#next?.end()]);
    await this.#turn;
  }
}
