// Histories that were made on the server are kept in .build/interop-histories, as JSON and as
// protobuf, and have to be readable elsewhere: by `temporalex replay` in Node and Deno, in a
// browser's realm, and by Temporal's own command line and SDK.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import type { WorkflowHandle } from "../../../../ts/client/mod.ts";
import { noOfficial, root } from "./official.ts";
import { noServer, temporalCli } from "./dev_server.ts";

const EXAMPLES = [
  "onboarding",
  "counter",
  "shopping_cart",
  "batch_process",
  "inventory",
  "order_processing",
  "event_collector",
];

/** The modules whose code made the histories. */
export const MODULES = [
  "tests/system/interop/flows/workflows.ts",
  "tests/system/interop/flows/families.ts",
  ...EXAMPLES.map((name) => `examples/${name}/workflow.ts`),
];

const runs = promisify(execFile);
const inDeno = "Deno" in globalThis;

export class Collected {
  readonly folder: string;
  readonly #address: () => string;
  readonly #names: string[] = [];

  /** `name`: of the test file, where there are several. */
  constructor(address: () => string, name = "scenarios") {
    this.folder = join(root, ".build/interop-histories", `${name}-${inDeno ? "deno" : "node"}`);
    this.#address = address;
    rmSync(this.folder, { recursive: true, force: true });
    mkdirSync(this.folder, { recursive: true });
  }

  get count(): number {
    return this.#names.length;
  }

  /** Keeps the history of a run; the official command line must show the same, value by value. */
  // deno-lint-ignore no-explicit-any
  async keep(name: string, handle: WorkflowHandle<any>): Promise<void> {
    const json = await handle.historyJson();
    const { workflowId } = handle;
    const { runId } = await handle.describe();
    const show = [
      "workflow",
      "show",
      "-w",
      workflowId,
      "-r",
      runId,
      "-o",
      "json",
      "--address",
      this.#address(),
    ];
    const { stdout } = await runs(temporalCli()!, show, { encoding: "utf8", maxBuffer: 1 << 28 });
    const pinned = await handle.historyBytes();
    if (handle.runId === undefined || handle.runId === runId) {
      assert.deepEqual(JSON.parse(stdout), JSON.parse(json), name);
    }
    writeFileSync(join(this.folder, `${name}.json`), json);
    writeFileSync(join(this.folder, `${name}.bin`), pinned);
    this.#names.push(name);
  }

  /** Every history replays in a separate program: `temporalex replay` run by `node` or `deno`. */
  async replayBy(runtime: "node" | "deno"): Promise<void> {
    const modules = MODULES.flatMap((path) => ["--workflows", path]);
    const files = readdirSync(this.folder).map((name) => join(this.folder, name));
    assert.equal(files.length, 2 * this.count);
    const [program, ...first] = runtime === "node"
      ? ["node", "dist/ts/cli/main.js"]
      : [join(root, "node_modules/.bin/deno"), "run", "-A", "--no-check", "-q", "ts/cli/main.ts"];
    const { stdout } = await runs(program!, [...first, "replay", "--json", ...modules, ...files], {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 1 << 26,
    }).catch((error) => {
      throw new Error(`${runtime}: ${error.message}\n${error.stdout}`);
    });
    // The last line sums up.
    const verdicts = stdout.trim().split("\n").map((line) => JSON.parse(line)).filter(({ file }) =>
      file !== undefined
    );
    assert.deepEqual(verdicts.filter(({ verdict }) => verdict !== "ok"), []);
    assert.equal(verdicts.length, files.length);
  }

  /**
   * Every history replays in Chromium's worker realm. Returns the reason if it is not installed.
   */
  async replayInBrowser(): Promise<string | undefined> {
    const files = readdirSync(this.folder).filter((name) => name.endsWith(".bin")).map((name) =>
      join(this.folder, name)
    );
    const program = join(root, "tests/system/interop/support/in_chromium.mjs");
    const { stdout } = await runs("node", [program, ...files], {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 1 << 26,
    });
    const answer = JSON.parse(stdout.trim().split("\n").at(-1)!);
    if (answer.absent !== undefined) return answer.absent;
    // deno-lint-ignore no-explicit-any
    assert.deepEqual(answer.replayed.filter(({ verdict }: any) => verdict !== "ok"), []);
    assert.equal(answer.replayed.length, this.count);
    return undefined;
  }

  /**
   * The official SDK reads every history, from JSON and from protobuf, with equal results. Returns
   * the reason if it is not installed.
   */
  async loadByOfficialSdk(): Promise<string | undefined> {
    if (noOfficial !== false) return noOfficial;
    const program = join(root, "tests/system/interop/official/load_histories.mjs");
    const { stdout } = await runs("node", [program, this.folder], { cwd: root, encoding: "utf8" });
    assert.equal(JSON.parse(stdout).loaded, this.count, stdout);
    return undefined;
  }
}

/** `node` runs what was built: `npm run build`. */
const isBuilt = existsSync(join(root, "dist/ts/cli/main.js"));

/** Declares the tests that read everything that the file's tests before them have kept. */
export function readElsewhere(collected: () => Collected): void {
  const built = noServer || (isBuilt ? false : "dist/ is not built (npm run build)");
  test(
    "every history made here replays by the command line in Node",
    { skip: built },
    () => collected().replayBy("node"),
  );
  test(
    "every history made here replays by the command line in Deno",
    { skip: noServer },
    () => collected().replayBy("deno"),
  );
  test("every history made here replays in Chromium", { skip: noServer }, async (t) => {
    const absent = await collected().replayInBrowser();
    if (absent !== undefined) t.skip(absent);
  });
  test("every history made here is read by Temporal's own SDK", { skip: noServer }, async (t) => {
    const absent = await collected().loadByOfficialSdk();
    if (absent !== undefined) t.skip(absent);
  });
}
