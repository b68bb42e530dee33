// Runtime: the process's logger for all workers, and the signals that stop them. The official one also holds a native library; here there
// is none.
import { IllegalStateError, type Logger, type MetricMeter, noopMetricMeter } from "../common/mod.ts";
import { onSignals } from "./host.ts";
import { type CompiledRuntimeOptions, compileOptions, type RuntimeOptions } from "./runtime_options.ts";

/** What all workers of the process share: `Runtime.install({ logger })` before the first of them is made. */
export class Runtime {
  /** The one of the process. */
  static _instance?: Runtime;
  /** Options of `instance()`, where `install` was not called. */
  static defaultOptions: RuntimeOptions = {};
  static #instantiator: "install" | "instance" | undefined;
  static #isCreating = false;

  /** Options with their defaults. */
  readonly options: CompiledRuntimeOptions;
  /** Where lines go. */
  readonly logger: Logger;
  /** Metrics; they are dropped where there is no exporter. */
  readonly metricMeter: MetricMeter;
  readonly #callbacks = new Set<() => void>();
  /** Workers and connections that have it. */
  readonly #holders = new Set<object>();
  /** Workers that are being made, wait to run, or run. */
  readonly #workers = new Set<object>();
  #unlisten: (() => void) | undefined;
  /** The process has got one of the signals: what runs from now on stops at once. */
  #signalled = false;

  protected constructor(options: CompiledRuntimeOptions) {
    if (!Runtime.#isCreating) {
      throw new TypeError('Runtime has no public constructor: use "Runtime.install(options)" or "Runtime.instance()"');
    }
    this.options = options;
    this.logger = options.logger;
    this.metricMeter = options.metrics?.meter ?? noopMetricMeter;
  }

  /** Makes the process's runtime. Throws an IllegalStateError when there is one, and a TypeError for options that cannot be honoured. */
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

  /** The process's runtime; made with the defaults if need be. */
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

  /** Writes what the logger still holds, if it is one that holds something. */
  flushLogs(): void {
    (this.logger as { flush?(): void }).flush?.();
  }

  /**
   * From now on the first of `shutdownSignals` stops the workers, those that have not begun to run among them. What comes after it does what
   * it does by default: it ends the process.
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

  /** Calls `callback` when the process gets one of `shutdownSignals`; soon, if it has got one since there is this runtime. */
  registerShutdownSignalCallback(callback: () => void): void {
    if (this.#signalled) return queueMicrotask(callback);
    this.#callbacks.add(callback);
    this.#listen();
  }

  /** Takes back what `registerShutdownSignalCallback` did. Without workers, signals do what they do by default. */
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
   * @internal A worker or a connection uses it, until what this returns is called. With the last of them it is shut down, so that another may
   * be installed: programs install one for each of their test files.
   */
  hold(holder: object): () => Promise<void> {
    this.#holders.add(holder);
    return async () => {
      if (this.#holders.delete(holder) && this.#holders.size === 0) await this.shutdown();
    };
  }

  /** @internal A worker is being made, and has not ended yet, until what this returns is called: signals wait for it to run. */
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

  /** Gives the singleton up, so that another one can be installed, and closes the server of metrics. */
  async shutdown(): Promise<void> {
    this.#callbacks.clear();
    this.#unlisten?.();
    this.#unlisten = undefined;
    if (Runtime._instance === this) Runtime._instance = undefined;
    await this.options.metrics?.close();
  }
}
