// Runtime: the logger and shutdown signals of all workers of the process. Unlike the official one,
// it has no native library.
import {
  IllegalStateError,
  type Logger,
  type MetricMeter,
  noopMetricMeter,
} from "../common/mod.ts";
import { onSignals } from "./host.ts";
import {
  type CompiledRuntimeOptions,
  compileOptions,
  type RuntimeOptions,
} from "./runtime_options.ts";

/** Shared by all workers of the process: `Runtime.install({ logger })` before the first worker. */
export class Runtime {
  /** The runtime of the process. */
  static _instance?: Runtime;
  /** Options of `instance()` without `install`. */
  static defaultOptions: RuntimeOptions = {};
  static #instantiator: "install" | "instance" | undefined;
  static #isCreating = false;

  /** Options with their defaults. */
  readonly options: CompiledRuntimeOptions;
  /** Receives log lines. */
  readonly logger: Logger;
  /** Metrics; discarded without an exporter. */
  readonly metricMeter: MetricMeter;
  readonly #callbacks = new Set<() => void>();
  /** Workers and connections that use it. */
  readonly #holders = new Set<object>();
  /** Workers that are being created, wait to run, or run. */
  readonly #workers = new Set<object>();
  #unlisten: (() => void) | undefined;
  /** True after a shutdown signal: workers that run later stop at once. */
  #signalled = false;

  protected constructor(options: CompiledRuntimeOptions) {
    if (!Runtime.#isCreating) {
      throw new TypeError(
        'Runtime has no public constructor: use "Runtime.install(options)" or "Runtime.instance()"',
      );
    }
    this.options = options;
    this.logger = options.logger;
    this.metricMeter = options.metrics?.meter ?? noopMetricMeter;
  }

  /**
   * Creates the process's runtime. Throws an IllegalStateError if it exists, and a TypeError for
   * unsupported options.
   */
  static install(options: RuntimeOptions): Runtime {
    if (Runtime._instance !== undefined) {
      throw new IllegalStateError(
        Runtime.#instantiator === "install"
          ? "Runtime singleton has already been installed"
          : "Runtime singleton has already been instantiated. Did you start a Worker before calling `install`?",
      );
    }
    return Runtime.#create(options, "install");
  }

  /** Returns the process's runtime; creates it with the defaults if needed. */
  static instance(): Runtime {
    return Runtime._instance ?? Runtime.#create(Runtime.defaultOptions, "instance");
  }

  static #create(options: RuntimeOptions, instantiator: "install" | "instance"): Runtime {
    const compiled = compileOptions(options);
    Runtime.defaultOptions = options;
    Runtime.#instantiator = instantiator;
    Runtime.#isCreating = true;
    try {
      return Runtime._instance = new Runtime(compiled);
    } finally {
      Runtime.#isCreating = false;
    }
  }

  /** Flushes a buffering logger. */
  flushLogs(): void {
    (this.logger as { flush?(): void }).flush?.();
  }

  /**
   * Stops all workers at the first of `shutdownSignals`, including those that have not begun to
   * run. A second signal has its default effect and ends the process.
   */
  #listen(): void {
    if (this.#signalled) return;
    this.#unlisten ??= onSignals(this.options.shutdownSignals, () => {
      this.#signalled = true;
      this.#unlisten?.();
      this.#unlisten = undefined;
      const callbacks = [...this.#callbacks];
      this.#callbacks.clear();
      for (const each of callbacks) each();
    });
  }

  /** Calls `callback` at one of `shutdownSignals`; soon, if one has arrived already. */
  registerShutdownSignalCallback(callback: () => void): void {
    if (this.#signalled) return queueMicrotask(callback);
    this.#callbacks.add(callback);
    this.#listen();
  }

  /**
   * Removes a callback of `registerShutdownSignalCallback`. Without workers, signals have their
   * default effects.
   */
  deregisterShutdownSignalCallback(callback: () => void): void {
    this.#callbacks.delete(callback);
    this.#unlistenIfIdle();
  }

  #unlistenIfIdle(): void {
    if (this.#callbacks.size > 0 || this.#workers.size > 0) return;
    this.#unlisten?.();
    this.#unlisten = undefined;
  }

  /**
   * @internal Registers a worker or a connection; returns the function that unregisters it. The
   * last one shuts the runtime down, so that another one can be installed: test programs install
   * one for each file.
   */
  hold(holder: object): () => Promise<void> {
    this.#holders.add(holder);
    return async () => {
      if (this.#holders.delete(holder) && this.#holders.size === 0) await this.shutdown();
    };
  }

  /**
   * @internal Registers a worker until it has ended; returns the function that unregisters it.
   * Signals wait until it runs.
   */
  holdWorker(worker: object): () => Promise<void> {
    const release = this.hold(worker);
    this.#workers.add(worker);
    this.#listen();
    return async () => {
      this.#workers.delete(worker);
      this.#unlistenIfIdle();
      await release();
    };
  }

  /** Removes the runtime, so that another one can be installed, and closes the metrics server. */
  async shutdown(): Promise<void> {
    this.#callbacks.clear();
    this.#unlisten?.();
    this.#unlisten = undefined;
    if (Runtime._instance === this) Runtime._instance = undefined;
    await this.options.metrics?.close();
  }
}
