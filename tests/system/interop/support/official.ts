// The official TypeScript SDK, which is installed only in tests/system/interop/node_modules.
// Nothing here imports its types: tsc must pass without it. Whole programs for it are plain modules
// in tests/system/interop/official, which Node runs directly from the checkout.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Http2Session } from "node:http2";
import { endAfterGoaway } from "../../../../ts/platform/deno_goaway_workaround.ts";

/** The checkout; tests run in it. */
export const root = process.cwd();

const manifest = join(root, "tests/system/interop/package.json");

/**
 * For `{ skip }` of tests: false, or why the official SDK is not here. `npm test -- interop`
 * installs it.
 */
export const noOfficial: string | false =
  existsSync(join(root, "tests/system/interop/node_modules/@temporalio/worker/package.json"))
    ? false
    : "Temporal's TypeScript SDK is not installed (npm ci in tests/system/interop)";

/**
 * Its client calls through node:http2, in this process. When a server ends, Deno's implementation
 * crashes the process on GOAWAY (docs/dev/decisions/044-goaway-in-deno.md), together with all its
 * tests.
 */
function protectFromGoodbyes(): void {
  const http2 = createRequire(manifest)("node:http2") as {
    connect: (...args: unknown[]) => Http2Session;
  };
  const { connect } = http2;
  http2.connect = (...args) => {
    const session = connect(...args);
    endAfterGoaway(session);
    return session;
  };
}

let isProtected = !("Deno" in globalThis);

/** A package of the official SDK, e.g. `official("@temporalio/client")`. */
// deno-lint-ignore no-explicit-any
export function official(name: string): any {
  if (!isProtected) protectFromGoodbyes();
  isProtected = true;
  return createRequire(manifest)(name);
}

/** A program in tests/system/interop/official, for `node`. Those of one test share their bundles. */
export function officialProgram(name: string): string {
  if (process.env["OFFICIAL_BUNDLES"] === undefined) {
    const folder = mkdtempSync(join(tmpdir(), "temporalex-bundles-"));
    process.env["OFFICIAL_BUNDLES"] = folder;
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  }
  return join(root, "tests/system/interop/official", name);
}

/** `@temporalio/worker`, which says only what has gone wrong. */
// deno-lint-ignore no-explicit-any
export function quietWorkerPackage(): any {
  const sdk = official("@temporalio/worker");
  sdk.Runtime.install({
    logger: new sdk.DefaultLogger("ERROR"),
    telemetryOptions: { logging: { filter: "OFF", forward: {} } },
    shutdownSignals: [],
  });
  return sdk;
}

/**
 * What the official replayer says of histories, in their order: "ok", or the message of its error.
 * One replayer for all, since its start takes much longer than a replay.
 */
export async function officialVerdicts(
  workflowBundle: object,
  histories: Iterable<readonly [workflowId: string, history: Uint8Array]>,
): Promise<string[]> {
  const { History } = official("@temporalio/proto").temporal.api.history.v1;
  const { Worker } = official("@temporalio/worker");
  const given = Array.from(
    histories,
    ([workflowId, history]) => ({ workflowId, history: History.decode(history) }),
  );
  const said: string[] = [];
  for await (const { error } of Worker.runReplayHistories({ workflowBundle }, given)) {
    said.push(error === undefined ? "ok" : error.message);
  }
  if (said.length !== given.length) {
    throw new Error(`the replayer ended after ${said.length} of ${given.length} histories`);
  }
  return said;
}
