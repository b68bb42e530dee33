// Failures are logged: activity attempts with the time of the next attempt, workflow tasks once per
// run and cause, with the user's line, also by a process that sees a later attempt first.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type App, open } from "../../../ts/mod.ts";
import { activities, workflow } from "../../../ts/workflow/mod.ts";
import { until } from "../../support/until.ts";

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: { readonly [name: string]: unknown };
}

const acts = activities<{ fails(): void; hangs(): void; final(): void }>({
  startToClose: "300ms",
  retry: { maximumAttempts: 2, initialInterval: "10ms" },
});
const work = workflow("Work", async (what: "fails" | "hangs") => {
  await acts[what]().catch(() => {});
});
const untaken = workflow("Untaken", async () => {
  const elsewhere = { taskQueue: "a queue without workers", startToClose: "10s" } as const;
  await activities<{ waits(): void }>({ ...elsewhere, scheduleToStart: "50ms" }).waits().catch(
    () => {},
  );
  await activities<{ waits(): void }>({
    ...elsewhere,
    scheduleToStart: "20s",
    scheduleToClose: "50ms",
  }).waits().catch(() => {});
});
const broken = workflow("Broken", async () => {
  await Promise.resolve();
  throw new TypeError("a bug of this workflow");
});
const undone = workflow("Undone", async () => {
  await Promise.resolve();
  throw new Error("the order is not possible");
});
const given = workflow("Given", async (what: "function" | "bigint") => {
  const values = { function: () => 1, bigint: { cents: 1n } };
  await activities<{ takes(text: string, value: unknown): void }>().takes("a", values[what]);
});

async function withApp(
  path: string | undefined,
  body: (app: App, lines: Line[]) => Promise<void>,
): Promise<void> {
  const lines: Line[] = [];
  const log = (level: string) => (message: string, fields = {}) =>
    void lines.push({ level, message, fields });
  const app = await open({
    ...(path !== undefined && { path }),
    workflows: [{ work, broken, untaken, undone, given }],
    activities: {
      fails: () => {
        throw new Error("no luck");
      },
      hangs: () => new Promise((resolve) => setTimeout(resolve, 1500)),
    },
    logger: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
  });
  try {
    await body(app, lines);
  } finally {
    await app.close();
  }
}

test("a failed attempt logs a warning with type, id, attempt, cause and the time of the next one", () =>
  withApp(undefined, async (app, lines) => {
    await app.client.execute(work, { id: "w", args: ["fails"] });
    const warned = lines.filter(({ level, message }) =>
      level === "warn" && message === "an activity failed"
    );
    assert.deepEqual(
      warned.map((
        { fields },
      ) => [
        fields["activityType"],
        fields["activityId"],
        fields["attempt"],
        fields["nextAttempt"],
      ]),
      [["fails", "1", 1, "in 10 ms"], ["fails", "1", 2, "none"]],
    );
    assert.equal((warned[0]!.fields["error"] as Error).message, "no luck");
  }));

test("an activity that no worker starts in time logs one warning in the process that has the store", () =>
  withApp(undefined, async (app, lines) => {
    await app.client.execute(untaken, { id: "w", args: [] });
    await until(
      "both are warned of",
      () => lines.filter(({ message }) => message === "an activity timed out").length === 2,
    );
    const warned = lines.filter(({ message }) => message === "an activity timed out");
    const names = [
      "activityType",
      "activityId",
      "workflowId",
      "workflowType",
      "attempt",
      "timeout",
      "nextAttempt",
    ];
    assert.deepEqual(
      warned.map(({ level, fields }) => [level, ...names.map((name) => fields[name])]),
      [
        ["warn", "waits", "1", "w", "Untaken", 1, "scheduleToStart", "none"],
        // Of two limits that end at once it is this one.
        ["warn", "waits", "2", "w", "Untaken", 1, "scheduleToStart", "none"],
      ],
    );
  }));

test("a timed-out attempt logs a warning when it times out", () =>
  withApp(undefined, async (app, lines) => {
    await app.client.execute(work, { id: "w", args: ["hangs"] });
    await until(
      "both are warned of",
      () => lines.filter(({ message }) => message === "an activity timed out").length === 2,
    );
    const warned = lines.filter(({ message }) => message === "an activity timed out");
    assert.deepEqual(warned.map(({ level }) => level), ["warn", "warn"]);
    assert.deepEqual(
      warned.map((
        { fields },
      ) => [fields["activityType"], fields["attempt"], fields["timeout"], fields["nextAttempt"]]),
      [
        ["hangs", 1, "startToClose", "in 10 ms"],
        ["hangs", 2, "startToClose", "none"],
      ],
    );
  }));

test("a failing workflow task is logged once per run and cause, with the line, and again by the next process", async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-failing-"));
  const told = (lines: Line[]) =>
    lines.filter(({ level, message }) =>
      level === "error" && /^a workflow task failed/.test(message)
    );
  try {
    const path = join(folder, "store.db");
    for (const process of [1, 2]) {
      await withApp(path, async (app, lines) => {
        if (process === 1) await app.client.start(broken, { id: "b", args: [] });
        await until("the failure is logged", () => told(lines).length > 0);
        // The next attempts of this process say nothing new.
        await until(
          "the next process logs it",
          () =>
            process === 2 ||
            lines.some(({ message }) => /failed again, for the same reason/.test(message)),
        );
        const [line, ...more] = told(lines);
        assert.equal(more.length, 0, JSON.stringify(more.map(({ message }) => message)));
        assert.match(line!.message, /a bug of this workflow/);
        assert.match(
          String(line!.fields["at"]),
          /failing_work\.test\.[jt]s:\d+:\d+/,
          `process ${process}`,
        );
        assert.equal(line!.fields["cause"], "workflow code");
        assert.equal(line!.fields["attempt"] === 1, process === 1);
      });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the log of an Error in workflow code advises how to fail the workflow instead; other errors have no such advice", () =>
  withApp(undefined, async (app, lines) => {
    await app.client.start(undone, { id: "u", args: [] });
    await app.client.start(broken, { id: "b", args: [] });
    const of = (id: string) =>
      lines.find(({ level, fields }) => level === "error" && fields["workflowId"] === id);
    await until("both are logged", () => of("u") !== undefined && of("b") !== undefined);
    assert.match(of("u")!.message, /^a workflow task failed: the order is not possible$/);
    assert.match(
      String(of("u")!.fields["advice"]),
      /^throw an ApplicationFailure to fail the workflow; any other error /,
    );
    assert.equal(of("b")!.fields["advice"], undefined);
  }));

test("an argument that cannot be serialized is logged with its position", () =>
  withApp(undefined, async (app, lines) => {
    for (const what of ["function", "bigint"] as const) {
      await app.client.start(given, { id: what, args: [what] });
    }
    const of = (id: string) =>
      lines.find(({ level, fields }) => level === "error" && fields["workflowId"] === id);
    await until(
      "both are logged",
      () => of("function") !== undefined && of("bigint") !== undefined,
    );
    const begin = "a workflow task failed: ";
    assert.match(
      of("function")!.message.slice(begin.length),
      /^args\[1\] is a function, which cannot be encoded; pass plain data/,
    );
    assert.match(
      of("bigint")!.message.slice(begin.length),
      /^args\[1\]: value\.cents is a bigint, /,
    );
  }));
