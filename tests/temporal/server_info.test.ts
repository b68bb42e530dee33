// What is read by hand says the same as the generated messages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  DescribeNamespaceRequestSchema,
  GetSystemInfoResponse_CapabilitiesSchema as CapabilitiesSchema,
  GetSystemInfoResponseSchema,
} from "../../ts/temporal/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { namespaceRequest, readServerInfo } from "../../ts/temporal/server_info.ts";

const encoded = (capabilities: MessageInitShape<typeof CapabilitiesSchema>, serverVersion = "1.2.3") =>
  toBinary(GetSystemInfoResponseSchema, create(GetSystemInfoResponseSchema, { serverVersion, capabilities }));

test("every capability of the generated message is read, under its name", () => {
  const names = CapabilitiesSchema.fields.map(({ localName }) => localName);
  assert.deepEqual(Object.keys(readServerInfo(encoded({})).capabilities).sort(), [...names].sort());
  for (const name of names) {
    const { version, capabilities } = readServerInfo(encoded({ [name]: true }));
    assert.equal(version, "1.2.3");
    assert.deepEqual(Object.entries(capabilities).filter(([, can]) => can), [[name, true]]);
  }
});

test("fields of later servers are passed over, and parts of one message are merged", () => {
  const later = Uint8Array.from([0x7a, 2, 1, 2, 0x12, 6, 0xa0, 0x06, 1, 0xaa, 0x06, 0]);
  const parts = Uint8Array.from([...encoded({ nexus: true }), ...later, ...encoded({ upsertMemo: true }, "1.3.0")]);
  const { version, capabilities } = readServerInfo(parts);
  const { $typeName: _, $unknown: __, ...library } = fromBinary(GetSystemInfoResponseSchema, parts).capabilities!;
  assert.deepEqual({ version, capabilities }, { version: "1.3.0", capabilities: library });
  assert.deepEqual(readServerInfo(new Uint8Array(0)), { version: "", capabilities: {} });
});

test("bytes that are no message are refused", () => {
  for (const bytes of [[0x0a, 9, 1], [0x12, 1, 0x08], [0xff]]) assert.throws(() => readServerInfo(Uint8Array.from(bytes)));
});

test("a namespace is asked for as the generated message would", () => {
  for (const namespace of ["default", "späße"]) {
    assert.deepEqual(
      namespaceRequest(namespace),
      toBinary(DescribeNamespaceRequestSchema, create(DescribeNamespaceRequestSchema, { namespace })),
    );
  }
});
