// The examples that are complete applications, as `npm run example NAME` runs them, and the three
// test files that users may copy.
// takes: 14 s
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { applications } from "../../../examples/applications.ts";

const RESULTS: { [name: string]: (result: never, said: string) => void } = {
  encryption: (result, said) => {
    assert.deepEqual(result, {
      authorization: "1900 cents of card 4711-0815",
      by: "Lovelace",
      keyIds: ["k1", "k2"],
      readable: [],
    });
    assert.match(said, /started p-1 with key k1/);
  },
  external_storage: (
    { characters, small, error }: { characters: number; small: boolean; error: string },
  ) => {
    assert.equal(characters, 4_000_000);
    assert.ok(small);
    assert.match(error, /^PayloadCodecError: .*blob [0-9a-f]{64} is not in the store/);
  },
  validation: ({ order, refused }: { order: unknown; refused: string }) => {
    assert.deepEqual(order, { items: [{ sku: "BOOK-1", quantity: 2 }], percent: 10 });
    assert.match(
      refused,
      /argument 0\.sku: a SKU looks like BOOK-1; argument 0\.quantity: whole pieces only/,
    );
  },
  entity: (
    { generations, user, once, again }: {
      generations: boolean;
      user: unknown;
      once: boolean;
      again: string;
    },
    said,
  ) => {
    assert.deepEqual([generations, once], [true, true]);
    assert.deepEqual(user, {
      status: "DELETED",
      profile: { name: "Ada Lovelace" },
      pendingEmail: "ada@example.com",
    });
    assert.match(again, /WorkflowExecutionAlreadyStartedError/);
    assert.match(said, /near the end of its generation/);
  },
  game: ({ patrol, ...rest }: { patrol: { steps: number } }, said) => {
    assert.deepEqual({ ...patrol, steps: patrol.steps > 50 }, {
      steps: true,
      victories: 2,
      at: "tower",
      because: "was defeated",
    });
    assert.deepEqual(rest, {
      continued: true,
      combats: [{ outcome: "victory", blows: 3 }, { outcome: "fled", blows: 1 }],
      npcs: [{ id: 1, hp: 0, hits: 3 }, { id: 2, hp: 60, hits: 1 }],
      quests: ["the orc is dead", "item 8 is found"],
      buff: { finalStacks: 6, ended: "expired" },
      dots: ["CANCELED", "CANCELED", "CANCELED"],
      counter: { finalCount: 3 },
      tasks: 60,
      branch: 50,
    });
    assert.match(said, /the spell was dispelled on 3 targets/);
  },
  world: (result, said) => {
    assert.deepEqual(result, { health: { 95: 34, 99: 33, 100: 33 }, wards: 10, resting: 100 });
    assert.match(said, /100 patrols are home; 3 threats beaten, 0 left/);
  },
  agent: (result) =>
    assert.deepEqual(result, {
      text: "o-1 is refunded (agent-1/5). refund o-2 was not approved.",
      calls: 4,
      pending: [],
    }),
  cpu_bound: (result) =>
    assert.deepEqual(result, { count: 9592, cancelled: "stopped", heartbeats: true }),
};

for (const [name, load] of Object.entries(applications)) {
  test(`example ${name}`, async () => {
    const said: string[] = [];
    const { run } = await load();
    RESULTS[name]!(await run((line) => void said.push(line)) as never, said.join("\n"));
  });
}

/** The command line that runs a file of this checkout in the runtime that runs this test. */
const deno = "Deno" in globalThis;
const command = (file: string): [string, string[]] => {
  const path = fileURLToPath(new URL(`../../../${file}${deno ? ".ts" : ".js"}`, import.meta.url));
  return [process.execPath, deno ? ["run", "-A", "--no-check", path] : [path]];
};

