// The ways to a codec endpoint: a frame that may connect to it and to nothing else, made when it is asked and removed after; or the server of
// `temporalex debug`, which passes payloads on to the endpoint of its command line.
import { dataAddress } from "../served/about.ts";
import type { CodecStart, FromCodecFrame } from "./frame/protocol.ts";
import type { Answer } from "./remote_codec.ts";

const START_MS = 20_000;

/** One opened way. */
export interface Endpoint {
  send(body: string): Promise<Answer>;
  close(): void;
}

/** The address that payloads are posted to. Throws an Error for one that is none. */
export function decodeAddress(text: string): URL {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    throw new Error(`"${text.trim()}" is no address; one begins with http:// or https://`);
  }
  if (!/^https?:$/.test(url.protocol)) {
    throw new Error(`${url.protocol} is not asked; an endpoint begins with http:// or https://`);
  }
  if (url.username !== "" || url.password !== "") throw new Error("an address with a password is not asked; use the header");
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
    // The server's own answer, not the endpoint's.
    if (response.headers.has("codec-unreached")) throw new Error((JSON.parse(text) as { readonly message: string }).message);
    return { status: response.status, text };
  },
  close() {},
};

/** Opens the frame. Nothing is sent yet. */
export async function openEndpoint(endpoint: URL, headers: CodecStart["headers"]): Promise<Endpoint> {
  const frame = document.createElement("iframe");
  frame.hidden = true;
  frame.title = "Codec endpoint";
  frame.tabIndex = -1;
  frame.setAttribute("aria-hidden", "true");
  frame.src = new URL("codec.html", document.baseURI).href;
  const { port1, port2 } = new MessageChannel();
  const open = new Map<number, { resolve(answer: Answer): void; reject(error: Error): void }>();
  let ids = 0;
  const close = () => {
    frame.remove();
    port1.close();
  };
  const here = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error("the frame for the endpoint did not start: is codec.html beside the page?")),
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
    new Promise<Answer>((resolve, reject) => {
      open.set(++ids, { resolve, reject });
      port1.postMessage({ id: ids, body });
    });
  return { send, close };
}

const unreached = (endpoint: URL, why: string): Error =>
  new Error(
    `${endpoint.href} was not reached (${why}): does it run, and does it allow the origin ${location.origin} (CORS, and the headers that are sent)?`,
  );
