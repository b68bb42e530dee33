// The script of the sandboxed frame: creates workers from the posted script and forwards messages.
// Dropped code runs only in these workers, which inherit the opaque origin and the policy, never in
// this document.
import type { FrameStart, FromFrame, ToFrame } from "./protocol.ts";
import { isSubtleAsk, subtleFor } from "./subtle.ts";

interface Running {
  readonly worker: Worker;
  readonly port: MessagePort;
  /** The last progress message of a replay that was not forwarded yet. */
  at: unknown;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** The current second, and its number of messages. */
  second: number;
  messages: number;
}

const workers = new Map<number, Running>();
/**
 * A replay reports its progress at each task. Only the last report in this time is forwarded to the
 * page.
 */
const AT_MS = 50;

addEventListener("message", function begin(event: MessageEvent): void {
  const port = event.ports[0];
  if (
    event.source !== parent || port === undefined ||
    (event.data as FrameStart | null)?.t !== "start"
  ) return;
  removeEventListener("message", begin);
  // Without the sandbox this document would have the page's origin and its storage.
  if (self.origin !== "null") {
    post(port, {
      t: "refused",
      message: `the origin of the frame is ${self.origin}; code runs only in an opaque origin`,
    });
    return;
  }
  serve(port, event.data as FrameStart);
});

function post(port: MessagePort, message: FromFrame): void {
  port.postMessage(message);
}

function serve(
  control: MessagePort,
  { script, core, messagesPerSecond, hasCrypto = false }: FrameStart,
): void {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const end = (id: number) => {
    workers.get(id)?.worker.terminate();
    workers.get(id)?.port.close();
    clearTimeout(workers.get(id)?.timer);
    workers.delete(id);
  };
  const died = (id: number, reason: string) => {
    if (!workers.has(id)) return;
    end(id);
    post(control, { t: "died", id, reason });
  };
  const start = (id: number, port: MessagePort, isSpare: boolean) => {
    const worker = new Worker(url, { name: "workflows" });
    const running: Running = {
      worker,
      port,
      at: undefined,
      timer: undefined,
      second: 0,
      messages: 0,
    };
    workers.set(id, running);
    const subtle = hasCrypto ? subtleFor((reply) => worker.postMessage(reply)) : undefined;
    const passAt = () => {
      clearTimeout(running.timer);
      running.timer = undefined;
      if (running.at !== undefined) port.postMessage(running.at);
      running.at = undefined;
    };
    worker.onmessage = ({ data }) => {
      const second = Math.floor(performance.now() / 1000);
      if (second !== running.second) [running.second, running.messages] = [second, 0];
      // Protects the page, which has a single thread, from too many messages.
      if (++running.messages > messagesPerSecond) {
        died(id, `the worker sent more than ${messagesPerSecond} messages in a second`);
      } else if (subtle !== undefined && isSubtleAsk(data)) void subtle(data);
      else if ((data as { readonly t?: unknown } | null | undefined)?.t === "at") {
        running.at = data;
        running.timer ??= setTimeout(passAt, AT_MS);
      } else {
        passAt();
        port.postMessage(data);
      }
    };
    worker.onmessageerror = () => died(id, "a message of the worker cannot be read");
    worker.onerror = (event) => {
      event.preventDefault();
      died(id, event.message || "the worker cannot be started");
    };
    port.onmessage = ({ data }) => worker.postMessage(data);
    worker.postMessage({ core, isSpare });
  };
  control.onmessage = ({ data, ports }) => {
    const message = data as ToFrame;
    if (message.t === "worker") start(message.id, ports[0]!, message.isSpare);
    else {
      end(message.id);
      post(control, { t: "ended", id: message.id });
    }
  };
  post(control, { t: "here" });
}
