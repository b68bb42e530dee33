// A store that this process holds, with the workflows of flows/, and `temporalex workflow ...` on
// it.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { fitsSocket } from "../../../../ts/app/socket_path.ts";
import { type App, open, silentLogger } from "../../../../ts/mod.ts";
import * as activities from "../flows/activities.ts";
import { refusals, type Result, run as runCommand, type RunOptions } from "./run.ts";

export const workflows = new URL("../flows/workflows.ts", import.meta.url);

export let folder = "", store = "";
export let app: App;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "temporalex-cli-"));
  store = join(folder, "held.sqlite");
  app = await open({ path: store, workflows, activities, logger: silentLogger });
  assert.match(await app.served ?? "", fitsSocket(store) ? /-socket$/ : /^127\.0\.0\.1:/);
});

after(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

export type Json = { [name: string]: unknown };

export const run = (args: readonly string[], options: RunOptions = {}): Promise<Result> =>
  runCommand(["workflow", ...args], { cwd: folder, env: { TEMPORALEX_STORE: store }, ...options });

export async function ok(...args: string[]): Promise<string> {
  const result = await run(args);
  assert.equal(result.code, 0, `${args.join(" ")}: ${result.err}`);
  return result.out;
}

export async function json(...args: string[]): Promise<Json> {
  return JSON.parse(await ok(...args, "--json")) as Json;
}

export const refused = refusals(run);

export const cart = (id: string, ...more: string[]) =>
  json("start", "--type", "Cart", "-w", id, "-i", '"ada"', ...more);
