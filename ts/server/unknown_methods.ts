// What callers of a method that nobody here has are told: UNIMPLEMENTED with words, in the form that they speak. A bare 404, which HTTP
// servers answer, would be reported by most of them as a broken server.
import type { ServerResponse } from "node:http";
import { Code } from "../service/raw.ts";
import type { AnyHandler } from "./bounded_connections.ts";

/** The words for a method: `service` is "temporal.api.workflowservice.v1.WorkflowService", `method` "ListWorkers". */
export type UnknownMethod = (service: string, method: string) => string;

/** A status message as gRPC writes it: printable ASCII as it is but for "%", all other bytes of its UTF-8 in hexadecimal. */
export function grpcMessage(text: string): string {
  return text.replace(
    /[^\x20-\x24\x26-\x7e]+/gu,
    (part) =>
      Array.from(new TextEncoder().encode(part), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(""),
  );
}

const PATH = /^\/([\w.]+)\/(\w+)$/;

export function answerUnknown(
  words: UnknownMethod = (service, method) => `unknown method ${service}/${method}`,
): AnyHandler {
  return (request, response) => {
    const [, service, method] = PATH.exec((request.url ?? "").split("?", 1)[0]!) ?? [];
    const type = request.headers["content-type"] ?? "";
    // Node calls the two kinds of responses alike, their types do not.
    const answer = response as unknown as ServerResponse;
    // What is still on its way is not read, and does not keep the connection busy.
    request.resume();
    if (service === undefined || method === undefined) {
      answer.writeHead(404, { "content-type": "text/plain; charset=utf-8" });
      answer.end("this is a gRPC service: call /<service>/<method> with POST\n");
      return;
    }
    const message = words(service, method);
    if (/^application\/grpc(?!-web)/i.test(type)) {
      // Not writeHead: the status must come in the same frame as the end of the stream, or callers miss it.
      answer.statusCode = 200;
      answer.setHeader("content-type", type);
      answer.setHeader("grpc-status", String(Code.UNIMPLEMENTED));
      answer.setHeader("grpc-message", grpcMessage(message));
      answer.end();
      return;
    }
    // Connect's own form, which gRPC-web clients understand as well: they go by the status.
    answer.writeHead(501, { "content-type": "application/json" });
    answer.end(JSON.stringify({ code: "unimplemented", message }));
  };
}
