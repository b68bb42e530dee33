// The guard's view of the active run, and the function by which it rejects a call.
import { type Current, noteRefused } from "../../executor/program/current.ts";
import { type GuardEffect, lineProbes } from "../../executor/program/line_probe.ts";
import { packageFolder } from "../../modules/loader/package_files.ts";
import { ownCode } from "../../platform/own_code.ts";
import { DeterminismError } from "./errors.ts";

/**
 * The time that packages see while they are loaded: 2026-01-01 in every realm. Some read the clock
 * for reasons unrelated to runs, such as throttling.
 */
const LOADING_TIME_MS = 1_767_225_600_000;

/**
 * Random numbers for a package while it is loaded: the same in every realm, whatever else is
 * loaded.
 */
class PackageRandom {
  #state = 0x811c9dc5;

  constructor(name: string) {
    for (let i = 0; i < name.length; i++) {
      this.#state = Math.imul(this.#state ^ name.charCodeAt(i), 0x01000193);
    }
  }

  #next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let z = Math.imul(this.#state ^ (this.#state >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  }

  random(): number {
    return ((this.#next() >>> 6) * 0x8000000 + (this.#next() >>> 5)) / 0x20000000000000;
  }

  randomBytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.#next() & 255);
  }
}

export type Level = "debug" | "info" | "warn" | "error";

/** The run that is being activated, as workflow code may observe it. */
export class GuardContext {
  readonly #current: Current;
  readonly #packages = new Map<string, PackageRandom>();
  #loading = false;

  constructor(current: Current) {
    this.#current = current;
  }

  /** The function of sideEffect() gets the host's time and entropy. */
  get inSideEffect(): boolean {
    return this.#current.closure === "sideEffect";
  }

  /**
   * Evaluates modules of a run. A rejected call whose error they catch does not fail the run: it is
   * rejected again at each replay, and an uncaught error fails the task anyway.
   */
  whileLoading<T>(work: () => T): T {
    const before = this.#loading;
    this.#loading = true;
    try {
      return work();
    } finally {
      this.#loading = before;
    }
  }

  /**
   * Throws the error of a blocked API. The run records it, except in a query, which fails alone,
   * and in a validator, whose update is rejected.
   */
  refuse(api: string, advice: string): never {
    const error = new DeterminismError(api, advice);
    if (this.#loading) throw error;
    this.#tell(api, "refused", advice);
    const { fiber, run } = this.#current;
    // Programs of other models have no fibers: the active run is the caller.
    const failing = fiber?.run ?? (run?.isNative === true ? undefined : run);
    if (noteRefused(error) === "fails the task") failing?.fail?.(error);
    throw error;
  }

  /**
   * Returns the name of the package whose module is being loaded: no run is active and the
   * package's code calls.
   */
  packageLoads(): string | undefined {
    return this.#current.run === undefined ? this.callingPackage() : undefined;
  }

  /** Returns the name of the calling package; undefined if a module of the program calls. */
  callingPackage(): string | undefined {
    // The first frame of loaded code: frames above it belong to this package.
    const frames = (new Error().stack ?? "").split("\n").slice(1).filter((line) =>
      !line.includes(ownCode)
    );
    return packageFolder(frames[0] ?? "")?.name;
  }

  /** Reports the call and its line to a debug session that replays. */
  #tell(api: string, effect: GuardEffect, given: number | string): void {
    if (!this.#loading) lineProbes.watcher?.guarded(api, effect, given);
  }

  /** Returns workflow time in milliseconds since the epoch. */
  now(api: string): number {
    const { run } = this.#current;
    if (run !== undefined) {
      this.#tell(api, "clock", run.timeMs);
      return run.timeMs;
    }
    if (this.packageLoads() !== undefined) return LOADING_TIME_MS;
    return this.refuse(
      api,
      "workflow time does not exist while modules are loaded; call it inside the workflow's function",
    );
  }

  /**
   * Returns the run's seeded generator. Code that does not run again on replay must not advance it.
   */
  #seeded(api: string): { random(): number; randomBytes(length: number): Uint8Array } {
    const { run, closure } = this.#current;
    if (
      closure === "query" || closure === "validator" || closure === "schema" || closure === "log"
    ) {
      const what = closure === "log" ? "the fields of a log line" : `a ${closure}`;
      return this.refuse(
        api,
        `${what} does not run again on replay, so it must not take numbers from the run's generator`,
      );
    }
    if (run !== undefined) return run;
    const name = this.packageLoads();
    if (name !== undefined) return this.#ofPackage(name);
    return this.refuse(
      api,
      "the random seed does not exist while modules are loaded; call it inside the workflow's function",
    );
  }

  #ofPackage(name: string): PackageRandom {
    let found = this.#packages.get(name);
    if (found === undefined) this.#packages.set(name, found = new PackageRandom(name));
    return found;
  }

  random(api: string): number {
    const number = this.#seeded(api).random();
    this.#tell(api, "random", number);
    return number;
  }

  /** `shown`: formats the bytes for debug sessions. */
  randomBytes(api: string, length: number, shown?: (bytes: Uint8Array) => string): Uint8Array {
    const bytes = this.#seeded(api).randomBytes(length);
    this.#tell(api, "random", shown?.(bytes) ?? `${length} bytes`);
    return bytes;
  }

  /** Logs a line of workflow code: silent during replay. Outside of runs `elsewhere` is called. */
  log(level: Level, message: string, elsewhere: (level: Level, message: string) => void): void {
    const { fiber, run } = this.#current;
    if (fiber !== undefined) fiber.run.log.write(level, message);
    else if (run?.logLine !== undefined) run.logLine(level, message);
    else if (run === undefined || !run.isReplaying) elsewhere(level, message);
  }
}
