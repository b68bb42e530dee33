// Response to an unknown method: UNIMPLEMENTED with a message, in the caller's protocol. Most
// callers would report a bare 404 as a broken server.
import type { ServerResponse } from "node:http";
import { Code } from "../service/raw.ts";
import type { AnyHandler } from "./bounded_connections.ts";

/**
 * Returns the message: `service` is "temporal.api.workflowservice.v1.WorkflowService", `method`
 * "ListWorkers".
 */
export type UnknownMethod = (service: string, method: string) => string;

/**
 * Encodes a gRPC status message: printable ASCII except "%" stays, all other UTF-8 bytes become
 * hexadecimal.
 */
export function grpcMessage(text: string): string {
  return text.replace(
    /[^\x20-\x24\x26-\x7e]+/gu,
    (part) =>
      Array.from(
        new TextEncoder().encode(part),
        (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
      ).join(""),
  );
}

const PATH = /^\/([\w.]+)\/(\w+)$/;

export function answerUnknown(
  words: UnknownMethod = (service, method) => `unknown method ${service}/${method}`,
): AnyHandler {
  return (request, response) => {
    const [, service, method] = PATH.exec((request.url ?? "").split("?", 1)[0]!) ?? [];
    const type = request.headers["content-type"] ?? "";
    // Node calls both kinds of responses alike, but their types differ.
    const answer = response as unknown as ServerResponse;
    // The rest of the request is discarded and does not keep the connection busy.
    request.resume();
    if (service === undefined || method === undefined) {
      answer.writeHead(404, { "content-type": "text/plain; charset=utf-8" });
      answer.end("this is a gRPC service: call /<service>/<method> with POST\n");
      return;
    }
    const message = words(service, method);
    if (/^application\/grpc(?!-web)/i.test(type)) {
      // Not writeHead: callers need the status in the frame that ends the stream.
      answer.statusCode = 200;
      answer.setHeader("content-type", type);
      answer.setHeader("grpc-status", String(Code.UNIMPLEMENTED));
      answer.setHeader("grpc-message", grpcMessage(message));
      answer.end();
      return;
    }
    // Connect's form, which gRPC-web clients understand as well, by the status.
    answer.writeHead(501, { "content-type": "application/json" });
    answer.end(JSON.stringify({ code: "unimplemented", message }));
  };
}
