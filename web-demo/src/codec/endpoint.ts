// Connections to a codec endpoint: a frame whose policy allows only that endpoint, removed after
// use; or the server of `temporalex debug`, which forwards payloads to the endpoint of its command
// line.
import { dataAddress } from "../served/about.ts";
import type { CodecStart, FromCodecFrame } from "./frame/protocol.ts";
import type { CodecResponse } from "./remote_codec.ts";

const START_MS = 20_000;

export interface Endpoint {
  send(body: string): Promise<CodecResponse>;
  close(): void;
}

/** The URL for requests, with "/decode". Throws an Error for an invalid address. */
export function decodeAddress(text: string): URL {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    throw new Error(`"${text.trim()}" is not an address; it must begin with http:// or https://`);
  }
  if (!/^https?:$/.test(url.protocol)) {
    throw new Error(
      `${url.protocol} is not supported; an endpoint must begin with http:// or https://`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new Error(
      "a user name or password in the address is not supported; use the Authorization field",
    );
  }
  url.hash = "";
  if (!/\/decode$/.test(url.pathname)) url.pathname = `${url.pathname.replace(/\/$/, "")}/decode`;
  return url;
}

/** The server that serves this page. */
export const relay: Endpoint = {
  async send(body) {
    const headers = { "content-type": "application/json" };
    const response = await fetch(dataAddress("codec"), { method: "POST", headers, body });
    const text = await response.text();
    // This response is of the server itself: it could not reach the endpoint.
    if (response.headers.has("codec-unreached")) {
      throw new Error((JSON.parse(text) as { readonly message: string }).message);
    }
    return { status: response.status, text };
  },
  close() {},
};

/** Opens the frame, without sending a request. */
export async function openEndpoint(
  endpoint: URL,
  headers: CodecStart["headers"],
): Promise<Endpoint> {
  const frame = document.createElement("iframe");
  frame.hidden = true;
  frame.title = "Codec endpoint";
  frame.tabIndex = -1;
  frame.setAttribute("aria-hidden", "true");
  frame.src = new URL("codec.html", document.baseURI).href;
  const { port1, port2 } = new MessageChannel();
  const open = new Map<
    number,
    { resolve(response: CodecResponse): void; reject(error: Error): void }
  >();
  let ids = 0;
  const close = () => {
    frame.remove();
    port1.close();
  };
  const here = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () =>
        reject(
          new Error(
            "the frame for the endpoint did not start; check that codec.html is next to the page",
          ),
        ),
      START_MS,
    );
    frame.onload = () => {
      const start: CodecStart = { endpoint: endpoint.href, headers };
      frame.contentWindow!.postMessage(start, location.origin, [port2]);
    };
    port1.onmessage = ({ data }) => {
      const message = data as FromCodecFrame;
      if (message.id === 0) {
        clearTimeout(timer);
        return resolve();
      }
      const asked = open.get(message.id);
      open.delete(message.id);
      if ("error" in message) asked?.reject(unreached(endpoint, message.error));
      else asked?.resolve(message);
    };
    document.body.append(frame);
  });
  await here.catch((error) => {
    close();
    throw error;
  });
  const send = (body: string) =>
    new Promise<CodecResponse>((resolve, reject) => {
      open.set(++ids, { resolve, reject });
      port1.postMessage({ id: ids, body });
    });
  return { send, close };
}

const unreached = (endpoint: URL, why: string): Error =>
  new Error(
    `${endpoint.href} was not reached: ${why}. Check that the endpoint runs and that its CORS headers allow ${location.origin}`,
  );
