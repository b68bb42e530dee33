// How a run ended is the first thing that its history says, unless it completed.
import { openRun } from "../../ts/debug/mod.ts";
import { equal, ok } from "./assert.ts";
import type { Case } from "./case.ts";

type Line = readonly [type: string, attributes: object];

const attributesField = (type: string) =>
  `${
    type.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  }EventAttributes`;

function buildHistory(...lines: readonly Line[]): Uint8Array {
  const events = lines.map(([type, attributes], i) => ({
    eventId: String(i + 1),
    eventTime: new Date(Date.UTC(2026, 0, 1) + i).toISOString(),
    eventType: `EVENT_TYPE_${type}`,
    [attributesField(type)]: attributes,
  }));
  return new TextEncoder().encode(JSON.stringify({ events }));
}

const STARTED: Line = ["WORKFLOW_EXECUTION_STARTED", {
  workflowType: { name: "Trip" },
  workflowId: "trip-1",
}];
const TASK: readonly Line[] = [
  ["WORKFLOW_TASK_SCHEDULED", {}],
  ["WORKFLOW_TASK_STARTED", { scheduledEventId: "2" }],
  ["WORKFLOW_TASK_COMPLETED", { scheduledEventId: "2", startedEventId: "3" }],
];
const FAILURE = {
  message: "Activity task failed",
  cause: {
    message: "no seats",
    applicationFailureInfo: { type: "SoldOut" },
    cause: { message: "HTTP 409" },
  },
  activityFailureInfo: {},
};

/** The first finding of a history with this end. */
const ends = (name: string, end: readonly Line[], text: string): Case => ({
  name: `findings: ${name}`,
  async run() {
    const { findings, lines } = await openRun(buildHistory(STARTED, ...TASK, ...end));
    equal(findings[0]?.text.replaceAll("**", ""), text);
    equal(findings[0]!.eventId, lines.length);
  },
});

export const cases: Case[] = [
  ends(
    "a failed run has its failure with all causes",
    [["WORKFLOW_EXECUTION_FAILED", { failure: FAILURE }]],
    "The run failed with ActivityFailure: Activity task failed, caused by SoldOut: no seats, caused by HTTP 409.",
  ),
  ends(
    "a run that timed out",
    [["WORKFLOW_EXECUTION_TIMED_OUT", {}]],
    "The run timed out: it reached its run timeout or execution timeout.",
  ),
  ends(
    "a terminated run has the reason and who terminated it",
    [["WORKFLOW_EXECUTION_TERMINATED", { reason: "wrong input", identity: "ada@desk" }]],
    "The run was terminated by ada@desk: wrong input.",
  ),
  ends(
    "a canceled run has who requested it",
    [["WORKFLOW_EXECUTION_CANCEL_REQUESTED", { cause: "not needed", identity: "ada@desk" }], [
      "WORKFLOW_EXECUTION_CANCELED",
      {},
    ]],
    "The run was canceled, as ada@desk requested: not needed.",
  ),
  ends(
    "an open run whose workflow task failed waits for the next attempt, not for a message",
    [
      ["WORKFLOW_TASK_SCHEDULED", {}],
      ["WORKFLOW_TASK_STARTED", { scheduledEventId: "5" }],
      ["WORKFLOW_TASK_FAILED", {
        scheduledEventId: "5",
        startedEventId: "6",
        failure: { message: "missing is not defined" },
      }],
    ],
    "The run is open, and its last workflow task failed: the service retries the task.",
  ),
  {
    name: "findings: a completed run has none about its end",
    async run() {
      const { findings } = await openRun(
        buildHistory(STARTED, ...TASK, ["WORKFLOW_EXECUTION_COMPLETED", {}]),
      );
      ok(!findings.some(({ kind }) => kind === "run"), JSON.stringify(findings));
    },
  },
];
