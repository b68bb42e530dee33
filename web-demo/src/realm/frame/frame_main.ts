// The whole of the sandboxed frame: it makes workers from the text that the page posts, and carries messages. Code that was dropped on the
// page never runs in this document, only in its workers, which inherit the opaque origin and the policy.
import type { FrameStart, FromFrame, ToFrame } from "./protocol.ts";
import { isSubtleAsk, subtleFor } from "./subtle.ts";

interface Running {
  readonly worker: Worker;
  readonly port: MessagePort;
  /** Where a replay is, not passed on yet. */
  at: unknown;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** The second that is counted, and the messages in it. */
  second: number;
  messages: number;
}

const workers = new Map<number, Running>();
/** A replay says at each task where it is: of all that within this time the page gets the last one. */
const AT_MS = 50;

addEventListener("message", function begin(event: MessageEvent): void {
  const port = event.ports[0];
  if (event.source !== parent || port === undefined || (event.data as FrameStart | null)?.t !== "start") return;
  removeEventListener("message", begin);
  // Without the sandbox this document would have the page's origin, with its storage.
  if (self.origin !== "null") {
    tell(port, { t: "refused", message: `its origin is ${self.origin}, and code runs in an opaque one only` });
    return;
  }
  serve(port, event.data as FrameStart);
});

function tell(port: MessagePort, message: FromFrame): void {
  port.postMessage(message);
}

function serve(control: MessagePort, { script, core, messagesPerSecond, hasCrypto = false }: FrameStart): void {
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
    tell(control, { t: "died", id, reason });
  };
  const start = (id: number, port: MessagePort, isSpare: boolean) => {
    const worker = new Worker(url, { name: "workflows" });
    const running: Running = { worker, port, at: undefined, timer: undefined, second: 0, messages: 0 };
    workers.set(id, running);
    const subtle = hasCrypto ? subtleFor((answer) => worker.postMessage(answer)) : undefined;
    const passAt = () => {
      clearTimeout(running.timer);
      running.timer = undefined;
      if (running.at !== undefined) port.postMessage(running.at);
      running.at = undefined;
    };
    worker.onmessage = ({ data }) => {
      const second = Math.floor(performance.now() / 1000);
      if (second !== running.second) [running.second, running.messages] = [second, 0];
      // The page has one thread for everything: what floods it stops here.
      if (++running.messages > messagesPerSecond) died(id, `it sent more than ${messagesPerSecond} messages in a second`);
      else if (subtle !== undefined && isSubtleAsk(data)) void subtle(data);
      else if ((data as { readonly t?: unknown } | null | undefined)?.t === "at") {
        running.at = data;
        running.timer ??= setTimeout(passAt, AT_MS);
      } else {
        passAt();
        port.postMessage(data);
      }
    };
    worker.onmessageerror = () => died(id, "a message from it cannot be read");
    worker.onerror = (event) => {
      event.preventDefault();
      died(id, event.message || "it could not be started");
    };
    port.onmessage = ({ data }) => worker.postMessage(data);
    worker.postMessage({ core, isSpare });
  };
  control.onmessage = ({ data, ports }) => {
    const message = data as ToFrame;
    if (message.t === "worker") start(message.id, ports[0]!, message.isSpare);
    else {
      end(message.id);
      tell(control, { t: "ended", id: message.id });
    }
  };
  tell(control, { t: "here" });
}
