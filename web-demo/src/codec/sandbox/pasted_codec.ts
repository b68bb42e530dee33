// Runs a pasted codec in a worker of a sandboxed frame. Messages from there can come from hostile
// code, so they are checked.
import type { Payload, PayloadCodec } from "temporalex";
import { codecScriptUrl } from "virtual:sandbox";
import type { WebWorker } from "../../../../ts/platform/threads.ts";
import { plainData } from "../../realm/checked_messages.ts";
import { SandboxFrame } from "../../realm/sandbox_frame.ts";
import { onlyEncoded } from "../remote_codec.ts";
import type { FromCodec, ToCodec } from "./protocol.ts";

/** Time limits for loading the module, and for decoding one batch. */
const LOAD_MS = 10_000;
const DECODE_MS = 30_000;
/** Limit for one response; histories are smaller. */
const MOST_BYTES = 256 * 1024 * 1024;

export interface RunningCodec {
  readonly codec: PayloadCodec;
  /** Terminates the worker; pending calls reject with `reason`. */
  stop(reason?: string): void;
  isRunning(): boolean;
}

/**
 * Loads the module that the user has permitted. Rejects if loading fails. `stopped`: terminates it
 * at any time, also while it loads.
 */
export async function runCodec(text: string, stopped: AbortSignal): Promise<RunningCodec> {
  const frame = await openFrame(stopped);
  const open = new Map<
    number,
    { resolve(payloads: Payload[]): void; reject(error: Error): void }
  >();
  const worker: WebWorker = frame.worker();
  let give: () => void = () => {}, end: (error: Error) => void = () => {};
  const loaded = new Promise<void>((resolve, reject) => [give, end] = [resolve, reject]);
  loaded.catch(() => {});
  const stop = (reason = "the codec was stopped") => {
    const error = new Error(reason);
    for (const { reject } of open.values()) reject(error);
    open.clear();
    end(error);
    frame.remove();
  };
  stopped.addEventListener("abort", () => stop(), { once: true });
  if (stopped.aborted) stop();
  worker.onerror = (event) => stop(`the codec was terminated: ${(event as ErrorEvent).message}`);
  worker.onmessageerror = () => stop("the codec was terminated: a message from it cannot be read");
  const late = (what: string, ms: number) =>
    setTimeout(() => stop(`the codec was terminated: ${what} took longer than ${ms / 1000} s`), ms);
  const post = (message: ToCodec) => worker.postMessage(message);
  worker.onmessage = ({ data }) => {
    const message = data as FromCodec;
    if (message.t === "loaded") give();
    else if (message.t === "refused") end(new Error(message.message));
    else {
      const asked = open.get(message.id);
      open.delete(message.id);
      if (message.t === "decoded") asked?.resolve(message.payloads);
      else asked?.reject(new Error(message.message));
    }
  };
  const timer = late("loading", LOAD_MS);
  try {
    if (!frame.removed) post({ t: "load", text });
    await loaded;
  } catch (error) {
    frame.remove();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  let ids = 0;
  const codec = onlyEncoded(async (payloads) => {
    const timer = late("decoding", DECODE_MS);
    const id = ++ids;
    try {
      return await new Promise<Payload[]>((resolve, reject) => {
        if (frame.removed) return reject(new Error("the codec was stopped"));
        open.set(id, { resolve, reject });
        post({ t: "decode", id, payloads });
      });
    } finally {
      clearTimeout(timer);
    }
  });
  return { codec, stop, isRunning: () => !frame.removed };
}

/** Rejects immediately when stopped, also while the frame is loading. */
async function openFrame(stopped: AbortSignal): Promise<SandboxFrame> {
  const opening = open();
  const ended = new Promise<never>((_, reject) => {
    const end = () => reject(new Error("the codec was stopped"));
    if (stopped.aborted) end();
    stopped.addEventListener("abort", end, { once: true });
  });
  ended.catch(() => opening.then((frame) => frame.remove(), () => {}));
  return await Promise.race([opening, ended]);
}

async function open(): Promise<SandboxFrame> {
  const response = await fetch(new URL(codecScriptUrl, document.baseURI));
  if (!response.ok) {
    throw new Error(`cannot fetch the script of the sandbox: status ${response.status}`);
  }
  const files = { script: await response.text(), core: new ArrayBuffer(0), hasCrypto: true };
  return await SandboxFrame.open({ files, check: checkedCodecMessage });
}

/** Returns the message. Throws an Error if it is invalid. */
function checkedCodecMessage(data: unknown): FromCodec {
  plainData(data);
  const message = (data ?? {}) as {
    readonly t?: unknown;
    readonly id?: unknown;
    readonly message?: unknown;
    readonly payloads?: unknown;
  };
  const isFailure = typeof message.message === "string" && message.message.length < 2000;
  const isKnown = message.t === "loaded" || (message.t === "refused" && isFailure) ||
    (message.t === "failed" && isFailure && typeof message.id === "number") ||
    (message.t === "decoded" && typeof message.id === "number" && arePayloads(message.payloads));
  if (!isKnown) throw new Error("it sent an invalid message");
  return data as FromCodec;
}

function arePayloads(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  let bytes = 0;
  const isBytes = (each: unknown) => {
    if (!(each instanceof Uint8Array)) return false;
    bytes += each.length;
    return true;
  };
  const areRight = value.every((payload: Partial<Payload> | null) =>
    typeof payload === "object" && payload !== null && typeof payload.metadata === "object" &&
    payload.metadata !== null &&
    Object.values(payload.metadata).every(isBytes) && isBytes(payload.data)
  );
  if (bytes > MOST_BYTES) throw new Error(`it returned ${Math.round(bytes / 2 ** 20)} MiB at once`);
  return areRight;
}
