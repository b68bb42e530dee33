// How the host of a test reports unhandled rejections: web events where they exist (Deno,
// browsers), else Node's process events. In Node the test runner's own listeners are set aside
// while ours is there, or they would fail the test for what the executor takes.
import type { RejectionHost, RejectionListener } from "../../ts/executor/program/rejections.ts";

interface NodeProcess {
  listeners(event: string): ((...args: never[]) => void)[];
  removeAllListeners(event: string): void;
  removeListener(event: string, listener: (...args: never[]) => void): void;
  on(event: string, listener: (...args: never[]) => void): void;
}
interface RejectionEvent extends Event {
  readonly promise: Promise<unknown>;
  readonly reason: unknown;
}

function webHost(target: EventTarget): RejectionHost {
  return {
    listen(listener: RejectionListener) {
      const unhandled = (event: Event) => {
        const { promise, reason } = event as RejectionEvent;
        if (listener.unhandled(promise, reason)) event.preventDefault();
      };
      const handled = (event: Event) => listener.handled((event as RejectionEvent).promise);
      target.addEventListener("unhandledrejection", unhandled);
      target.addEventListener("rejectionhandled", handled);
      return () => {
        target.removeEventListener("unhandledrejection", unhandled);
        target.removeEventListener("rejectionhandled", handled);
      };
    },
  };
}

function nodeHost(process: NodeProcess): RejectionHost {
  return {
    listen(listener: RejectionListener) {
      const before = process.listeners("unhandledRejection");
      process.removeAllListeners("unhandledRejection");
      const unhandled = (reason: unknown, promise: Promise<unknown>) => {
        if (listener.unhandled(promise, reason)) return;
        for (const other of before) (other as (...args: unknown[]) => void)(reason, promise);
      };
      const handled = (promise: Promise<unknown>) => listener.handled(promise);
      process.on("unhandledRejection", unhandled as never);
      process.on("rejectionHandled", handled as never);
      return () => {
        process.removeListener("unhandledRejection", unhandled as never);
        process.removeListener("rejectionHandled", handled as never);
        for (const other of before) process.on("unhandledRejection", other);
      };
    },
  };
}

const realm = globalThis as unknown as { addEventListener?: unknown; process?: NodeProcess };

export const rejectionHost: RejectionHost = typeof realm.addEventListener === "function"
  ? webHost(globalThis as unknown as EventTarget)
  : nodeHost(realm.process!);
