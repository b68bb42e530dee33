// Event groups of programs of `@temporalio/workflow`: the markers that commands carry, in every
// runtime.
import type { EventGroupMarker } from "../../ts/messages/generated/temporal/api/sdk/v1/event_group_marker_pb.ts";
import { jsonPayloadConverter } from "../../ts/converter/payload.ts";
import { deepEqual, equal } from "./assert.ts";
import type { Case } from "./case.ts";
import type { MiniServer } from "./mini_server.ts";
import type { RealmRun } from "./realm_host.ts";
import { one, withProgram } from "./temporal_program_support.ts";

function formatMarker({ variant }: EventGroupMarker): string {
  switch (variant.case) {
    case "inboundEvent":
      return `event ${variant.value.inboundEventId}`;
    case "inboundUpdate":
      return `update ${variant.value.inboundUpdateId}`;
    case "label":
      return `${variant.value.id}: ${
        jsonPayloadConverter.fromPayload(variant.value.label as never)
      }`;
  }
  return "";
}

/** Events that commands have left, by what they carry: "activity id: markers". */
const listMarkers = ({ events }: MiniServer): string[] =>
  events.flatMap(({ attributes: { case: name, value }, eventGroupMarkers }) =>
    name === "activityTaskScheduledEventAttributes"
      ? [`${value.activityId}: ${eventGroupMarkers.map(formatMarker).join(", ")}`]
      : []
  );

/** Continues until the run is closed, or a task fails. */
async function toItsEnd(run: RealmRun): Promise<void> {
  while (run.server.closed === undefined && run.failure === "") {
    for (const id of [...run.server.activities.keys()]) run.server.completeActivity(id, id);
    await run.task();
  }
  equal(run.failure, "");
}

export const cases: Case[] = [
  {
    name:
      "event groups: scopes nest and follow the code over awaits; of one id the last one counts; replays compare none",
    run: () =>
      withProgram(
        one(`
const call = (activityId: string, more: object = {}) => wf.proxyActivities<any>({ startToCloseTimeout: "1m", activityId, ...more }).work();
export async function scopes() {
  const [a, b] = [wf.createEventGroup("A", { id: "a" }), wf.createEventGroup("B", { id: "b" })];
  const other = wf.createEventGroup("other A", { id: "a" });
  const inA = a.withScope(async () => {
    await call("1");
    await Promise.resolve();
    await b.withScope(async () => {
      await call("2");
      await call("3", { eventGroups: [other] });
    });
    await call("4");
  });
  await call("5");
  await call("6", { eventGroups: [b, a] });
  await inA;
  return wf.createEventGroup("derived") !== a;
}`),
        async (h) => {
          const run = h.start("scopes");
          await toItsEnd(run);
          equal(run.server.closed?.result, true);
          const lines = listMarkers(run.server).sort();
          deepEqual(lines, [
            "1: a: A",
            "2: a: A, b: B",
            "3: a: other A, b: B",
            "4: a: A",
            "5: ",
            "6: b: B, a: A",
          ]);
          for (const event of run.server.events) event.eventGroupMarkers = [];
          equal((await h.realm.replay("wf", run.server.history())).verdict, "ok");
        },
      ),
  },
  {
    name:
      "event groups: what handlers call is marked with their message, what the main function calls is not",
    run: () =>
      withProgram(
        one(`
const call = (activityId: string) => wf.proxyActivities<any>({ startToCloseTimeout: "1m", activityId }).work();
export async function messages() {
  let done = 0;
  wf.setHandler(wf.defineSignal("go"), async () => { await call("s1"); await call("s2"); done++; });
  wf.setHandler(wf.defineUpdate<string>("ask"), async () => { await call("u1"); done++; return "answer"; });
  await call("m1");
  await wf.condition(() => done === 2);
  await call("m2");
}`),
        async (h) => {
          const run = h.start("messages");
          await run.task();
          run.server.signal("go");
          const signalled = run.server.events.length;
          const update = run.server.update("the-update", "ask");
          await toItsEnd(run);
          equal(update.result, "answer");
          deepEqual(listMarkers(run.server).sort(), [
            ...[
              "m1: ",
              "m2: ",
              `s1: event ${signalled}`,
              `s2: event ${signalled}`,
              "u1: update the-update",
            ],
          ]);
        },
      ),
  },
];
