// What is read by hand says the same as the generated messages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  DescribeNamespaceRequestSchema,
  DescribeNamespaceResponseSchema,
  GetSystemInfoResponse_CapabilitiesSchema as CapabilitiesSchema,
  GetSystemInfoResponseSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import {
  namespaceRequest,
  readNamespaceOffer,
  readServerInfo,
} from "../../../ts/api/server_info.ts";

const encoded = (
  capabilities: MessageInitShape<typeof CapabilitiesSchema>,
  serverVersion = "1.2.3",
) =>
  toBinary(
    GetSystemInfoResponseSchema,
    create(GetSystemInfoResponseSchema, { serverVersion, capabilities }),
  );

test("every capability of the generated message is read under its name", () => {
  const names = CapabilitiesSchema.fields.map(({ localName }) => localName);
  assert.deepEqual(Object.keys(readServerInfo(encoded({})).capabilities).sort(), [...names].sort());
  for (const name of names) {
    const { version, capabilities } = readServerInfo(encoded({ [name]: true }));
    assert.equal(version, "1.2.3");
    assert.deepEqual(Object.entries(capabilities).filter(([, can]) => can), [[name, true]]);
  }
});

test("unknown fields of newer servers are skipped, and parts of one message are merged", () => {
  const later = Uint8Array.from([0x7a, 2, 1, 2, 0x12, 6, 0xa0, 0x06, 1, 0xaa, 0x06, 0]);
  const parts = Uint8Array.from([
    ...encoded({ nexus: true }),
    ...later,
    ...encoded({ upsertMemo: true }, "1.3.0"),
  ]);
  const { version, capabilities } = readServerInfo(parts);
  const { $typeName: _, $unknown: __, ...library } = fromBinary(GetSystemInfoResponseSchema, parts)
    .capabilities!;
  assert.deepEqual({ version, capabilities }, { version: "1.3.0", capabilities: library });
  assert.deepEqual(readServerInfo(new Uint8Array(0)), { version: "", capabilities: {} });
});

test("invalid message bytes are rejected", () => {
  for (const bytes of [[0x0a, 9, 1], [0x12, 1, 0x08], [0xff]]) {
    assert.throws(() => readServerInfo(Uint8Array.from(bytes)));
  }
});

test("the request for a namespace equals the encoded generated message", () => {
  for (const namespace of ["default", "späße"]) {
    assert.deepEqual(
      namespaceRequest(namespace),
      toBinary(
        DescribeNamespaceRequestSchema,
        create(DescribeNamespaceRequestSchema, { namespace }),
      ),
    );
  }
});

test("the fields of a namespace that workers use are read", () => {
  const offer = (init: MessageInitShape<typeof DescribeNamespaceResponseSchema>) =>
    readNamespaceOffer(
      toBinary(DescribeNamespaceResponseSchema, create(DescribeNamespaceResponseSchema, init)),
    );
  assert.deepEqual(offer({}), { endsPolls: false, largestPayload: 0 });
  const others = { name: "n", data: { a: "b" }, supportsSchedules: true };
  assert.deepEqual(
    offer({
      namespaceInfo: {
        ...others,
        capabilities: {
          eagerWorkflowStart: true,
          workerPollCompleteOnShutdown: true,
          pollerAutoscaling: true,
        },
        limits: { blobSizeLimitError: 2_000_000n, memoSizeLimitError: 5n },
      },
      config: { historyArchivalUri: "x" },
      failoverVersion: 3n,
      isGlobalNamespace: true,
    }),
    { endsPolls: true, largestPayload: 2_000_000 },
  );
  const unlike = {
    capabilities: { eagerWorkflowStart: true, syncUpdate: true },
    limits: { memoSizeLimitError: 5n },
  };
  assert.deepEqual(offer({ namespaceInfo: { ...others, ...unlike } }), {
    endsPolls: false,
    largestPayload: 0,
  });
  assert.throws(() => readNamespaceOffer(Uint8Array.from([0x0a, 5, 0x3a])));
});
