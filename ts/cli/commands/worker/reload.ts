// `worker --watch`: when files change, the worker switches to the new code, or rejects it with a
// reason and keeps the old code. One reload at a time; an edit during a reload restarts it.
import type { LintFinding } from "../../../modules/lint/lint.ts";
import { WorkflowLoadError } from "../../../realm/mod.ts";
import {
  type ActivityThreads,
  type NexusServicesOf,
  type Replacement,
  type ReplacementProgress,
  type Worker,
  WorkflowReplacementError,
} from "../../../worker/mod.ts";
import type { ValueCheck } from "../../../realm/value_check.ts";
import { forget } from "../../modules/user_modules.ts";
import { moduleFiles } from "./files.ts";
import { FileWatch } from "./watch.ts";

/** Events of a reload. */
export type ReloadEvent =
  | ({ readonly event: "replaced"; readonly ms: number } & Replacement)
  | {
    readonly event: "activitiesReplaced";
    readonly activities: readonly string[];
    readonly ms: number;
  }
  | {
    readonly event: "nexusServicesReplaced";
    readonly nexusServices: readonly string[];
    readonly ms: number;
  }
  | {
    readonly event: "refused";
    /**
     * Reason: modules that do not load, lint errors, runs that diverge, activities or Nexus
     * services that do not load, or a temporary failure.
     */
    readonly why: "load" | "lint" | "runs" | "activities" | "nexus" | "failed";
    readonly message: string;
    readonly problems?: readonly object[];
  };

export interface ReloadParts {
  readonly worker: Worker;
  /** How values of open runs are compared; undefined: they are not. */
  readonly values: ValueCheck | undefined;
  /** Stamps of the workflow files when the running code was loaded; replaced by each load. */
  readonly workflowFiles: { current: Map<string, string> };
  readonly activityModules: readonly string[];
  readonly activityThreads: ActivityThreads | undefined;
  readonly nexusModules: readonly string[];
  /** Loads the Nexus services from their current modules. */
  loadNexus(): Promise<NexusServicesOf | undefined>;
  readonly workflows: boolean;
  /** Returns lint errors of the current workflow files, which are read like the loader does. */
  lint(): Promise<readonly LintFinding[]>;
  tell(event: ReloadEvent): void;
  progress(progress: ReplacementProgress | undefined): void;
}

class Superseded extends Error {}

class LintErrors extends Error {
  readonly findings: readonly LintFinding[];

  constructor(findings: readonly LintFinding[]) {
    const shown = findings.slice(0, 10).map(({ file, line, column, message, rule, advice }) =>
      `  ${file}:${line}${
        column === 0 ? "" : `:${column}`
      }: ${message} [${rule}]; instead: ${advice}`
    );
    if (findings.length > shown.length) shown.push(`  and ${findings.length - shown.length} more`);
    super(
      `the changed workflow code has lint errors; the old code stays in use:\n${shown.join("\n")}`,
    );
    this.findings = findings;
  }
}

/** Delay before a retry of the same code, after a busy worker or an unavailable service. */
const AGAIN_MS = 3000;

export class Reloader {
  readonly #parts: ReloadParts;
  readonly #watch: FileWatch;
  #activityFiles: ReadonlyMap<string, string>;
  #nexusFiles: ReadonlyMap<string, string>;
  readonly #changed = new Set<string>();
  #wake: (() => void) | undefined;
  #attempt: AbortController | undefined;
  #closed = false;
  #loadsActivities = false;
  #running: Promise<void> | undefined;

