// Unhandled promise rejections of workflow code. The host reports them (Node's
// "unhandledRejection", the web's "unhandledrejection") through an interface, because this room is
// portable. A report belongs to the run with the open task: one per realm, and one more hop before
// its completion is sent, because Chromium reports one hop late.
import { stackText } from "../../converter/stack.ts";
import { errorText, isA, setStack } from "../../converter/thrown.ts";
import { describeThrown, UnhandledRejectionError } from "./errors.ts";

/** Listener for reports of the host. */
export interface RejectionListener {
  /** Returns whether the executor handles it; if not, the host applies its default. */
  unhandled(promise: Promise<unknown>, reason: unknown): boolean;
  /** A reported rejection got a handler later. */
  handled(promise: Promise<unknown>): void;
}

export interface RejectionHost {
  /** Registers the listener. Returns a function that removes it. */
  listen(listener: RejectionListener): () => void;
}

/** Unhandled rejections of one run. */
export class OpenRejections {
  #open: Map<Promise<unknown>, unknown> | undefined;
  readonly #ignores: (reason: unknown) => boolean;

  readonly #describe: (reason: unknown) => string | undefined;

  /** `describe`: the error message for a reason; undefined: the default message. */
  constructor(
    ignores: (reason: unknown) => boolean,
    describe: (reason: unknown) => string | undefined = () => undefined,
  ) {
    this.#ignores = ignores;
    this.#describe = describe;
  }

  add(promise: Promise<unknown>, reason: unknown): void {
    if (!this.#ignores(reason)) (this.#open ??= new Map()).set(promise, reason);
  }

  remove(promise: Promise<unknown>): void {
    this.#open?.delete(promise);
  }

  /** The error for the first rejection; undefined without one. */
  error(): Error | undefined {
    for (const reason of this.#open?.values() ?? []) {
      return unhandledRejection(reason, this.#describe(reason));
    }
    return undefined;
  }
}

/** Returns the error for an unhandled rejection. */
export function unhandledRejection(reason: unknown, message?: string): Error {
  const text = isA(reason, Error) ? errorText(reason) : describeThrown(reason);
  const error = new UnhandledRejectionError(
    message ??
      `unhandled promise rejection in a workflow (${text}); await the promise or catch its error`,
    { cause: reason },
  );
  if (isA(reason, Error)) setStack(error, stackText(reason));
  return error;
}

/** Attributes reports to a run of the realm. */
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

  /** Attributes later reports to this run; undefined: to no run. */
  attribute(rejections: OpenRejections | undefined): void {
    this.#current = rejections;
  }

  dispose(): void {
    this.#stop();
  }
}
