// `temporalex workflow ...` without a response: no holder of the store, a holder that does not
// serve, no worker, an activity without a worker.
// takes: 7 s
// process: own (its support module has one store)
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { open, silentLogger } from "../../../ts/mod.ts";
import * as activities from "./flows/activities.ts";
import { until } from "../../support/until.ts";
import { together } from "../../support/together.ts";
import { folder, type Json, json, ok, refused, run, workflows } from "./support/held_store.ts";

/** Everything in a folder: names, contents, times of change of the store itself. */
const traces = (path: string): string[] =>
  readdirSync(path).sort().map((name) => {
    const file = join(path, name);
    return `${name} ${createHash("sha256").update(readFileSync(file)).digest("hex")} ${
      statSync(file).mtimeMs
    }`;
  });

test("if no process has the store open, commands open it briefly; reading does not change it", async () => {
  const lonely = join(folder, "lonely");
  const file = join(lonely, "shop.sqlite");
  const alone = (...args: string[]) => run(args, { env: { TEMPORALEX_STORE: file } });
  const missing = await alone("list");
  assert.equal(missing.code, 1);
  assert.match(missing.err, /the store .*shop\.sqlite does not exist/);
  mkdirSync(lonely);
  const started = await alone("start", "--type", "Slow", "-w", "lonely-1", "-i", "50");
  assert.equal(started.code, 0, started.err);
  assert.match(
    started.err,
    /No process has the store open: the workflow begins when a worker opens it/,
  );
  assert.equal((await alone("signal", "-w", "lonely-1", "--name", "x")).code, 0);
  rmSync(`${file}-fence`);
  const before = traces(lonely);
  assert.match((await alone("list")).out, /Running +lonely-1 +Slow/);
  assert.match((await alone("count")).out, /^1\n$/);
  assert.match((await alone("describe", "-w", "lonely-1")).out, /Status +Running/);
  assert.match((await alone("show", "-w", "lonely-1")).out, /WorkflowExecutionSignaled +x\(\)/);
  assert.match((await alone("describe", "-w", "absent")).err, /not found/);
  assert.deepEqual(traces(lonely), before);
  for (const command of [["query", "--name", "x"], ["update", "--name", "x"]]) {
    const refused = await alone(...command, "-w", "lonely-1");
    assert.equal(refused.code, 1);
    assert.match(
      refused.err,
      /no process has .*shop\.sqlite open, so no worker is available; start one, .*temporalex worker --store/,
    );
    const unknown = await alone(...command, "-w", "absent");
    assert.equal(unknown.code, 1);
    assert.match(unknown.err, /workflow absent not found in store .*shop\.sqlite; check the id/);
  }

  // A run that waits for a worker continues when one starts.
  const waiting = alone("result", "-w", "lonely-1");
  const asking = alone("query", "-w", "lonely-1", "--name", "__stack_trace", "--timeout", "0");
  const both = alone("result", "-w", "lonely-1", "--timeout", "300ms");
  assert.equal((await both).code, 1);
  const worker = await open({ path: file, workflows, activities, logger: silentLogger });
  const result = await waiting;
  assert.equal(result.out, '"slept"\n', result.err);
  assert.match(
    result.err,
    /^waiting: no process has .* open, and the workflow needs a worker to continue/,
  );
  // 0 means no limit.
  const asked = await asking;
  assert.equal(asked.code, 0, asked.err);
  await worker.close();
  assert.match((await alone("list", "--timeout", "0")).out, /Completed +lonely-1/);
  assert.equal(
    (await alone("result", "-w", "lonely-1")).out,
    '"slept"\n',
    "a recorded result needs no worker",
  );
});

test("brief openings and long openings of a store wait for each other", async () => {
  const file = join(folder, "busy.sqlite");
  const calls = Array.from(
    { length: 12 },
    (_, i) =>
      run(["start", "--type", "Nothing", "-w", `busy-${i}`], { env: { TEMPORALEX_STORE: file } }),
  );
  const opened = open({ path: file, workflows, activities, logger: silentLogger });
  for (const result of await Promise.all(calls)) assert.equal(result.code, 0, result.err);
  const worker = await opened;
  const results = await Promise.all(
    calls.map((_, i) => run(["result", "-w", `busy-${i}`], { env: { TEMPORALEX_STORE: file } })),
  );
  for (const result of results) assert.equal(result.code, 0, result.err);
  await worker.close();
});

