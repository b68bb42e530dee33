// Which `authorization` header connections send, seen by a gRPC server that responds to every call
// with an empty message.
import { createServer } from "node:http2";
import { endAfterGoaway } from "../../ts/platform/deno_goaway_workaround.ts";

/** Spellings of the header, with what the official SDK makes of `apiKey: "key"` next to it. */
export const AUTHORIZATIONS:
  readonly (readonly [metadata: Record<string, string> | undefined, sent: string])[] = [
    [undefined, "Bearer key"],
    [{ other: "x" }, "Bearer key"],
    [{ Authorization: "Basic x" }, "TypeError"],
    [{ Authorization: "" }, ""],
    [{ authorization: "Basic x" }, "Basic x"],
    [{ AUTHORIZATION: "Basic x" }, "Basic x"],
  ];

interface Connects {
  readonly workflowService: { getSystemInfo(request: object): Promise<unknown> };
  close(): Promise<void>;
}

/**
 * For each of {@link AUTHORIZATIONS} what the server got, or the name of the error that was thrown.
 */
export async function sentAuthorizations(
  connect: (
    options: { address: string; tls: false; apiKey: string; metadata?: Record<string, string> },
  ) => Connects | Promise<Connects>,
): Promise<string[]> {
  const got: string[] = [];
  let last = "";
  const server = createServer();
  server.on("session", endAfterGoaway);
  server.on("stream", (stream, headers) => {
    last = String(headers["authorization"] ?? "");
    stream.on("error", () => {});
    stream.resume();
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, {
      waitForTrailers: true,
    });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end(new Uint8Array(5));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `127.0.0.1:${(server.address() as { port: number }).port}`;
  try {
    for (const [metadata] of AUTHORIZATIONS) {
      let connection: Connects | undefined;
      try {
        connection = await connect({
          address,
          tls: false,
          apiKey: "key",
          ...(metadata && { metadata }),
        });
        await connection.workflowService.getSystemInfo({});
        got.push(last);
      } catch (error) {
        got.push((error as Error).name);
      }
      await connection?.close();
    }
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
  return got;
}
