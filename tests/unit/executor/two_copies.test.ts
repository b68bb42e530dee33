// Two copies of the package in one realm: a workflow of one copy runs on the executor of the other.
// The slot, results, definitions and failure classes are shared under Symbol.for.
// runtime: node
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as here from "../../../ts/workflow/mod.ts";
import { isTaskError } from "../../../ts/executor/program/errors.ts";
import { drive } from "../../cases/driver.ts";

const dir = mkdtempSync(join(tmpdir(), "two-copies-"));
after(() => rmSync(dir, { recursive: true, force: true }));
const source = fileURLToPath(new URL("../../../ts/", import.meta.url));
cpSync(source, join(dir, "ts"), { recursive: true });
const modules = [
  new URL("../../../node_modules", import.meta.url),
  new URL("../../../../node_modules", import.meta.url),
].map((u) => fileURLToPath(u));
symlinkSync(modules.find((path) => existsSync(path))!, join(dir, "node_modules"));
const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
const load = (path: string) => import(pathToFileURL(join(dir, `ts/${path}.${extension}`)).href);
const there: typeof here = await load("workflow/mod");
const thereErrors: typeof import("../../../ts/executor/program/errors.ts") = await load(
  "executor/program/errors",
);

const { activities, on, parallel, receive, signal, sleep, spawnAsync, stop } = there;
const acts = activities<{ work(x: number): number }>();
const go = signal<[number]>("go");
const end = signal("end");

test("instanceof works across two copies of the package, but not for subclasses of users", () => {
  assert.notEqual(there.ApplicationFailure, here.ApplicationFailure);
  const failure = new there.ApplicationFailure("x");
  assert.ok(
    failure instanceof here.ApplicationFailure && failure instanceof here.TemporalFailure &&
      failure instanceof Error,
  );
  assert.ok(!(failure instanceof here.CancelledFailure));
  class Mine extends here.ApplicationFailure {}
  class Theirs extends there.ApplicationFailure {}
  assert.ok(
    !(failure instanceof Mine) && new Theirs("x") instanceof here.ApplicationFailure &&
      !(new Theirs("x") instanceof Mine),
  );
  assert.ok(
    !((undefined as unknown) instanceof here.ApplicationFailure) &&
      !({} instanceof here.ApplicationFailure),
  );
  assert.ok(isTaskError(new thereErrors.NestingError("x")));
});

test("a workflow of another copy of the package runs, replays, fails and is canceled", async () => {
  const w = there.workflow("Other", async () => {
    const results = await parallel([() => acts.work(1), () => sleep(1)]);
    const state = await receive(
      0,
      [
        on(
          go,
          ([n], s) => spawnAsync(async (change) => void await change((now) => [0, now + n]), s),
        ),
        on(end, (_, s) => stop(s)),
      ],
    );
    return [results.length, state];
  });
  const d = await drive(w);
  await d.task();
  d.server.completeActivity("1", 1);
  d.server.fireTimer("1");
  d.server.signal("go", 5);
  d.server.signal("end");
  await d.task();
  assert.deepEqual(await d.finish(), [2, 5]);

  const failing = await drive(there.workflow("Failing", async () => {
    throw new there.ApplicationFailure("on purpose");
  }));
  await failing.task();
  assert.equal(failing.server.closed?.kind, "failed");

  const nesting = await drive(
    there.workflow("Nesting", async () => void await parallel([() => receive(0, [])])),
  );
  await nesting.task();
  assert.match(
    nesting.server.taskFailure!.failure.message,
    /receive cannot be used in a branch of parallel/,
  );

  const cancelled = await drive(there.workflow("Cancelled", () => sleep("1h")));
  await cancelled.task();
  cancelled.server.requestCancel();
  await cancelled.task();
  assert.equal(cancelled.server.closed?.kind, "cancelled");
});
