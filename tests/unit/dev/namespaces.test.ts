// Namespaces of `temporalex dev`: apart, registered, kept for a while.
// process: own (its support module has one server)
import assert from "node:assert/strict";
import { test } from "node:test";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { Namespaces } from "../../../ts/dev/namespaces.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import { grpc, server, service, typed } from "./support/dev_server.ts";

test("namespaces are isolated and can be added; an unknown one is reported with advice", async () => {
  const clientOf = (namespace: string) =>
    new Client({ service, namespace, taskQueue: "q", logger: silentLogger });
  await clientOf("default").start("Work", { id: "one" });
  await clientOf("orders").start("Work", { id: "two" });
  const ids = async (namespace: string) => {
    const found = [];
    for await (const { workflowId } of clientOf(namespace).list()) found.push(workflowId);
    return found;
  };
  assert.deepEqual([await ids("default"), await ids("orders")], [["one"], ["two"]]);
  await assert.rejects(
    typed().listWorkflowExecutions({ namespace: "other" }),
    /Namespace other is not found.*serves: default, orders.*--namespace other/,
  );
  await assert.rejects(clientOf("orders").getHandle("Work", "one").describe(), /not found/);
  const register = (name: string) =>
    grpc(
      "/temporal.api.workflowservice.v1.WorkflowService/RegisterNamespace",
      registration(name, retention(1)),
    );
  assert.equal((await register("late")).status, "0");
  assert.deepEqual(await ids("late"), []);
  assert.deepEqual([(await register("late")).status, (await register("late")).message], [
    "6",
    "Namespace late already exists.",
  ]);
  assert.match((await register("../x")).message, /invalid namespace/);
  const { namespaces } = await typed().listNamespaces({});
  assert.deepEqual(namespaces.map((each) => each.namespaceInfo?.name), [
    "default",
    "orders",
    "late",
  ]);
  assert.equal((await typed().describeNamespace({ id: "orders" })).namespaceInfo?.name, "orders");
});

const SERVICE = "/temporal.api.workflowservice.v1.WorkflowService";
const OPERATOR = "/temporal.api.operatorservice.v1.OperatorService";
const REGISTER = "/temporal.api.workflowservice.v1.WorkflowService/RegisterNamespace";

/** The bytes of a RegisterNamespaceRequest, whose message is not generated. */
function registration(
  name: string,
  more: (writer: BinaryWriter) => unknown = () => {},
): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).string(name);
  more(writer);
  return new Uint8Array(writer.finish());
}

const retention = (seconds: number) => (writer: BinaryWriter) =>
  writer.tag(4, WireType.LengthDelimited).fork().tag(1, WireType.Varint).int64(seconds).join();

test("a request without a namespace is rejected, as on a Temporal server", async () => {
  await assert.rejects(
    typed().listWorkflowExecutions({}),
    /\[invalid_argument\] Namespace is empty/,
  );
  await assert.rejects(
    typed().describeWorkflowExecution({ execution: { workflowId: "w" } }),
    /Namespace is empty/,
  );
  await assert.rejects(typed().describeNamespace({}), /Namespace not set on request/);
  await assert.rejects(
    typed().respondWorkflowTaskCompleted({ taskToken: new Uint8Array([1]) }),
    /task token/,
  );
});

