// Hand-made requests, one per protocol and encoding, and readers of their responses.
import { type ClientRequest, type IncomingMessage, request as http1Request } from "node:http";
import { connect as http2Connect } from "node:http2";
import net from "node:net";
import { endAfterGoaway } from "../../../../ts/platform/deno_goaway_workaround.ts";

/** Where a server listens, and how it is spoken to. */
export interface Place {
  readonly http: 1 | 2;
  readonly at: { readonly port: number } | { readonly path: string };
  readonly headers?: { readonly [name: string]: string };
}

export interface Answered {
  readonly status: number;
  /** The name of the code, whatever the protocol puts it in; undefined for a success. */
  readonly code: string | undefined;
  readonly text: string;
}

export const TYPES = [
  "application/json",
  "application/proto",
  "application/grpc",
  "application/grpc+json",
  "application/grpc-web+proto",
  "application/grpc-web+json",
  "application/connect+proto",
  "application/connect+json",
] as const;

export const isEnveloped = (type: string): boolean => /grpc|connect/.test(type);
const encodingHeader = (type: string) =>
  type.includes("grpc")
    ? "grpc-encoding"
    : type.includes("connect+")
    ? "connect-content-encoding"
    : "content-encoding";

/** A message as in the body. `length`: the length in the envelope, if it is wrong on purpose. */
export function bodyOf(
  type: string,
  message: Uint8Array,
  encoding: string | undefined,
  length = message.length,
): Uint8Array {
  if (!isEnveloped(type)) return message;
  const body = new Uint8Array(5 + message.length);
  body[0] = encoding === undefined ? 0 : 1;
  new DataView(body.buffer).setUint32(1, length);
  body.set(message, 5);
  return body;
}

/** Sends a request and reads its response. `unfinished`: the body is sent and not ended. */
export async function send(
  place: Place,
  path: string,
  type: string,
  body: Uint8Array,
  more: {
    encoding?: string | undefined;
    headers?: { [name: string]: string };
    unfinished?: boolean;
  } = {},
): Promise<Answered> {
  const headers = {
    "content-type": type,
    ...(type.includes("grpc") ? { te: "trailers" } : { "connect-protocol-version": "1" }),
    ...(more.encoding !== undefined && { [encodingHeader(type)]: more.encoding }),
    ...place.headers,
    ...more.headers,
  };
  const given = place.http === 1
    ? await over1(place, path, headers, body, more.unfinished ?? false)
    : await over2(place, path, headers, body, more.unfinished ?? false);
  return {
    status: given.status,
    code: codeOf(given.status, given.headers, given.text),
    text: given.text,
  };
}

interface Raw {
  readonly status: number;
  readonly headers: { readonly [name: string]: unknown };
  readonly text: string;
}

async function over1(
  place: Place,
  path: string,
  headers: object,
  body: Uint8Array,
  unfinished: boolean,
): Promise<Raw> {
  let request!: ClientRequest;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const at = "path" in place.at
      ? { socketPath: place.at.path }
      : { host: "127.0.0.1", port: place.at.port };
    request = http1Request(
      { ...at, method: "POST", path, headers: { ...headers }, agent: false },
      resolve,
    ).on("error", reject);
    if (unfinished) request.write(body);
    else request.end(body);
  });
  request.on("error", () => {});
  const parts: Uint8Array[] = [];
  for await (const part of answer) parts.push(part as Uint8Array);
  request.destroy();
  return {
    status: answer.statusCode ?? 0,
    headers: { ...answer.headers, ...answer.trailers },
    text: Buffer.concat(parts).toString("latin1"),
  };
}

async function over2(
  place: Place,
  path: string,
  headers: object,
  body: Uint8Array,
  unfinished: boolean,
): Promise<Raw> {
  const { at } = place;
  const session = http2Connect("http://127.0.0.1", {
    createConnection: () => "path" in at ? net.connect(at.path) : net.connect(at.port, "127.0.0.1"),
  });
  endAfterGoaway(session);
  session.on("error", () => {});
  try {
    const stream = session.request({ ":method": "POST", ":path": path, ...headers });
    let got: { [name: string]: unknown } = {};
    stream.on("response", (head) => got = { ...got, ...head }).on(
      "trailers",
      (tail) => got = { ...got, ...tail },
    );
    const ended = new Promise<void>((resolve, reject) => {
      // Arrives after the response was read: the rest of the request is not needed.
      stream.on("error", (error) => ":status" in got ? resolve() : reject(error)).on(
        "close",
        resolve,
      ).on("end", resolve);
    });
    const parts: Uint8Array[] = [];
    stream.on("data", (part: Uint8Array) => parts.push(part));
    if (unfinished) stream.write(body);
    else stream.end(body);
    await ended;
    return {
      status: Number(got[":status"]),
      headers: got,
      text: Buffer.concat(parts).toString("latin1"),
    };
  } finally {
    session.destroy();
  }
}

const GRPC_CODES: { readonly [status: string]: string } = {
  3: "invalid_argument",
  8: "resource_exhausted",
  12: "unimplemented",
  13: "internal",
};

function codeOf(
  status: number,
  headers: { readonly [name: string]: unknown },
  text: string,
): string | undefined {
  const grpc = headers["grpc-status"] ?? /grpc-status: *(\d+)/i.exec(text)?.[1];
  if (grpc !== undefined) {
    return String(grpc) === "0" ? undefined : GRPC_CODES[String(grpc)] ?? `grpc ${grpc}`;
  }
  return /"code":"(\w+)"/.exec(text)?.[1] ?? (status === 200 ? undefined : `http ${status}`);
}
