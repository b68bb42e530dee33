// The whole of codec.html: it asks the one endpoint that the user has named, for the page, whose own policy allows no other origin.
import type { CodecAsk, CodecStart, FromCodecFrame } from "./protocol.ts";

/** An endpoint that takes longer is given up. */
const ANSWER_MS = 30_000;

addEventListener("message", function begin(event: MessageEvent): void {
  const port = event.ports[0];
  if (event.source !== parent || event.origin !== location.origin || port === undefined) return;
  removeEventListener("message", begin);
  const { endpoint, headers } = event.data as CodecStart;
  const tell = (message: FromCodecFrame) => port.postMessage(message);
  const meta = document.createElement("meta");
  meta.httpEquiv = "Content-Security-Policy";
  meta.content = `connect-src ${sourceOf(new URL(endpoint))}`;
  document.head.append(meta);
  port.onmessage = async ({ data }) => {
    const { id, body } = data as CodecAsk;
    try {
      const response = await fetch(endpoint, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body,
        credentials: "omit",
        redirect: "error",
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      tell({ id, status: response.status, text: await response.text() });
    } catch (error) {
      tell({ id, error: (error as Error).message });
    }
  };
  tell({ id: 0, status: 0, text: "" });
});

/** Characters that end a source in a policy are left to the origin. */
const sourceOf = ({ origin, pathname }: URL): string => /[;,\s]/.test(pathname) ? origin : origin + pathname;