test("the options of a registered namespace are stored, shown and applied, or rejected by name", async () => {
  const text = (field: number, value: string) => (writer: BinaryWriter) =>
    writer.tag(field, WireType.LengthDelimited).string(value);
  const request = registration("kept", (writer) => {
    text(2, "of the shop")(writer);
    text(3, "shop@example.com")(writer);
    writer.tag(4, WireType.LengthDelimited).fork().tag(1, WireType.Varint).int64(1).tag(
      2,
      WireType.Varint,
    ).int32(500_000_000)
      .join();
    for (const [key, value] of [["team", "a"], ["__proto__", "b"]] as const) {
      writer.tag(7, WireType.LengthDelimited).fork();
      text(1, key)(writer);
      text(2, value)(writer);
      writer.join();
    }
    writer.tag(9, WireType.Varint).bool(false).tag(10, WireType.Varint).int32(1);
  });
  assert.equal((await grpc(REGISTER, request)).status, "0");
  const { namespaceInfo, config } = await typed().describeNamespace({ namespace: "kept" });
  assert.deepEqual([namespaceInfo!.description, namespaceInfo!.ownerEmail], [
    "of the shop",
    "shop@example.com",
  ]);
  assert.deepEqual(Object.entries(namespaceInfo!.data), [["team", "a"], ["__proto__", "b"]]);
  const { seconds, nanos } = config!.workflowExecutionRetentionTtl!;
  assert.deepEqual([seconds, nanos], [1n, 500_000_000]);
  const { namespaces } = await typed().listNamespaces({});
  assert.equal(
    namespaces.find((each) => each.namespaceInfo?.name === "kept")?.namespaceInfo?.description,
    "of the shop",
  );
  assert.match((await grpc(REGISTER, registration("no"))).message!, /retention period is not set/);
  for (
    const [more, message] of [
      [text(6, "other"), /namespace no cannot be registered: an active cluster/],
      [(writer: BinaryWriter) => writer.tag(9, WireType.Varint).bool(true), /a global namespace/],
      [
        (writer: BinaryWriter) => writer.tag(10, WireType.Varint).int32(2),
        /archival of histories: export them/,
      ],
      [text(13, "file:///x"), /archival of visibility/],
      [
        retention(-5),
        /retention period is not set on request: -5000 ms/,
      ],
    ] as const
  ) {
    const answer = await grpc(
      REGISTER,
      registration("no", (writer) => (retention(1)(writer), more(writer))),
    );
    assert.deepEqual([answer.status, message.test(answer.message!)], ["3", true], answer.message);
  }
  assert.ok(!server.namespaces.names.includes("no"));
});

test("closed runs of a namespace are removed after its retention", async () => {
  const engines: EmbeddedEngine[] = [];
  const kept: number[] = [];
  const namespaces = await Namespaces.open([{ name: "default", options: {} }], {
    open: async (namespace) => {
      const engine = await EmbeddedEngine.open({ namespace, store: new MemoryStore() });
      engines.push(engine);
      return engine;
    },
    keepFor: (
      retentionMs,
      engine,
    ) => (kept.push(retentionMs, engines.indexOf(engine)), () => kept.push(-1)),
  });
  await namespaces.register("short", { retentionMs: 1000 });
  assert.deepEqual(kept, [1000, 1]);
  await namespaces.close();
  assert.deepEqual(kept, [1000, 1, -1]);
});

test("of two concurrent registrations of a name one succeeds; stopping the server closes every engine", async () => {
  const engines: EmbeddedEngine[] = [];
  let release = () => {};
  const namespaces = await Namespaces.open([{ name: "default", options: {} }], {
    open: async (namespace) => {
      if (namespace !== "default") await new Promise<void>((resolve) => release = resolve);
      const engine = await EmbeddedEngine.open({ namespace, store: new MemoryStore() });
      engines.push(engine);
      return engine;
    },
    keepFor: () => () => {},
  });
  const both = Promise.allSettled([
    namespaces.register("twice", {}),
    namespaces.register("twice", {}),
  ]);
  release();
  const outcomes = await both;
  assert.deepEqual(outcomes.map(({ status }) => status), ["fulfilled", "rejected"]);
  assert.match(
    String((outcomes[1] as PromiseRejectedResult).reason),
    /Namespace twice already exists/,
  );
  assert.equal(engines.length, 2);
  const late = assert.rejects(
    namespaces.register("late", {}),
    /the server was closed while namespace late was added/,
  );
  const closing = namespaces.close();
  release();
  await Promise.all([late, closing]);
  assert.equal(engines.length, 3);
  for (const engine of engines) {
    await assert.rejects(engine.call("listWorkflowExecutions", new Uint8Array(0)), /closed/);
  }
});

/** The bytes of a request whose first field is the namespace. */
const named = (name: string) => registration(name);

