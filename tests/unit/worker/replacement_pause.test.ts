// The rounds of a replacement against scripted histories: pauses that take too long end and are
// retried a limited number of times, and runs that were closed after they were listed do not block
// the replacement.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../ts/client/mod.ts";
import type { ReplayVerdict } from "../../../ts/realm/mod.ts";
import { scriptedRealm } from "../../support/realms.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { WorkflowExecutionStatus as Status } from "../../../ts/messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import {
  type ReplacementOptions,
  replaceRealm,
  WorkflowReplacementError,
} from "../../../ts/worker/workflow/replacement.ts";
import type { WorkflowTasks } from "../../../ts/worker/workflow/workflow_tasks.ts";
import { ManualTimers } from "../../support/manual_timers.ts";
import { ScriptedService } from "../../support/scripted_service.ts";

const execution = { workflowId: "w", runId: "r" };

function setting({ idle, verdict = { verdict: "ok" } as ReplayVerdict }: {
  idle?: (attempt: number) => Promise<void>;
  verdict?: ReplayVerdict;
} = {}) {
  const timers = new ManualTimers();
  const service = new ScriptedService()
    .on("listWorkflowExecutions", () => ({ executions: [{ execution, type: { name: "W" } }] }))
    .on("getWorkflowExecutionHistory", () => ({ history: { events: [{ eventId: 1n }] } }));
  /** "pause", "resume" and "replace", in their order. */
  const said: string[] = [];
  const realm = (answer: ReplayVerdict) => scriptedRealm({ replay: () => Promise.resolve(answer) });
  const tasks = {
    realm: realm({ verdict: "ok" } as ReplayVerdict),
    recentRuns: { take: () => [] },
    holds: () => false,
    pause: () => {
      said.push("pause");
      return () => void said.push("resume");
    },
    idle: () => idle?.(said.filter((each) => each === "pause").length) ?? Promise.resolve(),
    replaceRealm: () => void said.push("replace"),
  } as unknown as WorkflowTasks;
  const parts = {
    service,
    codec: undefined,
    namespace: "default",
    taskQueue: "q",
    timers,
    logger: silentLogger,
    tasks,
  };
  return {
    timers,
    service,
    said,
    replace: (options: ReplacementOptions = {}) => replaceRealm(parts, realm(verdict), options),
  };
}
const never = () => new Promise<void>(() => {});

test("a pause of more than three seconds ends, tasks continue, and another pause is tried", async () => {
  const { timers, said, replace } = setting({
    idle: (attempt) => attempt < 3 ? never() : Promise.resolve(),
  });
  const replaced = replace();
  await timers.advance(2999);
  assert.deepEqual(said, ["pause"]);
  await timers.advance(1);
  assert.deepEqual(said, ["pause", "resume"]);
  await timers.advance(10_000);
  assert.deepEqual(said, ["pause", "resume", "pause", "resume", "pause", "replace", "resume"]);
  assert.equal((await replaced).pausedMs, 0, "of the last pause");
});

test("after five pauses that were too long the worker is too busy, and the old code keeps running", async () => {
  const { timers, said, replace } = setting({ idle: never });
  const refused = assert.rejects(replace(), /too busy to replace its workflow code/);
  await timers.advance(60_000);
  await refused;
  assert.deepEqual(said, Array.from({ length: 5 }, () => ["pause", "resume"]).flat());
});

test("canceling a replacement resumes waiting tasks at once", async () => {
  const { timers, said, replace } = setting({ idle: never });
  const stop = new AbortController();
  const refused = assert.rejects(replace({ signal: stop.signal }), /enough/);
  await timers.advance(100);
  stop.abort(new Error("enough"));
  await refused;
  assert.deepEqual(said, ["pause", "resume"]);
  assert.equal(timers.pending, 0);
});

test("a replacement that is canceled at the end of its check does not pause the worker", async () => {
  const { said, replace } = setting();
  const stop = new AbortController();
  const replaced = replace({
    signal: stop.signal,
    onProgress: ({ checked, total }) => checked === total && stop.abort(new Error("enough")),
  });
  await assert.rejects(replaced, /enough/);
  assert.deepEqual(said, []);
});

const FAILS = { verdict: "failed", error: { message: "it throws" } } as unknown as ReplayVerdict;
for (
  const [name, describe] of [
    ["has closed", () => ({ workflowExecutionInfo: { execution, status: Status.COMPLETED } })],
    ["is gone", () => {
      throw new ServiceError(Code.NOT_FOUND, "workflow not found");
    }],
  ] as const
) {
  test(`a run that ${name} since it was listed does not reject the code, whatever its replay does`, async () => {
    const { service, said, replace } = setting({ verdict: FAILS });
    service.on("describeWorkflowExecution", describe);
    const { checkedRuns, broken } = await replace();
    assert.deepEqual([checkedRuns, broken], [0, []]);
    assert.deepEqual(said, ["pause", "replace", "resume"]);
  });
}

test("open runs and runs of unknown status do reject the code", async () => {
  const { service, said, replace } = setting({ verdict: FAILS });
  service.on(
    "describeWorkflowExecution",
    () => ({ workflowExecutionInfo: { execution, status: Status.RUNNING } }),
  );
  await assert.rejects(replace(), (error) => {
    assert.ok(error instanceof WorkflowReplacementError, String(error));
    assert.deepEqual(
      error.problems.map(({ runId, verdict, message }) => [runId, verdict, message]),
      [[
        "r",
        "failed",
        "it throws",
      ]],
    );
    return true;
  });
  service.on("describeWorkflowExecution", () => {
    throw new ServiceError(Code.PERMISSION_DENIED, "not yours");
  });
  await assert.rejects(replace(), /not yours/);
  assert.deepEqual(said, []);
});
