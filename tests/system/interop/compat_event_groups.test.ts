// runtime: node
// Event groups of programs of `@temporalio/workflow`: the same workflows on the official worker and
// on ours, and the markers of each command as both send them (the dev server keeps none). Each
// replays the other's histories; markers are compared with nothing.
// takes: 40 s
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Command } from "../../../ts/messages/generated/temporal/api/command/v1/message_pb.ts";
import { PayloadSchema } from "../../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import { CommandType } from "../../../ts/messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  type EventGroupMarker,
  EventGroupMarkerSchema,
} from "../../../ts/messages/generated/temporal/api/sdk/v1/event_group_marker_pb.ts";
import { enumName } from "../../../ts/converter/enums.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Client, type WorkflowHandle } from "../../../ts/client/mod.ts";
import type { Payload } from "../../../ts/converter/payload.ts";
import { readHistoryFile } from "../../../ts/history_files/history_file.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { createWorkerRealm } from "../../../ts/realm/mod.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { DevServer, noServer, temporalCli } from "./support/dev_server.ts";
import {
  noOfficial,
  official,
  officialVerdicts,
  quietWorkerPackage,
  root,
} from "./support/official.ts";
import { OurServer } from "./support/our_server.ts";
import { RecordingProxy } from "./support/recording_proxy.ts";

const skip = noOfficial !== false ? noOfficial : noServer;
const workflows = join(root, "tests/system/interop/compat/grouped.ts");

/** Of one worker: an activity fails the first time. */
function activitiesOf() {
  let calls = 0;
  return {
    work: (what: string) => what,
    slow: () => new Promise((resolve) => setTimeout(resolve, 2000)),
    failsOnce() {
      if (calls++ === 0) throw new Error("once");
    },
  };
}

let server: DevServer, service: GrpcService, client: Client;
// deno-lint-ignore no-explicit-any
let sdk: any, workflowBundle: any;