test("a namespace's description, owner, data and retention can be changed; unset fields stay", async () => {
  await grpc(REGISTER, registration("changing", retention(60)));
  const updated = await typed().updateNamespace({
    namespace: "changing",
    updateInfo: { description: "new", data: { team: "a", "__proto__": "b" } },
    config: { workflowExecutionRetentionTtl: { seconds: 90n } },
  });
  await typed().updateNamespace({
    namespace: "changing",
    updateInfo: { ownerEmail: "shop@example.com", data: { team: "c" } },
  });
  assert.deepEqual(
    [updated.namespaceInfo!.description, updated.config!.workflowExecutionRetentionTtl!.seconds],
    ["new", 90n],
  );
  const { namespaceInfo, config } = await typed().describeNamespace({ namespace: "changing" });
  const { description, ownerEmail, data } = namespaceInfo!;
  assert.deepEqual([description, ownerEmail], ["new", "shop@example.com"]);
  assert.equal(data["team"], "c");
  assert.equal(config!.workflowExecutionRetentionTtl!.seconds, 90n);
  for (
    const [change, message] of [
      [{ config: { workflowExecutionRetentionTtl: {} } }, /retention period is not set/],
      [{ replicationConfig: { activeClusterName: "other" } }, /cannot be updated: clusters/],
      [{ promoteNamespace: true }, /a global namespace/],
      [{ config: { historyArchivalState: 2 } }, /archival of histories: export them/],
      [{ config: { badBinaries: {} } }, /bad binaries: reset the runs/],
      [
        { config: { customSearchAttributeAliases: { Keyword01: "a" } } },
        /aliases of search attributes/,
      ],
      [{ updateInfo: { state: 3 } }, /DeleteNamespace/],
    ] as const
  ) {
    await assert.rejects(typed().updateNamespace({ namespace: "changing", ...change }), message);
  }
  await assert.rejects(typed().updateNamespace({ namespace: "nowhere" }), /nowhere is not found/);
  await assert.rejects(typed().updateNamespace({}), /Namespace not set on request/);
});

test("a deprecated namespace takes no starts, its runs continue, and it stays deprecated", async () => {
  await grpc(REGISTER, registration("old", retention(60)));
  const client = new Client({ service, namespace: "old", taskQueue: "q", logger: silentLogger });
  const handle = await client.start("Work", { id: "before" });
  assert.equal((await grpc(`${SERVICE}/DeprecateNamespace`, named("old"))).status, "0");
  assert.equal((await typed().describeNamespace({ namespace: "old" })).namespaceInfo!.state, 2);
  const refused = {
    code: 9,
    reason: "NamespaceInvalidState",
    message: /invalid state: Deprecated/,
  };
  await assert.rejects(client.start("Work", { id: "after" }), refused);
  await assert.rejects(
    client.signalWithStart("Work", { id: "after", signal: "s" }),
    refused,
  );
  await handle.signal("s");
  assert.equal((await handle.describe()).status, "RUNNING");
  await assert.rejects(
    typed().updateNamespace({ namespace: "old", updateInfo: { state: 1 } }),
    /Invalid namespace state update/,
  );
});

test("a deleted namespace is gone with its runs, and its name is free", async () => {
  await grpc(REGISTER, registration("brief", retention(60)));
  const client = new Client({ service, namespace: "brief", taskQueue: "q", logger: silentLogger });
  const handle = await client.start("Work", { id: "one" });
  const waiting = assert.rejects(handle.result(), /namespace "brief" does not exist/);
  const remove = (name: string) => grpc(`${OPERATOR}/DeleteNamespace`, named(name));
  assert.equal((await remove("brief")).status, "0");
  await waiting;
  await assert.rejects(client.count(), /namespace "brief" does not exist/);
  assert.equal((await grpc(REGISTER, registration("brief", retention(60)))).status, "0");
  assert.equal(await client.count(), 0);
  assert.match((await remove("default")).message, /default cannot be deleted: it is the one of/);
  assert.deepEqual([(await remove("nowhere")).status, (await remove("")).status], ["5", "3"]);
});

test("a change that the host cannot keep is rejected and has no effect", async () => {
  const saved: string[][] = [];
  let fails = false;
  const refuse = () => {
    if (fails) throw new Error("no space left");
  };
  const namespaces = await Namespaces.open([{ name: "default", options: {} }], {
    open: (namespace) => EmbeddedEngine.open({ namespace, store: new MemoryStore() }),
    keepFor: () => () => {},
    save(registered) {
      refuse();
      saved.push([...registered].map(([name, { description }]) => `${name} ${description}`));
    },
    discard: () => Promise.resolve().then(refuse),
  });
  await namespaces.register("a", { description: "one" });
  namespaces.update("default", (options) => ({ ...options, description: "first" }));
  assert.deepEqual(saved, [["a one"], ["default first", "a one"]]);
  fails = true;
  await assert.rejects(namespaces.register("b", {}), /no space left/);
  assert.throws(
    () => namespaces.update("a", (options) => ({ ...options, description: "two" })),
    /no space left/,
  );
  await assert.rejects(namespaces.delete("a"), /no space left/);
  assert.deepEqual(namespaces.names, ["default", "a"]);
  fails = false;
  await namespaces.register("b", { description: "late" });
  assert.deepEqual(saved.at(-1), ["default first", "a one", "b late"]);
  await namespaces.delete("a");
  assert.deepEqual(saved.at(-1), ["default first", "b late"]);
  await namespaces.close();
});
