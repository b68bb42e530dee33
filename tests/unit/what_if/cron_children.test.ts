// A child with a cron schedule in a branch: its recorded result ends one run, and the next run stays open.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { runBranch } from "../../../ts/what_if/mod.ts";
import { createProgramRealm, eventId, live } from "./support.ts";

test("a branch waits for a cron child after the end of its run", async () => {
  const life = { of: "native", type: "Nightly", args: ["vase"], acts: [] } as const;
  const recorded = await live({ ...life, openAtMs: 3_600_000 });
  const realm = await createProgramRealm("native");
  try {
    const edit = {
      kind: "child",
      eventId: eventId(recorded, "startChildWorkflowExecutionInitiated"),
      end: { kind: "completed", result: "sent" },
    } as const;
    // From the start of the workflow, and from its last event.
    for (const from of [3, undefined]) {
      const options = { realm, edits: [edit], ...(from !== undefined && { from }) };
      const { outcome, history } = await runBranch(recorded, options);
      assert.equal(outcome.kind, "waits", JSON.stringify(outcome));
      const ends = fromBinary(HistorySchema, history).events.filter(({ attributes }) =>
        attributes.case === "childWorkflowExecutionCompletedEventAttributes"
      );
      assert.deepEqual(ends, []);
    }
  } finally {
    await realm.dispose();
  }
});