  constructor(
    parts: ReloadParts,
    files: {
      readonly activities: ReadonlyMap<string, string>;
      readonly nexus: ReadonlyMap<string, string>;
    },
  ) {
    this.#parts = parts;
    this.#activityFiles = files.activities;
    this.#nexusFiles = files.nexus;
    this.#watch = new FileWatch((paths) => {
      for (const path of paths) this.#changed.add(path);
      this.#attempt?.abort(new Superseded("the files have changed again"));
      this.#wake?.();
    });
  }

  /** Number of watched files. */
  get files(): number {
    const all = this.#allFiles;
    return new Set(all.filter(([, stamp]) => stamp !== "").map(([path]) => path)).size;
  }

  get #allFiles(): [path: string, stamp: string][] {
    return [...this.#parts.workflowFiles.current, ...this.#activityFiles, ...this.#nexusFiles];
  }

  start(): void {
    this.#running = this.#loop();
  }

  /** Cancels a running reload and ends watching. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#watch.close();
    this.#attempt?.abort(new Error("the worker is stopping"));
    this.#wake?.();
    // The worker's shutdown, which follows, cancels the loading of activities.
    if (!this.#loadsActivities) await this.#running;
  }

  #arm(): void {
    if (!this.#closed) this.#watch.set(new Map(this.#allFiles));
  }

  async #loop(): Promise<void> {
    this.#arm();
    while (!this.#closed) {
      if (this.#changed.size === 0) await new Promise<void>((resolve) => this.#wake = resolve);
      this.#wake = undefined;
      if (this.#closed) return;
      const changed = [...this.#changed];
      this.#changed.clear();
      this.#attempt = new AbortController();
      const { signal } = this.#attempt;
      const touches = (files: ReadonlyMap<string, string>) =>
        changed.some((path) => files.has(path));
      const touched = {
        activities: touches(this.#activityFiles),
        nexus: touches(this.#nexusFiles),
        workflows: this.#parts.workflows && touches(this.#parts.workflowFiles.current),
      };
      // Activities first: a new workflow may call a new activity.
      if (touched.activities) await this.#activities();
      if (this.#closed) return;
      if (touched.nexus) await this.#nexus(changed);
      if (touched.workflows && !await this.#workflows(signal)) {
        for (const path of this.#parts.workflowFiles.current.keys()) this.#changed.add(path);
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, AGAIN_MS);
          this.#wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      this.#attempt = undefined;
      this.#arm();
    }
  }

  /** Returns false if the same code should be retried. */
  async #workflows(signal: AbortSignal): Promise<boolean> {
    const { worker, workflowFiles, tell, progress, values } = this.#parts;
    const since = performance.now();
    const before = workflowFiles.current;
    workflowFiles.current = new Map();
    let armed = false;
    try {
      const found = await this.#parts.lint();
      if (found.length > 0) throw new LintErrors(found);
      // From here on, files have the state that the load reads.
      workflowFiles.current = new Map();
      const replaced = await worker.replaceWorkflows(undefined, {
        signal,
        ...(values !== undefined && { values }),
        onProgress: (now) => {
          progress(now);
          if (now.phase === "load" || armed) return;
          armed = true;
          this.#arm();
        },
      });
      progress(undefined);
      tell({ event: "replaced", ...replaced, ms: Math.round(performance.now() - since) });
    } catch (error) {
      progress(undefined);
      // A load that failed early has not read all relevant files.
      const missed = [...before.keys()].filter((path) => !workflowFiles.current.has(path));
      for (const [path, stamp] of FileWatch.stamps(missed)) workflowFiles.current.set(path, stamp);
      if (this.#closed || signal.aborted) return true;
      if (error instanceof LintErrors) {
        tell({ event: "refused", why: "lint", message: error.message, problems: error.findings });
      } else if (error instanceof WorkflowReplacementError) {
        tell({ event: "refused", why: "runs", message: error.message, problems: error.problems });
      } else if (error instanceof WorkflowLoadError) {
        tell({ event: "refused", why: "load", message: error.message, problems: error.problems });
      } else {
        tell({ event: "refused", why: "failed", message: (error as Error).message });
        return worker.state !== "running";
      }
    }
    return true;
  }

  async #activities(): Promise<void> {
    const { worker, activityModules, activityThreads, tell } = this.#parts;
    const since = performance.now();
    this.#activityFiles = FileWatch.stamps(await moduleFiles(activityModules));
    try {
      this.#loadsActivities = true;
      const activities = await worker.replaceActivities({ activityThreads: activityThreads! });
      tell({ event: "activitiesReplaced", activities, ms: Math.round(performance.now() - since) });
    } catch (error) {
      if (!this.#closed) {
        tell({ event: "refused", why: "activities", message: (error as Error).message });
      }
    } finally {
      this.#loadsActivities = false;
    }
  }

  async #nexus(changed: readonly string[]): Promise<void> {
    const { worker, nexusModules, tell } = this.#parts;
    const since = performance.now();
    const files = await moduleFiles(nexusModules);
    this.#nexusFiles = FileWatch.stamps(files);
    try {
      // Deno caches the imports of a module, even if the module itself is imported again.
      const kept = "Deno" in globalThis
        ? changed.filter((path) => files.has(path) && !nexusModules.includes(path))
        : [];
      if (kept.length > 0) {
        throw new Error(`Deno does not load ${kept.join(", ")} again: start the worker again`);
      }
      forget(files);
      const services = await this.#parts.loadNexus();
      worker.replaceNexusServices(services!);
      const ms = Math.round(performance.now() - since);
      tell({ event: "nexusServicesReplaced", nexusServices: worker.nexusServices, ms });
    } catch (error) {
      if (!this.#closed) {
        tell({ event: "refused", why: "nexus", message: (error as Error).message });
      }
    }
  }
}
