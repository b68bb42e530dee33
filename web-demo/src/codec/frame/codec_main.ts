// The script of codec.html: calls the endpoint that the user has entered. The policy of the page
// itself allows no other origin.
import type { CodecAsk, CodecStart, FromCodecFrame } from "./protocol.ts";

/** Timeout of one request. */
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

/**
 * The policy source for an endpoint: only the origin if the path has characters that would end the
 * source.
 */
const sourceOf = ({ origin, pathname }: URL): string =>
  /[;,\s]/.test(pathname) ? origin : origin + pathname;
