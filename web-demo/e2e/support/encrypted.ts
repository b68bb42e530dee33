// A run whose values are encrypted with AES-GCM, and a codec server for it with Temporal's
// protocol.
import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

const keyOf = (secret: string) => createHash("sha256").update(secret).digest();
type Json = { readonly metadata: { readonly [key: string]: string }; readonly data: string };

/** Encrypts a payload. Returns its JSON. */
function encrypted(value: unknown, secret: string): Json {
  const iv = Buffer.alloc(12, 7);
  const cipher = createCipheriv("aes-256-gcm", keyOf(secret), iv);
  const data = Buffer.concat([
    iv,
    cipher.update(JSON.stringify(value)),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return { metadata: { encoding: btoa("binary/encrypted") }, data: data.toString("base64") };
}

function decrypted({ metadata, data }: Json, secret: string): Json {
  if (atob(metadata["encoding"]!) !== "binary/encrypted") {
    throw new Error("this was not encrypted here");
  }
  const bytes = Buffer.from(data, "base64");
  const decipher = createDecipheriv("aes-256-gcm", keyOf(secret), bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(-16));
  const plain = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]);
  return { metadata: { encoding: btoa("json/plain") }, data: plain.toString("base64") };
}

/** The history of a run with two encrypted values and a plain one. */
export function encryptedRun(secret: string): string {
  const eventTime = "2026-11-03T09:00:00Z";
  const plain = { metadata: { encoding: btoa("json/plain") }, data: btoa('"not a secret"') };
  return JSON.stringify({
    events: [
      {
        ...{ eventId: "1", eventTime, eventType: "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED" },
        workflowExecutionStartedEventAttributes: {
          ...{ workflowType: { name: "Vault" }, workflowId: "vault-1", taskQueue: { name: "v" } },
          input: { payloads: [encrypted("the combination is 4711", secret)] },
        },
      },
      {
        ...{ eventId: "2", eventTime, eventType: "EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED" },
        workflowExecutionSignaledEventAttributes: {
          signalName: "open",
          input: { payloads: [plain, encrypted({ door: "the left one" }, secret)] },
        },
      },
    ],
  });
}

/**
 * A run that received an encrypted value and then started a timer, for code that continues only
 * with the decoded value.
 */
export function encryptedTimerRun(secret: string, workflowId: string): string {
  const { events: [started] } = JSON.parse(encryptedRun(secret)) as {
    events: { readonly eventTime: string }[];
  };
  const { eventTime } = started!;
  const next = (eventId: string, type: string, attributes: object) => ({
    ...{ eventId, eventTime, eventType: `EVENT_TYPE_${type}` },
    [
      `${
        type.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      }EventAttributes`
    ]: attributes,
  });
  const events = [
    started,
    next("2", "WORKFLOW_TASK_SCHEDULED", { taskQueue: { name: "v" } }),
    next("3", "WORKFLOW_TASK_STARTED", { scheduledEventId: "2" }),
    next("4", "WORKFLOW_TASK_COMPLETED", { scheduledEventId: "2", startedEventId: "3" }),
    next("5", "TIMER_STARTED", {
      timerId: "1",
      startToFireTimeout: "3600s",
      workflowTaskCompletedEventId: "4",
    }),
  ];
  return JSON.stringify({ events }).replace("vault-1", workflowId);
}

export interface CodecServer {
  readonly url: string;
  /** Headers and payloads of each request to decode. */
  readonly asked: {
    readonly headers: IncomingMessage["headers"];
    readonly payloads: readonly Json[];
  }[];
  close(): void;
}

/** Serves pages of any origin on the loopback interface. */
export async function codecServer(secret: string): Promise<CodecServer> {
  const asked: { headers: IncomingMessage["headers"]; payloads: readonly Json[] }[] = [];
  const server = createServer(async (request, response) => {
    response.setHeader("access-control-allow-origin", request.headers.origin ?? "*");
    response.setHeader("access-control-allow-headers", "content-type, authorization");
    if (request.method === "OPTIONS") return void response.writeHead(204).end();
    let text = "";
    for await (const part of request) text += part;
    const { payloads } = JSON.parse(text) as { payloads: Json[] };
    asked.push({ headers: request.headers, payloads });
    if (request.url === "/empty/decode") {
      return void response.end(JSON.stringify({ payloads: payloads.map(() => ({})) }));
    }
    try {
      if (request.url !== "/decode") throw new Error(`nothing is at ${request.url}`);
      response.end(
        JSON.stringify({ payloads: payloads.map((payload) => decrypted(payload, secret)) }),
      );
    } catch {
      response.writeHead(400).end("the key does not fit");
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * A codec module for `encryptedRun(secret)`, as users write it: with imports of Temporal's package,
 * types and an awaited key.
 */
export const codecModule = (secret: string): string => `
import { METADATA_ENCODING_KEY, type PayloadCodec, type Payload } from "@temporalio/common";
import { webcrypto as crypto } from "node:crypto";

const text = new TextDecoder(), bytes = new TextEncoder();
const key = await crypto.subtle.importKey("raw", await crypto.subtle.digest("SHA-256", bytes.encode(${
  JSON.stringify(secret)
})), "AES-GCM", false, ["decrypt"]);

class Vault implements PayloadCodec {
  async encode(payloads: Payload[]): Promise<Payload[]> { return payloads; }
  async decode(payloads: Payload[]): Promise<Payload[]> {
    return await Promise.all(payloads.map(async (payload) => {
      if (text.decode(payload.metadata![METADATA_ENCODING_KEY]) !== "binary/encrypted") return payload;
      const iv = payload.data!.subarray(0, 12);
      const data = new Uint8Array(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, payload.data!.subarray(12)));
      return { metadata: { encoding: bytes.encode("json/plain") }, data };
    }));
  }
}
export default new Vault();
`;