test("example graceful_shutdown: SIGTERM drains and exits with 0; the next start continues", async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-shutdown-"));
  const [program, args] = command("examples/graceful_shutdown/main");
  const start = (onOutput: (text: string, kill: (signal: NodeJS.Signals) => void) => void) =>
    new Promise<{ code: number | null; signal: string | null; out: string }>((resolve, reject) => {
      const child = spawn(program, args, {
        env: { ...process.env, STORE: join(folder, "store.sqlite") },
        cwd: process.cwd(),
      });
      let out = "";
      const heard = (data: Uint8Array) => {
        out += new TextDecoder().decode(data);
        // Not child.kill: in Deno that decides what "close" reports.
        onOutput(out, (signal) => void process.kill(child.pid!, signal));
      };
      child.stdout.on("data", heard);
      child.stderr.on("data", heard);
      child.on("error", reject);
      child.on("close", (code, signal) => resolve({ code, signal, out }));
    });
  try {
    let told = false;
    const first = await start((out, kill) => {
      // In the middle of the second step's work.
      if (!told && out.includes("work 2 begins")) told = true, kill("SIGTERM");
    });
    assert.deepEqual(
      { code: first.code, signal: first.signal },
      { code: 0, signal: null },
      first.out,
    );
    assert.match(first.out, /SIGTERM: stopping\n(?:.*\n)*stopped\n$/);
    const steps = (out: string, what: string) =>
      [...out.matchAll(/^work (\d) (.*)$/gm)].filter((m) => m[2] === what).map((m) => m[1]!);
    const done = steps(first.out, "is done");
    // Where this process is slow to signal, it may be in a later step by then.
    assert.ok(done.length >= 2 && done.length < 4, first.out);
    assert.deepEqual(done, steps(first.out, "begins"), "what was being worked on was finished");
    const second = await start(() => {});
    assert.equal(second.code, 0, second.out);
    assert.deepEqual(
      [...done, ...steps(second.out, "begins")],
      ["1", "2", "3", "4"],
      "nothing is done twice",
    );
    assert.match(
      second.out,
      /result: \["step 1 in attempt 1","step 2 in attempt 1","step 3 in attempt 1","step 4 in attempt 1"\]/,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("example testing: the tests of node:test, Deno or Vitest pass", async (t) => {
  const run = promisify(execFile);
  if (deno) {
    const file = fileURLToPath(new URL("../../../examples/testing/deno.test.ts", import.meta.url));
    const env = { ...process.env, NO_COLOR: "1" };
    const folder = mkdtempSync(join(tmpdir(), "temporalex-types-"));
    try {
      // The package that deno.json maps @std to has no types; those of JSR's take its place for the
      // check.
      const { imports } = JSON.parse(readFileSync("deno.json", "utf8")) as {
        imports: { [name: string]: string };
      };
      const typed = { ...imports, "@std/assert": "./tests/unit/types/std_assert.d.ts" };
      const absolute = Object.entries(typed).map((
        [name, to],
      ) => [name, to.startsWith("./") ? pathToFileURL(to).href : to]);
      writeFileSync(
        join(folder, "imports.json"),
        JSON.stringify({ imports: Object.fromEntries(absolute) }),
      );
      await run(process.execPath, ["check", "--import-map", join(folder, "imports.json"), file], {
        env,
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    const { stdout } = await run(process.execPath, ["test", "-A", "--no-check", file], { env });
    assert.match(stdout, /3 passed \| 0 failed/);
    return;
  }
  const file = fileURLToPath(new URL("../../../examples/testing/node.test.js", import.meta.url));
  // This process runs under node:test itself, which its children would detect by the environment.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout } = await run(process.execPath, ["--test", "--test-reporter=tap", file], { env });
  assert.match(stdout, /# pass 3\n# fail 0/);
  await t.test("with Vitest", async (t) => {
    // A separate project, as a user who copies the files has it.
    const project = join(process.cwd(), ".build/vitest");
    const vitest = join(project, "node_modules/vitest/vitest.mjs");
    if (!existsSync(vitest)) {
      return t.skip("Vitest is not installed: npm install --prefix .build/vitest vitest@4.1.12");
    }
    const own = join(project, "node_modules/temporalex");
    if (!existsSync(own)) symlinkSync(process.cwd(), own, "junction");
    for (const name of ["workflow", "activities", "vitest.test"]) {
      cpSync(join(process.cwd(), `examples/testing/${name}.ts`), join(project, `${name}.ts`));
    }
    // Its five seconds for a test are too few on a busy machine.
    const { stdout } = await run(process.execPath, [vitest, "run", "--testTimeout=120000"], {
      cwd: project,
      env: { ...env, NO_COLOR: "1" },
    });
    assert.match(stdout, /Tests\s+3 passed/);
  });
});
