// The page's side of the sandboxed frame: creates it, starts workers in it, and terminates both.
// Messages from it can be hostile, so they are checked before use (checked_messages.ts).
import type { WebWorker } from "../../../ts/platform/threads.ts";
import { checkedMessage } from "./checked_messages.ts";
import { type SandboxFiles, sandboxFiles } from "./sandbox_files.ts";
import { frameUrl } from "virtual:sandbox";
import type { FrameStart, FromFrame, ToFrame } from "./frame/protocol.ts";

/** Milliseconds. A slow phone starts the frame within this time. */
const START_MS = 20_000;
/**
 * Milliseconds. A loaded frame responds at once. This is the limit if there is another way to load
 * it.
 */
const REPLY_MS = 3000;
const SANDBOX = "allow-scripts";
/**
 * Milliseconds. A frame that does not terminate a worker within this time is removed with all its
 * workers.
 */
const END_MS = 300;
const MESSAGES_PER_SECOND = 50_000;

type Opened = readonly [element: HTMLIFrameElement, control: MessagePort];

interface Held {
  readonly port: MessagePort;
  readonly worker: WebWorker;
}

export interface FrameOptions {
  /** The script of its workers. Default: that of realms. */
  readonly files?: SandboxFiles & Pick<FrameStart, "hasCrypto">;
  /** Throws if the worker's script does not send such a message. */
  readonly check?: (data: unknown) => unknown;
  /** Aborting removes a frame that is still loading. */
  readonly signal?: AbortSignal;
}

/** One frame. Each code set has a separate frame, so that no two share an origin. */
export class SandboxFrame {
  readonly #control: MessagePort;
  readonly #check: (data: unknown) => unknown;
  readonly #element: HTMLIFrameElement;
  readonly #workers = new Map<number, Held>();
  #nextId = 1;
  #removed = false;

