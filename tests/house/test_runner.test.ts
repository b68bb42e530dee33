// runtime: node
// What `npm test` says of a failure, and that nothing can hold it up: CI has one look at a run.
// takes: 14 s
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const lib = join(process.cwd(), "tools/lib");
const { run } = await import(pathToFileURL(join(lib, "steps.mjs")).href);

async function inFolder(
  files: { [name: string]: string },
  body: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-runner-"));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
const TESTS = {
  "fails.test.mjs": `import { test } from "node:test";
test("fine", () => {});
test("left out", { skip: "no such machine" }, () => {});
test("outer", (t) => t.test("inner", () => { console.log("printed before"); throw new Error("it broke", { cause: new TypeError("a root") }); }));
`,
  "hangs.test.mjs": `import { test } from "node:test";
test("ends", () => {});
test("never ends", async () => { setInterval(() => {}, 1000); await new Promise(() => {}); });
`,
};
/** A process that has exited but was not reaped by its new parent does not count as running. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
/**
 * Time in which programs of a few processes are surely at what they do, on a machine as busy as
 * this one, in whole seconds.
 */
function enough(): number {
  const began = performance.now();
  spawnSync(process.execPath, ["-e", ""]);
  return Math.min(3000 + 1000 * Math.ceil((performance.now() - began) / 50), 40_000);
}
// Without the variable by which a runner knows that it is inside of another.
const env = { NODE_TEST_CONTEXT: undefined, FORCE_COLOR: "0" };

test("a failure is reported with file, test, whole error and output; a file that hangs with its current test", () =>
  inFolder(TESTS, async (folder) => {
    const ms = enough();
    const argv = [join(lib, "run_node_tests.mjs"), "1", `${ms}`, ...Object.keys(TESTS).reverse()];
    const { status, output } = await run(process.execPath, argv, { cwd: folder, env });
    assert.equal(status, 1);
    assert.match(
      output,
      /^not ok - fails\.test\.mjs > outer > inner\n {4}Error: it broke\n[\s\S]*a root[\s\S]*printed before/m,
    );
    assert.match(
      output,
      /^not ok - hangs\.test\.mjs\n {4}timed out\n {4}begun and not ended: never ends$/m,
    );
    assert.ok(
      output.indexOf("not ok - hangs.test.mjs") < output.indexOf("not ok - fails.test.mjs"),
      "in the order given",
    );
    assert.match(
      output,
      /^time: \d+\.\d s hangs\.test\.mjs.*\ntime: \d+\.\d s fails\.test\.mjs.*\n/m,
    );
    assert.match(
      output,
      /^skipped: left out \(no such machine\)\n# pass 2\n# fail 3\n# skipped 1$/m,
    );
  }));

const GROUPED = {
  ...TESTS,
  "hooks.test.mjs": `import { afterEach, test } from "node:test";
let hooked = 0;
afterEach(() => console.log("hook", ++hooked));
test("first", () => {});
test("after one hook", () => { if (hooked !== 1) throw new Error("hooks of another file"); });
`,
  "broken.test.mjs": 'import "./absent.mjs";\n',
  "leaves.test.mjs": 'import { test } from "node:test";\ntest("leaves", () => process.exit(0));\n',
  "last.test.mjs": 'import { test } from "node:test";\ntest("last", () => {});\n',
};

test("files that share a process are reported as if alone, with separate hooks", () =>
  inFolder(GROUPED, async (folder) => {
    const group = ["fails", "broken", "hooks", "last"].map((name) => `${name}.test.mjs`).join();
    const argv = [join(lib, "run_node_tests.mjs"), "1", "600000", group];
    const { status, output } = await run(process.execPath, argv, { cwd: folder, env });
    assert.equal(status, 1);
    assert.match(output, /^not ok - fails\.test\.mjs > outer > inner\n {4}Error: it broke\n/m);
    assert.match(output, /^not ok - broken\.test\.mjs > the file loads\n[^\n]*absent\.mjs/m);
    assert.deepEqual(
      [...output.matchAll(/^time: \d+\.\d s (\w+)/gm)].map(([, name]) => name).sort(),
      ["broken", "fails", "hooks", "last"],
    );
    // The file that does not load is one failure; "outer" fails with its inner test.
    assert.match(output, /^# pass 4\n# fail 3\n# skipped 1$/m);
  }));

test("files that a process leaves out are failures", () =>
  inFolder(GROUPED, async (folder) => {
    const argv = (...names: string[]) => [
      join(lib, "run_node_tests.mjs"),
      "1",
      `${enough()}`,
      ["last", ...names, "hooks"].map((name) => `${name}.test.mjs`).join(),
    ];
    const left = await run(process.execPath, argv("leaves"), { cwd: folder, env });
    assert.equal(left.status, 1);
    assert.match(left.output, /^not ok - leaves\.test\.mjs\n {4}not run to its end/m);
    assert.match(left.output, /^not ok - hooks\.test\.mjs\n {4}not run to its end/m);
    assert.match(left.output, /^# pass 1\n# fail 2\n/m);
    const hung = await run(process.execPath, argv("hangs"), { cwd: folder, env });
    assert.match(hung.output, /^not ok - hangs\.test\.mjs\n {4}timed out\n/m);
    assert.match(hung.output, /begun and not ended: never ends\nnot ok - hooks\.test\.mjs\n/);
    assert.match(hung.output, /^# pass 2\n# fail 2\n/m);
  }));

test("a runner that is stopped names the current test", () =>
  inFolder(TESTS, async (folder) => {
    const argv = [join(lib, "run_node_tests.mjs"), "1", "600000", "hangs.test.mjs"];
    const { status, output } = await run(process.execPath, argv, {
      cwd: folder,
      env,
      timeoutMs: enough(),
      lastWords: "SIGTERM",
    });
    assert.notEqual(status, 0);
    assert.match(output, /timed out after \d+ s[\s\S]*not ended - hangs\.test\.mjs: never ends/);
  }));

test("stopping a command ends all its processes, including orphans and processes that hold its pipes", async () => {
  const sleeps = `${
    JSON.stringify(process.execPath)
  }, ["-e", "console.log(process.pid); setInterval(() => {}, 1000)"]`;
  const program = `const { spawn, spawnSync } = require("node:child_process");
spawn(${sleeps}, { stdio: ["ignore", 1, 2], detached: true }).unref();
spawnSync(${sleeps}, { stdio: "inherit" });`;
  const began = performance.now();
  const { output } = await run(process.execPath, ["-e", program], { timeoutMs: enough() });
  assert.ok(performance.now() - began < 180_000);
  const pids = [...output.matchAll(/^(\d+)$/gm)].map((m) => Number(m[1]));
  assert.equal(pids.length, 2, output);
  for (const pid of pids) assert.ok(!lives(pid), `${pid} lives`);
});

test("a command in the background has a low priority, and so have its processes", async () => {
  const low = constants.priority.PRIORITY_LOW;
  const inner = `process.exit(require("node:os").getPriority() === ${low} ? 0 : 3)`;
  const program = `const { spawnSync } = require("node:child_process");
setInterval(() => {
  if (require("node:os").getPriority() !== ${low}) return;
  process.exit(spawnSync(process.execPath, ["-e", ${JSON.stringify(inner)}]).status);
}, 10);`;
  const { status, output } = await run(process.execPath, ["-e", program], { priority: low });
  assert.equal(status, 0, output);
});

test(
  "processes that a command leaves running are ended and reported",
  { skip: process.platform !== "linux" && "looks into /proc" },
  async () => {
    const program =
      `const child = require("node:child_process").spawn(process.execPath, ["-e", "setInterval(() => {}, 1000) // left"],
  { stdio: "inherit", detached: true }); child.unref(); console.log(child.pid);`;
    const { status, output, left } = await run(process.execPath, ["-e", program]);
    assert.equal(status, 0);
    assert.match(left.join("\n"), /\/\/ left/);
    assert.ok(!lives(Number(output)));
  },
);