before(async () => {
  if (skip !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  client = new Client({ service, logger: silentLogger });
  sdk = quietWorkerPackage();
  const connection = await official("@temporalio/client").Connection.connect({
    address: server.address,
  });
  const KEYWORD = 2;
  await connection.operatorService.addSearchAttributes({
    namespace: "default",
    searchAttributes: { GroupKeyword: KEYWORD },
  });
  await connection.close();
  const endpoint = [
    "--name",
    "desk",
    "--target-namespace",
    "default",
    "--target-task-queue",
    "unpolled",
  ];
  execFileSync(temporalCli()!, [
    "operator",
    "nexus",
    "endpoint",
    "create",
    "--address",
    server.address,
    ...endpoint,
  ]);
  workflowBundle = await sdk.bundleWorkflowCode({
    workflowsPath: workflows,
    logger: new sdk.DefaultLogger("ERROR"),
  });
});

after(async () => {
  service?.close();
  await server?.stop();
});

const text = (data: Uint8Array | undefined) => new TextDecoder().decode(data);

interface Known {
  readonly runId: string;
  /** What an event is, by its id. */
  readonly events: ReadonlyMap<bigint, string>;
}

/** A marker in words that do not depend on the run. */
function markerText({ variant }: EventGroupMarker, { runId, events }: Known): string {
  switch (variant.case) {
    case "inboundEvent":
      return `event ${events.get(variant.value.inboundEventId) ?? variant.value.inboundEventId}`;
    case "inboundUpdate":
      return `update ${variant.value.inboundUpdateId}`;
    case "label": {
      const { id, label } = variant.value;
      const said = JSON.parse(text(label?.data)) as string;
      const derived = createHash("sha1").update(runId + said).digest("hex");
      return `${id === derived ? "derived" : JSON.stringify(id)} ${JSON.stringify(said)} ${
        text(label?.metadata["encoding"])
      }${text(label?.metadata["coded"])}`;
    }
  }
  return "no variant";
}

/** What distinguishes a command from others of its type. */
function about({ attributes: { case: name, value } }: Command): string {
  switch (name) {
    case "scheduleActivityTaskCommandAttributes":
      return `${value.activityType?.name} ${text(value.input?.payloads[0]?.data)}`;
    case "recordMarkerCommandAttributes":
      return value.markerName;
    case "startChildWorkflowExecutionCommandAttributes":
      return value.workflowId.split("-")[0]!;
    case "signalExternalWorkflowExecutionCommandAttributes":
      return value.signalName;
  }
  return "";
}

function commandText(command: Command, known: Known): string {
  return `${enumName(CommandType, command.commandType)} ${about(command)} ${
    markersText(command.eventGroupMarkers, known)
  }`;
}

function markersText(markers: readonly EventGroupMarker[], known: Known): string {
  return `[${markers.map((marker) => markerText(marker, known)).join("; ")}]`;
}

/** It marks payloads as encoded. */
const codec = {
  encode: (payloads: Payload[]) =>
    Promise.resolve(
      payloads.map(({ metadata, ...payload }) => ({
        ...payload,
        metadata: { ...metadata, coded: Buffer.from(" coded") },
      })),
    ),
  decode: (payloads: Payload[]) =>
    Promise.resolve(
      payloads.map(({ metadata: { coded: _, ...metadata } = {}, ...payload }) => ({
        ...payload,
        metadata,
      })),
    ),
};

/** Workflows, and what is done with each. */
const RUNS: { readonly [type: string]: (handle: WorkflowHandle) => Promise<unknown> } = {
  options: (handle) => handle.result(),
  ids: (handle) => handle.result(),
  scopes: (handle) => handle.result(),
  others: (handle) => handle.result(),
  async messages(handle) {
    await handle.signal("late");
    await handle.signal("go");
    const update = await handle.startUpdate("ask", {
      args: ["what"],
      updateId: "the-update",
      waitFor: "accepted",
    });
    await update.result();
    await handle.signal("unnamed");
    return await handle.result();
  },
  continues: (handle) => handle.result(),
  async continuesInHandler(handle) {
    await handle.signal("go");
    return await handle.result();
  },
  backsOff: (handle) => handle.result(),
  nexus: (handle) => handle.result(),
  says: (handle) => handle.result(),
  plain: (handle) => handle.result(),
};

interface Ran {
  readonly result: unknown;
  readonly lines: readonly string[];
  readonly history: Uint8Array;
  readonly json: string;
  readonly known: Known;
}

/**
 * A worker's completions of the tasks of one workflow. One that ends the run counts once: the
 * server may have rejected it for a message.
 */
function completionsOf(proxy: RecordingProxy, workflowId: string): Command[][] {
  const field = Buffer.concat([Buffer.from([0x12, workflowId.length]), Buffer.from(workflowId)]);
  const of = proxy.completions.filter(({ taskToken }) => Buffer.from(taskToken).includes(field))
    .map(({ commands }) => commands);
  const ends = (commands: Command[]) =>
    commands.at(-1)?.commandType === CommandType.COMPLETE_WORKFLOW_EXECUTION;
  return of.filter((commands, i) => !ends(commands) || i === of.length - 1);
}

/** All of them, or some, on one queue. */
async function all(
  client: Client,
  taskQueue: string,
  proxy: RecordingProxy,
  types = Object.keys(RUNS),
): Promise<{ [type: string]: Ran }> {
  const ran: { [type: string]: Ran } = {};
  await Promise.all(types.map(async (type) => {
    const workflowId = `${type}-${taskQueue}`;
    const handle = await client.start(type, { id: workflowId, taskQueue });
    const first = client.getHandle(undefined, workflowId, handle.firstExecutionRunId);
    const result = await RUNS[type]!(handle);
    const history = await first.historyBytes();
    const json = await first.historyJson();
    const { events } = fromBinary(HistorySchema, history);
    const known: Known = {
      runId: handle.firstExecutionRunId!,
      events: new Map(
        events.flatMap(({ eventId, attributes: { case: name, value } }) =>
          name === "workflowExecutionSignaledEventAttributes"
            ? [[eventId, `of signal ${value.signalName}`]]
            : []
        ),
      ),
    };
    const lines = completionsOf(proxy, workflowId).flat().map((command) =>
      commandText(command, known)
    );
    ran[type] = { result, lines, history, json, known };
  }));
  return ran;
}

/** The history with a marker on each event that has none. */
function marked(history: Uint8Array): Uint8Array {
  const decoded = fromBinary(HistorySchema, history);
  const label = create(PayloadSchema, {
    metadata: { encoding: Buffer.from("json/plain") },
    data: Buffer.from('"other"'),
  });
  for (const event of decoded.events) {
    if (event.eventGroupMarkers.length > 0) continue;
    event.eventGroupMarkers.push(
      create(EventGroupMarkerSchema, { variant: { case: "label", value: { id: "other", label } } }),
    );
  }
  return toBinary(HistorySchema, decoded);
}

test(
  "each command carries the same markers as in the official worker; replay does not compare them",
  { skip },
  async () => {
    const [theirProxy, ourProxy] = await Promise.all([
      RecordingProxy.start(server.address),
      RecordingProxy.start(server.address),
    ]);
    const connection = await sdk.NativeConnection.connect({ address: theirProxy.address });
    const through = new GrpcService({ address: ourProxy.address });
    const their = await sdk.Worker.create({
      connection,
      taskQueue: "theirs",
      workflowBundle,
      activities: activitiesOf(),
    });
    const our = await Worker.create({
      service: through,
      taskQueue: "ours",
      workflows,
      activities: activitiesOf(),
      logger: silentLogger,
    });
    const [theirs, ours] = await Promise.all([
      their.runUntil(() => all(client, "theirs", theirProxy)) as Promise<{ [type: string]: Ran }>,
      our.runUntil(() => all(client, "ours", ourProxy)),
    ]);
    for (const type of Object.keys(RUNS)) {
      assert.deepEqual(ours[type]!.result, theirs[type]!.result, type);
      assert.deepEqual([...ours[type]!.lines].sort(), [...theirs[type]!.lines].sort(), type);
    }
    await connection.close();
    through.close();
    await Promise.all([theirProxy.stop(), ourProxy.stop()]);

    const realms = await Promise.all(
      (["asyncLocalStorage", "rewritten"] as const).map((scopes) =>
        createWorkerRealm({ workflows, cacheSize: 0, scopes })
      ),
    );
    const variants = Object.keys(RUNS).flatMap((type) =>
      ([["ours", ours[type]!], ["theirs", theirs[type]!]] as const).flatMap(
        ([queue, { history }]) =>
          [history, marked(history)].map((one) => [`${type}-${queue}`, one] as const),
      )
    );
    const verdicts = await officialVerdicts(workflowBundle, variants);
    for (const [i, [id, variant]] of variants.entries()) {
      assert.equal(verdicts[i], "ok", id);
      const groups = await Promise.all(realms.map(async (realm) => {
        const { verdict, error, recorded } = await realm.replay(id, variant, { record: true });
        assert.equal(verdict, "ok", `${id}: ${error?.message}`);
        return recorded!.flatMap(({ commands }) =>
          commands.map(({ kind, seq, groups = [] }) => ({ kind, seq, groups: [...groups] }))
        );
      }));
      assert.deepEqual(groups[1], groups[0], `${id}: by rewritten code as by AsyncLocalStorage`);
    }
    for (const realm of realms) await realm.dispose();
  },
);

test("codecs encode the labels", { skip }, async () => {
  const [theirProxy, ourProxy] = await Promise.all([
    RecordingProxy.start(server.address),
    RecordingProxy.start(server.address),
  ]);
  const connection = await sdk.NativeConnection.connect({ address: theirProxy.address });
  const through = new GrpcService({ address: ourProxy.address });
  const coded = new Client({ service, codec, logger: silentLogger });
  const types = ["options", "continues", "backsOff", "others"];
  const their = await sdk.Worker.create({
    ...{ connection, taskQueue: "their-codec", workflowBundle, activities: activitiesOf() },
    dataConverter: { payloadCodecs: [codec] },
  });
  const our = await Worker.create({
    ...{
      service: through,
      taskQueue: "our-codec",
      workflows,
      activities: activitiesOf(),
      logger: silentLogger,
    },
    codec,
  });
  const [theirs, ours] = await Promise.all([
    their.runUntil(() => all(coded, "their-codec", theirProxy, types)) as Promise<
      { [type: string]: Ran }
    >,
    our.runUntil(() => all(coded, "our-codec", ourProxy, types)),
  ]);
  for (const type of types) {
    assert.deepEqual([...ours[type]!.lines].sort(), [...theirs[type]!.lines].sort(), type);
    const labels = ours[type]!.lines.filter((line) => line.includes("json/plain"));
    assert.ok(
      labels.length > 0 && labels.every((line) => !/json\/plain(?! coded)/.test(line)),
      type,
    );
  }
  await connection.close();
  through.close();
  await Promise.all([theirProxy.stop(), ourProxy.stop()]);
});

test(
  "temporalex dev keeps the markers with the events, for both workers",
  { skip: noOfficial },
  async () => {
    const dev = await OurServer.start();
    const [theirProxy, ourProxy] = await Promise.all([
      RecordingProxy.start(dev.address),
      RecordingProxy.start(dev.address),
    ]);
    const connection = await sdk.NativeConnection.connect({ address: theirProxy.address });
    const [direct, through] = [
      new GrpcService({ address: dev.address }),
      new GrpcService({ address: ourProxy.address }),
    ];
    const devClient = new Client({ service: direct, logger: silentLogger });
    const types = Object.keys(RUNS).filter((type) => type !== "nexus");
    const their = await sdk.Worker.create({
      connection,
      taskQueue: "theirs",
      workflowBundle,
      activities: activitiesOf(),
    });
    const our = await Worker.create({
      service: through,
      taskQueue: "ours",
      workflows,
      activities: activitiesOf(),
      logger: silentLogger,
    });
    const [theirs, ours] = await Promise.all([
      their.runUntil(() => all(devClient, "theirs", theirProxy, types)) as Promise<
        { [type: string]: Ran }
      >,
      our.runUntil(() => all(devClient, "ours", ourProxy, types)),
    ]);
    let events = 0;
    for (const type of types) {
      const [kept, theirKept] = [ours[type]!, theirs[type]!].map(({ history, known }) =>
        fromBinary(HistorySchema, history).events.map(({ eventGroupMarkers }) =>
          markersText(eventGroupMarkers, known)
        )
          .filter((markers) => markers !== "[]").sort()
      );
      assert.deepEqual(kept, theirKept, type);
      events += kept!.length;
      const { json, history } = ours[type]!;
      assert.equal(json.includes('"eventGroupMarkers"'), kept!.length > 0, type);
      const read = await readHistoryFile(new TextEncoder().encode(json));
      assert.deepEqual(
        fromBinary(HistorySchema, read.bytes),
        fromBinary(HistorySchema, history),
        type,
      );
    }
    const marked = ourProxy.completions.flatMap(({ commands }) => commands).filter((
      { eventGroupMarkers },
    ) => eventGroupMarkers.length > 0);
    assert.ok(events > 40);
    assert.equal(events, marked.length);
    await connection.close();
    through.close();
    direct.close();
    await Promise.all([theirProxy.stop(), ourProxy.stop(), dev.stop()]);
  },
);
