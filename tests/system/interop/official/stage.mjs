// What scenarios stand on: the connection, the client, the bundle of workflows, and the handles of
// what they start.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Client, Connection } from "@temporalio/client";
import { DefaultLogger, NativeConnection, Runtime } from "@temporalio/worker";
import { bundleOf } from "./bundles.mjs";

const here = dirname(fileURLToPath(import.meta.url));
export const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    address: { type: "string" },
    out: { type: "string" },
    bundle: { type: "string" },
    cache: { type: "string" },
    all: { type: "boolean" },
    pollers: { type: "string" },
    "no-replay": { type: "boolean" },
  },
});
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** An error and its causes, without what differs from run to run. */
export function told(error) {
  const { name, message, cause, type, retryState, details, code } = error;
  return {
    name,
    message: message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "<id>"),
    ...(type && { type }),
    ...(retryState !== undefined && { retryState }),
    ...(Array.isArray(details) && details.length > 0 && { details }),
    ...(code !== undefined && typeof code === "number" && { code }),
    ...(cause instanceof Error && { cause: told(cause) }),
  };
}
export const outcome = (promise) =>
  promise.then((value) => ({ value }), (error) => ({ error: told(error) }));

Runtime.install({ logger: new DefaultLogger("ERROR", () => {}), shutdownSignals: [] });
export const nativeConnection = await NativeConnection.connect({ address: options.address });
export const connection = await Connection.connect({ address: options.address });
export const client = new Client({ connection });
export const { workflow } = client;
export const workflowBundle = options.bundle === undefined
  ? await bundleOf(join(here, "workflows.mjs"))
  : { code: readFileSync(options.bundle, "utf8") };

export const taskQueue = "official";
export const handles = new Map();

/**
 * Starts a workflow of the scenario; its history is kept, and compared where `exact` says that
 * chance has no part in it.
 */
export async function start(type, { id = type, args = [], exact = true, ...more } = {}) {
  // No task times out because the machine is busy.
  const common = { workflowId: id, taskQueue, args, workflowTaskTimeout: "60s" };
  const handle = await workflow.start(type, { ...common, ...more });
  handles.set(id, { handle, exact });
  return handle;
}

/** Keeps what was started by a workflow. */
export const keep = (id, exact) => handles.set(id, { handle: workflow.getHandle(id), exact });

export const run = async (type, startOptions) =>
  outcome((await start(type, startOptions)).result());