  /** Creates a frame. Rejects if the browser or the server prevents it. */
  static async open(options: FrameOptions = {}): Promise<SandboxFrame> {
    const { files = await sandboxFiles(), check = checkedMessage, signal } = options;
    return new SandboxFrame(...await SandboxFrame.#from(files, signal), check);
  }

  static async #from(files: SandboxFiles, signal: AbortSignal | undefined): Promise<Opened> {
    const isKept = typeof navigator.serviceWorker === "object" &&
      navigator.serviceWorker.controller !== null;
    if (isKept && !navigator.onLine) {
      return await SandboxFrame.#open(files, "from the service worker", START_MS, signal);
    }
    try {
      return await SandboxFrame.#open(
        files,
        "from the server",
        isKept ? REPLY_MS : START_MS,
        signal,
      );
    } catch (error) {
      // Browsers also fire the load event for a frame that was not fetched. Such a frame does not
      // respond.
      if (!isKept || signal?.aborted === true) throw error;
      return await SandboxFrame.#open(files, "from the service worker", START_MS, signal);
    }
  }

  /**
   * A service worker does not see requests of a frame with the attribute `sandbox`. Therefore the
   * cached frame is loaded without the attribute: its response has the same sandbox in its policy,
   * and both the document's script and this page reject a frame that is not sandboxed.
   */
  static async #open(
    files: SandboxFiles,
    where: "from the server" | "from the service worker",
    replyMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Opened> {
    signal?.throwIfAborted();
    const element = document.createElement("iframe");
    if (where === "from the server") element.setAttribute("sandbox", SANDBOX);
    element.setAttribute("aria-hidden", "true");
    element.hidden = true;
    element.tabIndex = -1;
    element.title = "Workflow code";
    element.src = new URL(frameUrl, document.baseURI).href;
    const { port1, port2 } = new MessageChannel();
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const late = () => reject(new Error("it did not start in time"));
        timer = setTimeout(late, START_MS);
        signal?.addEventListener("abort", () => reject(new Error("it was stopped")), {
          once: true,
        });
        element.onload = () => {
          if (element.contentDocument !== null) {
            return reject(new Error("the frame has the origin of this page"));
          }
          // A navigation of the document would be sandboxed as well.
          element.setAttribute("sandbox", SANDBOX);
          clearTimeout(timer);
          timer = setTimeout(late, replyMs);
          const start: FrameStart = {
            t: "start",
            ...files,
            messagesPerSecond: MESSAGES_PER_SECOND,
          };
          element.contentWindow!.postMessage(start, "*", [port2]);
        };
        element.onerror = () => reject(new Error("sandbox.html cannot be loaded"));
        port1.onmessage = ({ data }: MessageEvent<FromFrame>) => {
          if (data.t === "here") resolve();
          else {reject(
              new Error(data.t === "refused" ? data.message : "its first message is unknown"),
            );}
        };
        document.body.append(element);
      });
    } catch (error) {
      element.remove();
      port1.close();
      throw new Error(`the frame for workflow code cannot be used: ${(error as Error).message}`, {
        cause: error,
      });
    } finally {
      clearTimeout(timer);
    }
    return [element, port1];
  }

  private constructor(
    element: HTMLIFrameElement,
    control: MessagePort,
    check: (data: unknown) => unknown,
  ) {
    this.#check = check;
    this.#element = element;
    this.#control = control;
    control.onmessage = ({ data }: MessageEvent<FromFrame>) => this.#receive(data);
  }

  /** Whether the frame was removed with all its workers. */
  get removed(): boolean {
    return this.#removed;
  }

  /**
   * Starts a worker with the realm's script, which compiles the core at once. A spare worker
   * prepares itself further.
   */
  worker(isSpare = false): WebWorker {
    if (this.#removed) throw new Error("the frame for workflow code was removed");
    const id = this.#nextId++;
    const { port1, port2 } = new MessageChannel();
    const worker: WebWorker = {
      postMessage: (message) => port1.postMessage(message),
      terminate: () => this.#end(id),
      onmessage: null,
      onmessageerror: null,
      onerror: null,
    };
    port1.onmessage = (event) => {
      const held = this.#workers.get(id);
      if (held === undefined) return;
      try {
        this.#check(event.data);
      } catch (error) {
        this.#end(id);
        return this.#reportDeath(
          worker,
          `the worker sent an invalid message: ${(error as Error).message}`,
        );
      }
      worker.onmessage?.(event);
    };
    port1.onmessageerror = (event) => worker.onmessageerror?.(event);
    this.#workers.set(id, { port: port1, worker });
    this.#post({ t: "worker", id, isSpare }, [port2]);
    return worker;
  }

  /** Removes the frame with all its workers. */
  remove(): void {
    if (this.#removed) return;
    this.#removed = true;
    this.#element.remove();
    this.#control.close();
    for (const { port } of this.#workers.values()) port.close();
    this.#workers.clear();
  }

  #post(message: ToFrame, transfer: Transferable[] = []): void {
    this.#control.postMessage(message, transfer);
  }

  /** Timers of workers that the frame is terminating. If the frame is too busy, it is removed. */
  readonly #ending = new Map<number, ReturnType<typeof setTimeout>>();

  #end(id: number): void {
    const held = this.#workers.get(id);
    if (held === undefined || this.#removed) return;
    this.#workers.delete(id);
    held.port.close();
    this.#post({ t: "end", id });
    this.#ending.set(
      id,
      setTimeout(() => this.#lose("the frame did not terminate a worker"), END_MS),
    );
  }

  #lose(reason: string): void {
    const others = [...this.#workers.values()];
    this.remove();
    for (const { worker } of others) this.#reportDeath(worker, reason);
  }

  #reportDeath(worker: WebWorker, reason: string): void {
    worker.onerror?.(new ErrorEvent("error", { message: reason, cancelable: true }));
  }

  #receive(message: FromFrame): void {
    if (message.t === "ended") {
      clearTimeout(this.#ending.get(message.id));
      this.#ending.delete(message.id);
    } else if (message.t === "died") {
      const held = this.#workers.get(message.id);
      this.#workers.delete(message.id);
      held?.port.close();
      if (held !== undefined) this.#reportDeath(held.worker, message.reason.slice(0, 1000));
    }
  }
}
