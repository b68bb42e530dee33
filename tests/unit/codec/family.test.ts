// Codecs over what passes between workflows: arguments, results, failures, memos and signals of
// children and neighbors.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { open, silentLogger } from "../../../ts/mod.ts";
import { MessageCodec } from "../../../ts/codec/message_codec.ts";
import { defaultPayloadConverter } from "../../../ts/converter/payload.ts";
import { RespondWorkflowTaskCompletedRequestSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { invertingCodec } from "../../support/codecs.ts";
import { until } from "../../support/until.ts";
import { listener, SECRET, talker, whisper } from "./workflows/secret_family.ts";

test("messages between workflows are encoded in the store and arrive decoded", async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-family-"));
  const app = await open({
    path: join(folder, "store.sqlite"),
    workflows: new URL("./workflows/secret_family.ts", import.meta.url),
    codec: invertingCodec(),
    encodeCommonAttributes: true,
    logger: silentLogger,
  });
  try {
    const neighbor = await app.client.start(listener, {
      id: "neighbor",
      args: [`${SECRET} start`],
    });
    const handle = await app.client.start(talker, { id: "talker", args: ["neighbor"] });
    assert.equal(await neighbor.result(), `${SECRET} start and ${SECRET} news`);
    await until("the key is gone", async () => !("removed" in (await handle.describe()).memo));
    assert.deepEqual((await handle.describe()).memo, { kept: `${SECRET} kept` });
    await handle.signal(whisper, "end");
    assert.deepEqual(await handle.result(), {
      heard: `${SECRET} argument and ${SECRET} word`,
      refused: [`${SECRET} failure`, `${SECRET} detail`],
    });
    // The store also has a socket.
    const files = readdirSync(folder).map((name) => join(folder, name)).filter((path) =>
      statSync(path).isFile()
    );
    const bytes = files.map((path) => readFileSync(path).toString("latin1"));
    assert.ok(!bytes.join("\n").includes(SECRET));
  } finally {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the value that removes a memo key is not encoded; values that set a key are", async () => {
  const codec = MessageCodec.of({ codec: invertingCodec() })!;
  const payload = (value: unknown) => defaultPayloadConverter.toPayload(value);
  const request = create(RespondWorkflowTaskCompletedRequestSchema, {
    commands: [{
      attributes: {
        case: "modifyWorkflowPropertiesCommandAttributes",
        value: {
          upsertedMemo: {
            fields: { gone: payload(undefined), kept: payload("text"), empty: payload(null) },
          },
        },
      },
    }],
  });
  const bytes = await codec.encode(
    RespondWorkflowTaskCompletedRequestSchema,
    toBinary(RespondWorkflowTaskCompletedRequestSchema, request),
  );
  const [command] = fromBinary(RespondWorkflowTaskCompletedRequestSchema, bytes).commands;
  assert.ok(command?.attributes.case === "modifyWorkflowPropertiesCommandAttributes");
  const { gone, kept, empty } = command.attributes.value.upsertedMemo!.fields;
  const encoding = (of: typeof gone) => new TextDecoder().decode(of!.metadata["encoding"]);
  assert.equal(encoding(gone), "binary/null");
  for (const encoded of [kept, empty]) assert.notEqual(encoding(encoded), "json/plain");
});
