// The activation loop of one run (docs/dev/semantics/compat.md#the-order-of-an-activation): patches
// and the seed first, then all other jobs in Core's sorted order, the main function last, then one
// drain (a macrotask hop), then conditions and drains until nothing moves. The order is the
// official SDK's; a program's commands come out in the order in which its continuations run, so
// nothing here may take a tick more or less.
import type {
  Activation,
  InitializeWorkflow,
  Job,
  ResolveChildWorkflowStart,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { decodeArguments, decodeTypedValue } from "./typed_values.ts";
import type { Activator, RunContext, TaskWishes } from "../executor/program/program.ts";
import type { RunSnapshot } from "../executor/program/snapshot.ts";
import { current } from "../executor/program/current.ts";
import { errorText } from "../converter/thrown.ts";
import { hop } from "../platform/hop.ts";
import { IllegalStateError } from "./common/errors.ts";
import {
  isUnregisteredLocal,
  unregisteredLocalMessage,
} from "../executor/program/unregistered_local.ts";
import { decodeCompatFailure } from "./common/failure_converter.ts";
import { WorkflowExecutionAlreadyStartedError } from "./common/failures.ts";
import { setCurrentRun } from "./current.ts";
import { findWorkflowFunction, type WorkflowFunction } from "./exports.ts";
import { FLAG_SINGLE_BATCH } from "./flags.ts";
import type { CompatProgramOptions } from "./program.ts";
import { callThrough, toInterceptorHeaders } from "./interception.ts";
import { concludeActivation, shownActivation } from "./internals.ts";
import { nexusEnded, nexusStarted } from "./nexus_jobs.ts";
import { CompatRun, makeFirstConverter } from "./run.ts";
import { runGlobals } from "./sandbox/globals.ts";
import { takeSnapshot } from "./standing.ts";
import { LocalActivityDoBackoff } from "./workflow/activities.ts";
import type { WorkflowExecuteInput } from "./workflow/interceptors.ts";
import { readDefinition, readStaticOptions } from "./workflow/definition.ts";
import { withLifecycleLogs } from "./workflow/log.ts";
import { initialInfo } from "./workflow/info.ts";

/** temporal.api.enums.v1.StartChildWorkflowExecutionFailedCause */
const WORKFLOW_ALREADY_EXISTS = 1;

export class CompatActivator implements Activator {
  #options: CompatProgramOptions;
  #host: RunContext;
  #run: CompatRun | undefined;
  #main: WorkflowFunction | undefined;

  constructor(host: RunContext, options: CompatProgramOptions) {
    this.#host = host;
    this.#options = options;
  }

  async activate(activation: Activation): Promise<void> {
    const init = activation.jobs.find((job) => job.variant?.$case === "initializeWorkflow")?.variant
      ?.value as
        | InitializeWorkflow
        | undefined;
    if (init !== undefined) {
      this.#run = new CompatRun(this.#host, {
        scopes: this.#options.scopes,
        info: initialInfo(init, activation, {
          ...this.#host,
          converter: makeFirstConverter(this.#host, init.workflowId),
        }),
        timeMs: activation.timeMs,
        randomnessSeed: init.randomnessSeed,
      });
    }
    const run = this.#run;
    if (run === undefined) {
      throw new IllegalStateError("an activation for a run that is not initialized");
    }
    const before = setCurrentRun(run);
    const clock = current.run;
    current.run = run;
    try {
      if (activation.queryOnly) await this.#query(run, activation);
      else await this.#advance(run, activation, init);
    } finally {
      setCurrentRun(before);
      current.run = clock;
    }
  }

  /** Same text as the official worker's, for which tests and dashboards search. */
  rejectionMessage(reason: unknown): string {
    return `Unhandled Promise rejection: ${errorText(reason)}`;
  }

  get wishes(): TaskWishes {
    const run = this.#run;
    const notEager = run === undefined ? [] : [...run.notEager];
    // Commands for the next activation are scheduled by a later report.
    if (run?.issued.waiting !== true) run?.notEager.clear();
    const versioningBehavior = run?.definition.versioningBehavior;
    return {
      ...(versioningBehavior && { versioningBehavior }),
      ...(notEager.length > 0 && { notEager }),
    };
  }

  inspect(): RunSnapshot {
    return this.#run === undefined
      ? { published: undefined, waits: [], receive: undefined, buffered: {} }
      : takeSnapshot(this.#run);
  }

  dispose(): void {
    const run = this.#run;
    this.#run = undefined;
    this.#main = undefined;
    if (run === undefined || !run.interceptors.has("internals", "dispose")) return;
    const before = setCurrentRun(run);
    try {
      this.#inRootFrame(() => callThrough(run, "internals", "dispose", (_: object) => {})({}));
    } catch (error) {
      run.log("error", "an interceptor failed when its run left memory", { error: String(error) });
    } finally {
      setCurrentRun(before);
    }
  }

  async #query(run: CompatRun, activation: Activation): Promise<void> {
    const { info, isReplaying, issued } = run;
    const { holding } = issued;
    run.isReplaying = true;
    run.answersQueries = true;
    issued.holding = false;
    run.info = {
      ...info,
      unsafe: { ...info.unsafe, isReplaying: true, isReplayingHistoryEvents: false },
    };
    try {
      this.#inRootFrame(() => {
        this.#activated(run, activation, activation.jobs, 0, () => {
          for (const { variant } of activation.jobs) {
            if (variant?.$case === "queryWorkflow") run.messages.query(variant.value);
          }
        });
      });
      await hop();
      this.#inRootFrame(() => concludeActivation(run));
      if (issued.concluded) await hop();
    } finally {
      run.info = info;
      run.answersQueries = false;
      run.isReplaying = isReplaying;
      issued.holding = holding;
    }
  }

  async #advance(
    run: CompatRun,
    activation: Activation,
    init: InitializeWorkflow | undefined,
  ): Promise<void> {
    run.beginActivation(activation);
    if (run.issued.concluded) run.issued.release(this.#host.run);
    if (init !== undefined) {
      this.#main = this.#inRootFrame(() => this.#load(run));
      run.modulesEvaluated = true;
    }
    const patches: Job[] = [], seeds: Job[] = [], others: Job[] = [];
    for (const job of activation.jobs) {
      const kind = job.variant?.$case;
      (kind === "notifyHasPatch" ? patches : kind === "updateRandomSeed" ? seeds : others).push(
        job,
      );
    }
    for (const job of patches) this.#apply(run, job);
    const signals = others.filter((job) => job.variant?.$case === "signalWorkflow");
    if (signals.length === 0 || run.hasFlag(FLAG_SINGLE_BATCH)) {
      for (const job of seeds) this.#apply(run, job);
      await this.#batch(run, activation, others, 0);
    } else {
      // Before the flag: signals were drained before the other jobs, including a new seed.
      await this.#batch(run, activation, signals, 0);
      const rest = [...seeds, ...others].filter((job) => !signals.includes(job));
      if (rest.length > 0) await this.#batch(run, activation, rest, 1);
    }
    run.messages.rejectWaitingUpdates();
    if (run.issued.concluded) {
      run.issued.holding = true;
      this.#inRootFrame(() => concludeActivation(run));
    }
    if (run.completed) run.messages.warnOfUnfinished();
    // Reactions to interceptors run while this is the current run. Conditions are not checked.
    if (run.issued.concluded) await hop();
  }

  /** Applies jobs, starts the main function, drains. */
  async #batch(
    run: CompatRun,
    activation: Activation,
    jobs: Job[],
    batchIndex: number,
  ): Promise<void> {
    this.#inRootFrame(() =>
      this.#activated(run, activation, jobs, batchIndex, () => this.#applyAll(run, jobs))
    );
    for (;;) {
      await hop();
      if (this.#inRootFrame(() => run.unblockConditions()) === 0) break;
    }
    // A condition with a side effect may have resolved something without becoming true.
    if (run.conditions.size > 0) await hop();
    run.throwTaskError();
  }

  #applyAll(run: CompatRun, jobs: Job[]): void {
    let init: InitializeWorkflow | undefined;
    for (const job of jobs) {
      if (job.variant?.$case === "initializeWorkflow") init = job.variant.value;
      else {
        this.#apply(run, job);
        run.unblockConditions();
      }
    }
    if (init === undefined) return;
    this.#start(run, init);
    run.unblockConditions();
  }

  /** Applies jobs, through the interceptors of activations. */
  #activated(
    run: CompatRun,
    activation: Activation,
    jobs: readonly Job[],
    batchIndex: number,
    apply: () => void,
  ): void {
    if (!run.interceptors.has("internals", "activate")) return apply();
    callThrough(run, "internals", "activate", (_: object) => apply())(
      shownActivation(run, activation, jobs, batchIndex),
    );
  }

  /** Evaluates the program's modules for this run and finds its main function. */
  #load(run: CompatRun): WorkflowFunction {
    const modules = this.#options.modules({ globals: runGlobals(), helper: this.#options.helper });
    const converter = modules.converter();
    if (converter !== undefined) run.convertBy(converter);
    run.interceptors.add(modules.interceptors());
    if (run.interceptors.has("internals", "concludeActivation")) run.issued.concluded = true;
    const exported = modules.workflows();
    const { workflowType } = run.info;
    const main = findWorkflowFunction(exported, workflowType);
    if (main !== undefined) {
      run.definition = readDefinition(main);
      run.staticOptions = readStaticOptions(main);
      return main;
    }
    const other = exported.find((each) => workflowType in each)?.[workflowType];
    const why = other === undefined
      ? "no such function is exported by the workflow bundle"
      : `expected a function, but got: '${typeof other}'`;
    throw new TypeError(`Failed to initialize workflow of type '${workflowType}': ${why}`);
  }

  #start(run: CompatRun, init: InitializeWorkflow): void {
    run.watch?.told(1);
    run.watch?.began(run.fiber);
    const main = this.#main!;
    const args = decodeArguments(run.converter, init.arguments, run.staticOptions.typeInfo);
    const execute = callThrough(
      run,
      "inbound",
      "execute",
      async ({ args }: WorkflowExecuteInput) => await main(...args),
    );
    // As many promise links between the function and its outcome as in the official SDK.
    withLifecycleLogs(run, () => execute({ args, headers: toInterceptorHeaders(init.headers) }))
      .then((result) => run.completeWorkflow(result), (error) => run.endWith(error))
      .catch((error) => run.failTask(error));
  }

  #apply(run: CompatRun, { variant, eventId }: Job): void {
    run.watch?.told(eventId);
    switch (variant?.$case) {
      case "notifyHasPatch":
        return run.notePatch(variant.value.patchId);
      case "updateRandomSeed":
        return run.reseed(variant.value.randomnessSeed);
      case "signalWorkflow":
        return run.messages.signal(variant.value, eventId);
      case "doUpdate":
        return run.messages.update(variant.value);
      case "cancelWorkflow":
        run.cancelRequested = true;
        return run.rootScope.cancel();
      case "fireTimer":
        // A timer canceled in the same activation is ignored.
        run.timers.get(variant.value.seq)?.resolve(undefined);
        run.timers.delete(variant.value.seq);
        return;
      case "resolveActivity": {
        const { seq, result, isLocal } = variant.value;
        const { resolve, reject, converter = run.converter, outputType, activityType = "" } = run
          .takeCompletion(
            run.activities,
            seq,
          );
        switch (result?.$case) {
          case "completed":
            return resolve(decodeTypedValue(converter, result.value.result, outputType));
          case "failed":
            if (isLocal && isUnregisteredLocal(result.value)) {
              return reject(new ReferenceError(unregisteredLocalMessage(activityType)));
            }
            return reject(decodeCompatFailure(result.value, converter));
          case "cancelled":
            return reject(decodeCompatFailure(result.value, converter));
          case "backoff":
            return reject(new LocalActivityDoBackoff(result.value));
        }
        break;
      }
      case "resolveChildWorkflowStart":
        return this.#childStarted(run, variant.value);
      case "resolveChildWorkflow": {
        const { seq, result } = variant.value;
        const { resolve, reject, converter = run.converter, outputType } = run.takeCompletion(
          run.childEnds,
          seq,
        );
        if (result?.$case === "completed") {
          return resolve(decodeTypedValue(converter, result.value.result, outputType));
        }
        if (result !== undefined) return reject(decodeCompatFailure(result.value, converter));
        break;
      }
      case "resolveNexusOperationStart":
        return nexusStarted(run, variant.value);
      case "resolveNexusOperation":
        return nexusEnded(run, variant.value);
      case "resolveSignalExternalWorkflow":
        return this.#messageSent(run, run.externalSignals, variant.value);
      case "resolveCancelExternalWorkflow":
        return this.#messageSent(run, run.externalCancels, variant.value);
      case "removeFromCache":
        return;
      case "resolveTransact": // only native programs issue the command
    }
    throw new IllegalStateError(
      `a job of this kind cannot be applied: ${variant?.$case ?? "none"}`,
    );
  }

  #childStarted(run: CompatRun, { seq, status }: ResolveChildWorkflowStart): void {
    const { resolve, reject, converter = run.converter } = run.takeCompletion(run.childStarts, seq);
    switch (status?.$case) {
      case "started":
        return resolve(status.value.runId);
      case "failed": {
        const { workflowId, workflowType, cause } = status.value;
        if (cause !== WORKFLOW_ALREADY_EXISTS) {
          throw new IllegalStateError("Got unknown StartChildWorkflowExecutionFailedCause");
        }
        reject(
          new WorkflowExecutionAlreadyStartedError(
            "Workflow execution already started",
            workflowId,
            workflowType,
          ),
        );
        break;
      }
      case "cancelled":
        reject(decodeCompatFailure(status.value, converter));
        break;
      case undefined:
        throw new IllegalStateError("the start of a child workflow was resolved without a result");
    }
    run.childEnds.delete(seq);
  }

  #messageSent(
    run: CompatRun,
    pending: CompatRun["timers"],
    { seq, failure }: { seq: number; failure: Uint8Array },
  ): void {
    const { resolve, reject, converter = run.converter } = run.takeCompletion(pending, seq);
    if (failure.length === 0) resolve(undefined);
    else reject(decodeCompatFailure(failure, converter));
  }

  /** Calls code of the loop in the root scope, whatever ran last. */
  #inRootFrame<T>(fn: () => T): T {
    return this.#options.scopes.run(undefined, fn);
  }
}
