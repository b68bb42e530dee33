// What the command line says of errors of its client.
import assert from "node:assert/strict";
import { test } from "node:test";
import { inOurWords } from "../../../ts/cli/service/reworded.ts";
import { DeadlineExceededError, WorkflowNotFoundError } from "../../../ts/client/errors.ts";
import { NOT_CONNECTED } from "../../../ts/grpc/links.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";

const refused = new ServiceError(
  Code.UNAVAILABLE,
  "cannot connect to 127.0.0.1:1: no server listens on this address (connect ECONNREFUSED)",
  NOT_CONNECTED,
);
const rewordError = (error: unknown, cluster = true) =>
  (inOurWords(error, {
    where: "127.0.0.1:1",
    cluster,
    store: undefined,
    workflowId: "cart 7",
  }) as Error).message;

test("an unreachable cluster is reported with its address, whether an attempt or the deadline came last", () => {
  const late = new ServiceError(Code.DEADLINE_EXCEEDED, "the deadline has passed", "", {}, {
    cause: refused,
  });
  for (
    const error of [
      refused,
      new DeadlineExceededError(
        "the count of workflows",
        undefined,
        { cause: late },
        refused.message,
      ),
    ]
  ) {
    assert.match(
      rewordError(error),
      /^cannot reach a Temporal cluster at 127\.0\.0\.1:1 \(cannot connect/,
    );
  }
});

test("a deadline without a failed connection names --timeout; for an update the message says how to keep waiting", () => {
  const late = { cause: new ServiceError(Code.DEADLINE_EXCEEDED, "late") };
  assert.match(
    rewordError(new DeadlineExceededError("the result", undefined, late)),
    /increase the --timeout/,
  );
  assert.match(
    rewordError(new DeadlineExceededError("the update", "u-1", late)),
    /update result --workflow-id 'cart 7' --update-id u-1/,
  );
});

test("a missing workflow is reported with the searched store or cluster; other errors are unchanged", () => {
  const missing = new WorkflowNotFoundError(
    "workflow not found for ID: cart 7",
    "cart 7",
    undefined,
  );
  assert.equal(
    rewordError(missing),
    "workflow cart 7 not found on 127.0.0.1:1; check the id, --namespace and --address",
  );
  const run = new WorkflowNotFoundError("workflow not found for ID: cart 7", "cart 7", "r-1");
  assert.equal(
    (inOurWords(run, { where: "store /a.sqlite", cluster: false, store: undefined }) as Error)
      .message,
    "workflow cart 7, run r-1, not found in store /a.sqlite; check the id, --namespace and --store",
  );
  const ended = new WorkflowNotFoundError(
    "workflow execution already completed",
    "cart 7",
    undefined,
  );
  assert.match(
    rewordError(ended),
    /^workflow execution already completed .*its result is still available$/,
  );
});
