// runtime: node (rules of the server; other files cover the runtime)
// Loops without an end (docs/dev/semantics/endless_loops.md) on a real Temporal dev server: four
// patrols walk four hundred rounds and continue as new by the server's suggestion; no round and no
// signal is lost, and every run of every chain replays.
// takes: 25 s
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Client } from "../../../ts/client/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { createInlineRealm } from "../../../ts/realm/mod.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import {
  carry,
  on,
  payload,
  query,
  select,
  signals,
  timer,
  workflow,
} from "../../../ts/workflow/mod.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer } from "./support/dev_server.ts";

const PATROLS = 4;
const ROUNDS = 100;
const EVENTS = 100;

interface Walked {
  readonly waypoint: number;
  readonly rounds: number;
  readonly threats: readonly number[];
}
const told = signals({
  threat: payload<[enemy: number]>(),
  standDown: payload(),
});
const status = query<Walked>("status");

const patrol = workflow("EndlessPatrol", {
  carry: (_route: string[]): Walked => ({
    waypoint: 0,
    rounds: 0,
    threats: [],
  }),
  messages: { status },
  queries: { status: (state: Walked) => state },
  round: (state, route) =>
    select([
      on(told.standDown, () => state),
      on(told.threat, ([enemy]) => carry({ ...state, threats: [...state.threats, enemy] })),
      timer(
        "arrival",
        10,
        () =>
          carry({
            ...state,
            waypoint: (state.waypoint + 1) % route.length,
            rounds: state.rounds + 1,
          }),
      ),
    ]),
});

let server: DevServer, service: GrpcService;

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start([
    `limit.historyCount.suggestContinueAsNew=${EVENTS}`,
  ]);
  service = new GrpcService({ address: server.address });
});

after(async () => {
  service?.close();
  await server?.stop();
});

test(
  "four patrols walk four hundred rounds on a server with automatic continue-as-new",
  { skip: noServer },
  async () => {
    const common = { service, taskQueue: "patrols", logger: silentLogger };
    const worker = await Worker.create({ ...common, workflows: [patrol] });
    const client = new Client(common);
    const realm = await createInlineRealm({ workflows: [patrol] });
    try {
      await worker.runUntil(async () => {
        const ids = Array.from({ length: PATROLS }, (_, i) => `patrol-${i}`);
        await Promise.all(
          ids.map((id) => client.start(patrol, { id, args: [["gate", "well", "tower"]] })),
        );
        const handles = ids.map((id) => client.getHandle(patrol, id));
        const sent = [1, 2, 3, 4, 5, 6, 7, 8];
        const walked = async () =>
          await Promise.all(
            handles.map(async (handle) => (await handle.query(status)).rounds),
          );
        for (const enemy of sent) {
          // Among the rounds, so that some meet the end of a run.
          await until(
            "they have walked on",
            async () => Math.min(...await walked()) >= enemy * ROUNDS / sent.length,
            // Each look is a query of each patrol.
            { everyMs: 200 },
          );
          await Promise.all(
            handles.map((handle) => handle.signal(told.threat, enemy)),
          );
        }
        await Promise.all(
          handles.map((handle) => handle.signal(told.standDown)),
        );
        for (const handle of handles) {
          const { rounds, waypoint, threats } = await handle.result();
          assert.ok(rounds >= ROUNDS, `${handle.workflowId}: ${rounds} rounds`);
          assert.equal(waypoint, rounds % 3);
          assert.deepEqual(threats, sent);
        }
      });
      const longest = new Map<string, { runs: number; events: number }>();
      for await (
        const { workflowId, runId } of client.list(
          "WorkflowType = 'EndlessPatrol'",
        )
      ) {
        const run = client.getHandle(undefined, workflowId, runId);
        const history = await run.historyBytes();
        const verdict = await realm.replay(workflowId, history);
        assert.equal(
          verdict.verdict,
          "ok",
          `${workflowId} ${runId}: ${verdict.error?.message}`,
        );
        const { events } = fromBinary(HistorySchema, history);
        const { runs, events: most } = longest.get(workflowId) ??
          { runs: 0, events: 0 };
        longest.set(workflowId, {
          runs: runs + 1,
          events: Math.max(most, events.length),
        });
      }
      assert.equal(longest.size, PATROLS);
      for (const [id, { runs, events }] of longest) {
        assert.ok(
          runs >= 5 && events < EVENTS * 2,
          `${id}: ${runs} runs, of ${events} events at most`,
        );
      }
    } finally {
      await realm.dispose();
    }
  },
);