together({
  "a store whose holder does not serve is reported as such": async () => {
    const file = join(folder, "silent.sqlite");
    const worker = await open({
      path: file,
      workflows,
      activities,
      logger: silentLogger,
      serve: false,
    });
    assert.equal(await worker.served, undefined);
    const refused = await run(["list"], { env: { TEMPORALEX_STORE: file } });
    assert.equal(refused.code, 1);
    assert.match(
      refused.err,
      /silent\.sqlite is open in process \d+, which cannot be reached: it was opened with serve: false/,
    );
    await worker.close();
    const other = join(folder, "other.sqlite");
    writeFileSync(
      other,
      "this text is not a store, and it is longer than a header of SQLite, which has a hundred bytes: it has some more",
    );
    const foreign = await run(["list", "--store", other]);
    assert.equal(foreign.code, 1);
    assert.match(foreign.err, /other\.sqlite is not a SQLite database/);
  },

  "a waiting client gets the reason: the failing workflow task with its line, the failing activity":
    async () => {
      await json("start", "--type", "Bug", "-w", "stuck-1");
      await json("start", "--type", "Unheard", "-w", "stuck-2");
      const failureOf = (id: string) =>
        until(
          `the task of ${id} fails`,
          async () =>
            (await json("describe", "-w", id))["workflowTaskFailure"] as {
              message: string;
              at: string;
            } | undefined,
        );
      const failure = await failureOf("stuck-1");
      assert.equal(failure.message, "this code has a bug");
      assert.match(
        failure.at,
        /flows\/workflows\.[jt]s:\d+:\d+/,
        "the user's line, not a line of this package",
      );
      await failureOf("stuck-2");
      assert.match(
        await ok("describe", "-w", "stuck-1"),
        /^Failed with +this code has a bug \(at .*workflows\.[jt]s:\d+:\d+\)?\)$/m,
      );
      await refused(
        1,
        /: its workflow task fails \(attempt \d+\): this code has a bug \(at /,
        "result",
        "-w",
        "stuck-1",
        "--timeout",
        "200ms",
      );
      await refused(
        1,
        /: its workflow task fails .*"Unheard" is not known to this worker; it has /,
        "result",
        "-w",
        "stuck-2",
        "--timeout",
        "1s",
      );
      const file = join(folder, "stuck.sqlite");
      const env = { TEMPORALEX_STORE: file };
      const worker = await open({ path: file, workflows, logger: silentLogger }); // no activities
      try {
        await worker.served;
        assert.equal(
          (await run(["start", "--type", "Cart", "-w", "c", "-i", '"ada"'], { env })).code,
          0,
        );
        assert.equal((await run(["signal", "-w", "c", "--name", "checkout"], { env })).code, 0);
        await until("the activity is scheduled", async () => {
          const { out } = await run(["describe", "-w", "c", "--json"], { env });
          return ((JSON.parse(out) as Json)["pendingActivities"] as Json[]).length > 0;
        });
        const { code, err } = await run(["result", "-w", "c", "--timeout", "1s"], { env });
        assert.equal(code, 1);
        assert.match(err, /: its activity charge waits for a worker that has activities/);
      } finally {
        await worker.close();
      }
      await ok("start", "--type", "Cart", "-w", "stuck-3", "-t", "elsewhere", "-i", '"ada"');
      const noWorker =
        /: its workflow task waits for a worker of task queue "elsewhere" \(temporalex worker --task-queue elsewhere\)/;
      await refused(1, noWorker, "result", "-w", "stuck-3", "--timeout", "200ms");
      await refused(
        1,
        noWorker,
        "query",
        "-w",
        "stuck-3",
        "--name",
        "status",
        "--timeout",
        "200ms",
      );
      const update = [
        "update",
        "-w",
        "stuck-3",
        "--name",
        "add_item",
        "-i",
        '"A"',
        "--update-id",
        "u-1",
        "--timeout",
        "200ms",
      ];
      await refused(
        1,
        /temporalex workflow update result --workflow-id stuck-3 --update-id u-1\. /,
        ...update,
      );
      await refused(1, /its workflow task waits for a worker of task queue "elsewhere"/, ...update);
      await ok("terminate", "-w", "stuck-3");
      await ok("terminate", "-w", "stuck-1");
      await ok("terminate", "-w", "stuck-2");
      await refused(
        1,
        /the workflow is closed and accepts no messages/,
        "signal",
        "-w",
        "stuck-1",
        "--name",
        "checkout",
      );
    },
});

test("with --timeout, queries and updates wait for a worker", async () => {
  const file = join(folder, "patient.sqlite");
  const env = { TEMPORALEX_STORE: file };
  assert.equal(
    (await run(["start", "--type", "Cart", "-w", "patient-1", "-i", '"ada"'], { env })).code,
    0,
  );
  const query = run(["query", "-w", "patient-1", "--name", "status", "--timeout", "2m"], { env });
  const vain = await run(["query", "-w", "patient-1", "--name", "status", "--timeout", "100ms"], {
    env,
  });
  assert.equal(vain.code, 1);
  assert.match(vain.err, /no worker is available/);
  const worker = await open({ path: file, workflows, activities, logger: silentLogger });
  assert.equal((await query).out, '"open"\n');
  await worker.close();
});
