// Relays payloads between the page and the codec endpoint of the command line. The page cannot
// choose another address or header.
import { UsageError } from "../../frame/errors.ts";
import { type DataRoute, refusePageRequest, sendJson } from "../../page/page_server.ts";

/** A validated endpoint. */
export interface CodecEndpoint {
  /** Address for POST requests, including "/decode". */
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Maximum size of a batch of 128 payloads of at most 2 MiB in base64, and of its response. */
const MOST_BYTES = 384 * 1024 * 1024;
const ANSWER_MS = 30_000;
const BAD_GATEWAY = 502;

/**
 * Parses `--codec-endpoint` and `--codec-header`. Throws a UsageError for an invalid address or
 * header.
 */
export function codecEndpointOf(
  address: string | undefined,
  headers: readonly string[],
): CodecEndpoint | undefined {
  if (address === undefined) {
    if (headers.length > 0) {
      throw new UsageError(
        '--codec-header needs --codec-endpoint, for example --codec-endpoint http://localhost:8888 --codec-header "Authorization: Bearer TOKEN"',
      );
    }
    return undefined;
  }
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      `invalid --codec-endpoint "${address}": expected a URL, for example http://localhost:8888`,
    );
  }
  url.hash = "";
  if (!/\/decode$/.test(url.pathname)) url.pathname = `${url.pathname.replace(/\/$/, "")}/decode`;
  return { url: url.href, headers: headers.map(headerOf) };
}

function headerOf(text: string): readonly [string, string] {
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+)\s*[:=]\s*([^\r\n]*)$/.exec(text) ?? [];
  // The header may be a secret: only its form is in the message.
  if (name === undefined) {
    throw new UsageError(
      'invalid --codec-header: expected "Name: value", for example "Authorization: Bearer TOKEN"',
    );
  }
  return [name, value!];
}

/** Returns the route to which the page posts Payloads. */
export function codecRoute({ url, headers }: CodecEndpoint): DataRoute {
  return {
    method: "POST",
    maxBytes: MOST_BYTES,
    async handle(body, request, response) {
      if ((request.headers["content-type"] ?? "").split(";")[0]!.trim() !== "application/json") {
        return refusePageRequest(request, response, 400, "send Payloads as JSON");
      }
      try {
        const answer = await fetch(url, {
          method: "POST",
          headers: [
            ["content-type", "application/json"],
            ...headers.map(([name, value]): [string, string] => [name, value]),
          ],
          body: body as Uint8Array<ArrayBuffer>,
          redirect: "error",
          signal: AbortSignal.timeout(ANSWER_MS),
        });
        const text = new Uint8Array(await answer.arrayBuffer());
        response.writeHead(answer.status, {
          "content-type": "application/json",
          "content-length": text.length,
        }).end(text);
      } catch (error) {
        const { message, cause } = error as Error;
        const why = cause instanceof Error ? cause.message : message;
        response.setHeader("codec-unreached", "1");
        sendJson(response, { message: `${url} was not reached: ${why}` }, BAD_GATEWAY);
      }
    },
  };
}
