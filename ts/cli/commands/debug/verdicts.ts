// Verdicts of the command itself: each version of the code replays each history in a worker realm,
// as `temporalex replay` does. A new version replaces a running one at once, whatever its code
// does. The next version's worker is started in advance.
import type { SourceHost } from "../../../platform/source_files.ts";
import { createWorkerRealm, type WorkerRealm } from "../../../realm/mod.ts";
import { loadSources } from "../../../modules/sources.ts";
import { pathToFileURL } from "node:url";
import { isClosing } from "../../../client/history.ts";
import { type DebugSession, openSession } from "../../../debug/session.ts";
import { prepareHistory } from "../../../debug/prepared_history.ts";
import { decodeHistoryBytes } from "../../../history_files/decode_events.ts";
import type { HistoryFile } from "../../../history_files/history_file.ts";
import { describeCondition } from "../../../run_view/condition_text.ts";
import { whyText } from "../../../run_view/why.ts";
import { brokenLine, type ReplayLine, replayLine } from "../replay/line.ts";
import type { CodeModules } from "../../page/served_code.ts";
import type { PageVerdict } from "./routes.ts";
import type { ServedHistory } from "./served_histories.ts";

/** What an open run waits for, after an "ok" verdict. */
export interface RunWaits {
  readonly file: string;
  /** Sentences without markup. */
  readonly waits: readonly string[];
}

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
    // A realm that ends before its worker has started does not look at it.
    modules.catch(() => {});
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

const openRuns = new WeakMap<HistoryFile, boolean>();

/** Whether the last event of a history does not close the run. */
function isRunOpen(file: HistoryFile): boolean {
  let known = openRuns.get(file);
  if (known === undefined) {
    const last = decodeHistoryBytes(file.bytes).events.at(-1);
    openRuns.set(file, known = last !== undefined && !isClosing(last));
  }
  return known;
}

/** Returns the sentences of the page's first section: why the run waits. */
function listWaits(session: DebugSession): string[] {
  const at = session.length;
  const conditions = session.code?.conditions(at) ?? [];
  const { look, said } = whyText(session.viewAt(at), "", conditions);
  if (look !== "waits") return [];
  return [said, ...conditions.flatMap(describeCondition)].map((one) =>
    one.map((part) => typeof part === "string" ? part : part.name).join("")
  );
}

export class Verdicts {
  readonly #modules: CodeModules;
  readonly #tell: (version: number, line: ReplayLine) => void;
  readonly #waits: ((version: number, waits: RunWaits) => void) | undefined;
  #current: ComingRealm | undefined;
  #next: ComingRealm | undefined = new ComingRealm();
  #version = 0;
  /** When the current version was taken. */
  #takenMs = 0;
  /** Histories whose verdict on the current version is known from a page. */
  #known = new Set<ServedHistory>();
  #turn: Promise<void> = Promise.resolve();

  /** `waits`: called for open runs, after their verdict. */
  constructor(
    modules: CodeModules,
    tell: (version: number, line: ReplayLine) => void,
    waits?: (version: number, waits: RunWaits) => void,
  ) {
    this.#modules = modules;
    this.#tell = tell;
    this.#waits = waits;
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
    this.#takenMs = performance.now();
    this.#known = new Set();
    void this.#current?.end();
    const own = this.#current = this.#next ?? new ComingRealm();
    this.#next = undefined;
    this.#turn = this.#turn.then(async () => {
      await after;
      if (this.#version !== version) return;
      const lines = this.#waits !== undefined && histories.some(({ file }) => isRunOpen(file));
      own.give(this.#load(sources, lines));
      for (const history of histories) await this.#replay(version, history);
      if (this.#version === version) this.#next ??= new ComingRealm();
    });
  }

  /**
   * Prints the verdict of a page that has replayed a history with the current version. The
   * command then does not replay it. Reports on other versions and other events have no effect.
   */
  takeFromPage(
    { version, index, events, activations }: PageVerdict,
    histories: readonly ServedHistory[],
  ): void {
    const history = histories[index];
    if (history === undefined || version !== this.#version || this.#known.has(history)) return;
    const { found, file } = history;
    if (file.events !== events) return;
    this.#known.add(history);
    const { workflowType, workflowId, runId } = file;
    const result = { verdict: "ok", workflowType, workflowId, runId, events, activations } as const;
    const ms = Math.round((performance.now() - this.#takenMs) * 10) / 10;
    this.#tell(version, replayLine(found, file, { ...result, warnings: [] }, ms));
  }

  #load(sources: SourceHost, lines: boolean): Promise<Modules> {
    const { workflows, interceptors, payloadConverter } = this.#modules;
    return loadSources({
      workflows: workflows.map((path) => pathToFileURL(path)),
      interceptors: interceptors.map((path) => pathToFileURL(path)),
      ...(payloadConverter === undefined
        ? {}
        : { payloadConverter: pathToFileURL(payloadConverter) }),
      sources,
      lines,
    });
  }

  /** Replays a replaced history. */
  again(history: ServedHistory): void {
    this.#known.delete(history);
    const version = this.#version;
    this.#turn = this.#turn.then(() =>
      this.#current === undefined ? undefined : this.#replay(version, history)
    );
  }

  async #replay(version: number, history: ServedHistory): Promise<void> {
    if (this.#version !== version) return;
    if (this.#known.has(history)) return await this.#explainWait(version, history);
    // A verdict of a page that comes during the replay is not printed a second time.
    this.#known.add(history);
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
    if (this.#version !== version) return;
    this.#tell(version, line);
    if (line.verdict === "ok") await this.#explainWait(version, history);
  }

  /** Replays an open run with recorded lines. Errors would repeat the verdict's. */
  async #explainWait(version: number, { found, file }: ServedHistory): Promise<void> {
    if (this.#waits === undefined || !isRunOpen(file)) return;
    try {
      const realm = await this.#current!.realm;
      const session = await openSession({ ...await prepareHistory(file.bytes), file }, { realm });
      const waits = session.problem === undefined ? listWaits(session) : [];
      if (this.#version === version && waits.length > 0) {
        this.#waits(version, { file: found.file, waits });
      }
    } catch {
      // The version was replaced, or the realm has ended.
    }
  }

  /** Ends running replays. */
  async close(): Promise<void> {
    this.#version = -1;
    await Promise.all([this.#current?.end(), this.#next?.end()]);
    await this.#turn;
  }
}
