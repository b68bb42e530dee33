// runtime: node
// Event groups of a history: their labels, what belongs to them, the messages that the SDK makes
// groups for; labels are values, for codecs and for redaction alike.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { PayloadCodec } from "../../../ts/codec/codec.ts";
import type { Payload } from "../../../ts/converter/payload.ts";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  eventGroups,
  openRun,
  readHistoryFile,
  redact,
  type RunModel,
} from "../../../ts/debug/mod.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";

const PROGRAM = `import * as wf from "@temporalio/workflow";
const acts = wf.proxyActivities({ startToCloseTimeout: "10s" });
export async function Main() {
  const shipping = wf.createEventGroup("shipping of ada", { id: "shipping" });
  const billing = wf.createEventGroup("billing");
  let done = false;
  wf.setHandler(wf.defineSignal("add"), async (sku) => void await acts.note(sku));
  wf.setHandler(wf.defineUpdate("close"), async () => {
    await acts.note("closing");
    done = true;
  });
  await shipping.withScope(async () => {
    await acts.pack();
    await wf.sleep("2s", { eventGroups: [billing] });
  });
  await wf.condition(() => done);
  await acts.charge();
}
`;

let folder: string;
let history: Uint8Array;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "event-groups-"));
  writeFileSync(join(folder, "main.ts"), PROGRAM);
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const env = await TestEnvironment.create({ logger: silent });
  try {
    const activities = { note: () => undefined, pack: () => undefined, charge: () => undefined };
    await env.runWorker(
      { workflows: pathToFileURL(join(folder, "main.ts")), activities },
      async () => {
        const handle = await env.client.start("Main", { id: "groups", args: [] });
        await handle.signal("add" as never, "PEN-2" as never);
        await handle.update("close" as never);
        await handle.result();
        history =
          (await readHistoryFile(new TextEncoder().encode(await handle.historyJson()))).bytes;
      },
    );
  } finally {
    await env.dispose();
  }
});
after(() => rmSync(folder, { recursive: true, force: true }));

const namesIn = (run: RunModel) =>
  eventGroups(run).map(({ kind, label, items }) =>
    `${kind} ${label}: ${items.map((i) => run.items[i]!.name).join(", ")}`
  );

test("groups have labels and items; operations of a handler belong to the group of its message", async () => {
  const run = await openRun(history);
  assert.equal(run.hasGroups, true);
  assert.deepEqual((namesIn(run)).sort(), [
    "label billing: timer 2 s",
    "label shipping of ada: pack, timer 2 s",
    "signal add: add, note",
    "update close: close, note",
  ]);
});

test("a history without markers has none", async () => {
  const plain = fromBinary(HistorySchema, history);
  for (const event of plain.events) event.eventGroupMarkers = [];
  const run = await openRun(toBinary(HistorySchema, plain));
  assert.equal(run.hasGroups, false);
  assert.deepEqual(eventGroups(run), []);
});

const xor: PayloadCodec = {
  encode: async (payloads) =>
    payloads.map((payload) => ({
      metadata: {
        encoding: new TextEncoder().encode("binary/encrypted"),
        was: payload.metadata["encoding"]!,
      },
      data: payload.data.map((byte) => byte ^ 0x55),
    })),
  decode: async (payloads) =>
    payloads.map((payload) =>
      payload.metadata["was"] === undefined ? payload : ({
        metadata: { encoding: payload.metadata["was"]! },
        data: payload.data.map((byte) => byte ^ 0x55),
      })
    ),
};

test("encoded labels are decoded with the codec; without it a group shows a part of its id", async () => {
  const decoded = fromBinary(HistorySchema, history);
  for (const { variant } of decoded.events.flatMap(({ eventGroupMarkers }) => eventGroupMarkers)) {
    if (variant.case !== "label" || variant.value.label === undefined) continue;
    const [{ metadata, data }] = await xor.encode([variant.value.label]) as [Payload];
    Object.assign(variant.value.label, { metadata, data });
  }
  const encoded = toBinary(HistorySchema, decoded);
  const labels = async (codec?: PayloadCodec) =>
    eventGroups(await openRun(encoded, codec && { codec })).filter(({ kind }) => kind === "label")
      .map(({ label }) => label).sort();
  assert.deepEqual(await labels(xor), ["billing", "shipping of ada"]);
  const [made, given] = await labels();
  assert.match(made!, /^[0-9a-f]{8}…$/);
  assert.equal(given, "shipping");
});

test("a redacted history has the groups without their labels", async () => {
  const { history: redacted } = await redact(history);
  const bytes = redacted!;
  assert.ok(!new TextDecoder().decode(bytes).includes("of ada"));
  const run = await openRun(bytes);
  const groups = eventGroups(run);
  assert.deepEqual(groups.map(({ items }) => items.length).sort(), [1, 2, 2, 2]);
  assert.ok(groups.every(({ label }) => !label.includes("ada") && label !== "billing"));
});
