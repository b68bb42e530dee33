// The verdicts that the command itself writes: each version of the code replays each history in a worker realm, as `temporalex replay` does.
// A version that comes while one is at it takes its place.
import type { SourceHost } from "../../../platform/source_files.ts";
import { createWorkerRealm, type WorkerRealm } from "../../../realm/mod.ts";
import { pathToFileURL } from "node:url";
import { brokenLine, lineOf, type ReplayLine } from "../replay/line.ts";
import type { CodeModules } from "./served_code.ts";
import type { ServedHistory } from "./served_histories.ts";

export class Verdicts {
  readonly #modules: CodeModules;
  readonly #tell: (version: number, line: ReplayLine) => void;
  #realm: Promise<WorkerRealm> | undefined;
  #version = 0;
  #turn: Promise<void> = Promise.resolve();

  constructor(modules: CodeModules, tell: (version: number, line: ReplayLine) => void) {
    this.#modules = modules;
    this.#tell = tell;
  }

  /** Replays all histories against these texts. Never rejects: a realm that cannot be made is the verdict. */
  take(version: number, sources: SourceHost, histories: readonly ServedHistory[]): void {
    this.#version = version;
    this.#turn = this.#turn.then(async () => {
      if (this.#version !== version) return;
      await this.#dispose();
      const { workflows, interceptors, payloadConverter } = this.#modules;
      this.#realm = createWorkerRealm({
        workflows: workflows.map((path) => pathToFileURL(path)),
        interceptors: interceptors.map((path) => pathToFileURL(path)),
        ...(payloadConverter === undefined ? {} : { payloadConverter: pathToFileURL(payloadConverter) }),
        sources,
        threads: 1,
        cacheSize: 0,
        runOptions: { namespace: "default", identity: "temporalex debug" },
      });
      this.#realm.catch(() => {});
      for (const history of histories) await this.#replay(version, history);
    });
  }

  /** Replays one that has grown. */
  again(history: ServedHistory): void {
    const version = this.#version;
    this.#turn = this.#turn.then(() => this.#realm === undefined ? undefined : this.#replay(version, history));
  }

  async #replay(version: number, history: ServedHistory): Promise<void> {
    if (this.#version !== version) return;
    const { found, file } = history;
    const started = performance.now();
    const ms = () => Math.round((performance.now() - started) * 10) / 10;
    let line: ReplayLine;
    try {
      const realm = await this.#realm!;
      line = lineOf(found, file, await realm.replay(file.workflowId, file.bytes, { strict: false }), ms());
    } catch (error) {
      line = brokenLine(found, error, ms());
    }
    if (this.#version === version) this.#tell(version, line);
  }

  async #dispose(): Promise<void> {
    const realm = this.#realm;
    this.#realm = undefined;
    await realm?.then((made) => made.dispose(), () => {});
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.#version = -1;
    await this.#dispose();
    await this.#turn;
  }
}
