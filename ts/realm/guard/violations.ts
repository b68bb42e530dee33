// How the guard asks what is going on in its realm, and how it says no.
import { type Current, noteRefused } from "../../executor/program/current.ts";
import { type GuardEffect, lineProbes } from "../../executor/program/line_probe.ts";
import { packageFolder } from "../../modules/loader/package_files.ts";
import { ownCode } from "../../platform/own_code.ts";
import { DeterminismError } from "./errors.ts";

/**
 * What packages take for the time while they are loaded: 2026-01-01, in every realm. Some of them look at the clock then, for what has nothing
 * to do with a run (how often a function is called, say).
 */
const LOADING_TIME_MS = 1_767_225_600_000;

/** The numbers that a package draws while it is loaded: the same in every realm, whatever else is loaded there. */
class PackageRandom {
  #state = 0x811c9dc5;

  constructor(name: string) {
    for (let i = 0; i < name.length; i++) this.#state = Math.imul(this.#state ^ name.charCodeAt(i), 0x01000193);
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

/** What workflow code sees of the run that is being activated. */
export class GuardContext {
  readonly #current: Current;
  readonly #packages = new Map<string, PackageRandom>();
  #loading = false;

  constructor(current: Current) {
    this.#current = current;
  }

  /** In the function of sideEffect() the host's own time and entropy are what is asked for. */
  get inSideEffect(): boolean {
    return this.#current.closure === "sideEffect";
  }

  /**
   * Modules of a run are evaluated by this. A refusal that they catch is none: whoever looks around there goes without, at each replay again,
   * and what they do not catch fails the task anyway.
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

  /** Refuses. The run remembers it, except in a query, which fails by itself, and in a validator, whose update is rejected. */
  refuse(api: string, advice: string): never {
    const error = new DeterminismError(api, advice);
    if (this.#loading) throw error;
    this.#tell(api, "refused", advice);
    const { fiber, run } = this.#current;
    // Programs of other models have no fibers: what runs is the run's.
    const failing = fiber?.run ?? (run?.isNative === true ? undefined : run);
    if (noteRefused(error) === "fails the task") failing?.fail?.(error);
    throw error;
  }

  /** No run is active, and the code that asks is a package's: its module is being loaded. Its name. */
  packageLoads(): string | undefined {
    return this.#current.run === undefined ? this.callingPackage() : undefined;
  }

  /** The name of the package whose code asks; undefined where a module of the program's own does. */
  callingPackage(): string | undefined {
    // The first frame of loaded code: those above it are this package's.
    const frames = (new Error().stack ?? "").split("\n").slice(1).filter((line) => !line.includes(ownCode));
    return packageFolder(frames[0] ?? "")?.name;
  }

  /** To the debug session that replays, if one does: at which line what was called. */
  #tell(api: string, effect: GuardEffect, given: number | string): void {
    if (!this.#loading) lineProbes.watcher?.guarded(api, effect, given);
  }

  /** Workflow time, milliseconds since the epoch. */
  now(api: string): number {
    const { run } = this.#current;
    if (run !== undefined) {
      this.#tell(api, "clock", run.timeMs);
      return run.timeMs;
    }
    if (this.packageLoads() !== undefined) return LOADING_TIME_MS;
    return this.refuse(api, "there is no workflow time while modules are loaded; call it inside the workflow's function");
  }

  /** The run's seeded generator. Code that does not run again on replay must not advance it. */
  #seeded(api: string): { random(): number; randomBytes(length: number): Uint8Array } {
    const { run, closure } = this.#current;
    if (closure === "query" || closure === "validator" || closure === "schema" || closure === "log") {
      const what = closure === "log" ? "the fields of a log line" : `a ${closure}`;
      return this.refuse(api, `${what} does not run again on replay, so it must not take numbers from the run's generator`);
    }
    if (run !== undefined) return run;
    const name = this.packageLoads();
    if (name !== undefined) return this.#ofPackage(name);
    return this.refuse(api, "there is no seed while modules are loaded; call it inside the workflow's function");
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

  /** `shown`: what is made of them. */
  randomBytes(api: string, length: number, shown?: (bytes: Uint8Array) => string): Uint8Array {
    const bytes = this.#seeded(api).randomBytes(length);
    this.#tell(api, "random", shown?.(bytes) ?? `${length} bytes`);
    return bytes;
  }

  /** A line of workflow code: silent while its run replays; `elsewhere` where there is no run. */
  log(level: Level, message: string, elsewhere: (level: Level, message: string) => void): void {
    const { fiber, run } = this.#current;
    if (fiber !== undefined) fiber.run.log.write(level, message);
    else if (run?.logLine !== undefined) run.logLine(level, message);
    else if (run === undefined || !run.isReplaying) elsewhere(level, message);
  }
}
