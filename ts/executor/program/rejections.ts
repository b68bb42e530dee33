// Promises of workflow code that are rejected and that nobody handles. The host reports them (Node's "unhandledRejection", the web's
// "unhandledrejection" events) through an interface, because this room knows no platform. A report belongs to the run whose task is
// open: one task at a time per realm, and one more hop before a task's completion leaves, because Chromium reports one hop late.
import { stackText } from "../../converter/stack.ts";
import { errorText, isA } from "../../converter/thrown.ts";
import { describeThrown, UnhandledRejectionError } from "./errors.ts";

/** What the host tells. */
export interface RejectionListener {
  /** Answers whether the executor takes it; if not, the host goes on as if nobody had listened. */
  unhandled(promise: Promise<unknown>, reason: unknown): boolean;
  /** A rejection reported before got its handler after all. */
  handled(promise: Promise<unknown>): void;
}

export interface RejectionHost {
  /** Calls the listener from now on, until the function that it answers is called. */
  listen(listener: RejectionListener): () => void;
}

/** Rejections of one run that are unhandled now. */
export class OpenRejections {
  #open: Map<Promise<unknown>, unknown> | undefined;
  readonly #ignores: (reason: unknown) => boolean;

  readonly #describe: (reason: unknown) => string | undefined;

  /** `describe`: the message of the error for a reason; undefined: the usual one. */
  constructor(ignores: (reason: unknown) => boolean, describe: (reason: unknown) => string | undefined = () => undefined) {
    this.#ignores = ignores;
    this.#describe = describe;
  }

  add(promise: Promise<unknown>, reason: unknown): void {
    if (!this.#ignores(reason)) (this.#open ??= new Map()).set(promise, reason);
  }

  remove(promise: Promise<unknown>): void {
    this.#open?.delete(promise);
  }

  /** The error for the first of them, or undefined when there is none. */
  error(): Error | undefined {
    for (const reason of this.#open?.values() ?? []) return unhandledRejection(reason, this.#describe(reason));
    return undefined;
  }
}

/** The error for a rejection that nothing handled. */
export function unhandledRejection(reason: unknown, message?: string): Error {
  const text = isA(reason, Error) ? errorText(reason) : describeThrown(reason);
  const error = new UnhandledRejectionError(
    message ?? `unhandled promise rejection in a workflow (${text}); await the promise or catch its error`,
    { cause: reason },
  );
  if (isA(reason, Error)) error.stack = stackText(reason);
  return error;
}

/** To which run of the realm a report belongs. */
export class RejectionReports {
  #current: OpenRejections | undefined;
  readonly #stop: () => void;

  constructor(host: RejectionHost) {
    this.#stop = host.listen({
      unhandled: (promise, reason) => {
        this.#current?.add(promise, reason);
        return this.#current !== undefined;
      },
      handled: (promise) => this.#current?.remove(promise),
    });
  }

  /** From now on reports belong to this run; undefined: to nobody. */
  attribute(rejections: OpenRejections | undefined): void {
    this.#current = rejections;
  }

  dispose(): void {
    this.#stop();
  }
}
