// A redacted history contains no secret, wherever the schema allows one, and replays as before.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBinary, toJsonString } from "@bufbuild/protobuf";
import { openSession, redact } from "../../../ts/debug/mod.ts";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { API, createRealmFromText } from "../../cases/realm_host.ts";
import { plantedHistory } from "./planted.ts";
import { EDITED, recorded } from "./take_away_support.ts";

test("redaction removes secrets from the payloads of every event type, also in base64", async () => {
  const { bytes, secrets } = plantedHistory();
  const { history, replaced } = await redact(bytes);
  assert.ok(replaced >= 200);
  const binary = new TextDecoder("latin1").decode(history!);
  const json = toJsonString(HistorySchema, fromBinary(HistorySchema, history!));
  // What is base64 in JSON is text again.
  const decoded = json.replace(/"([A-Za-z0-9+/=]{4,})"/g, (_, each: string) => {
    try {
      const once = atob(each);
      return `${once} ${
        once.replace(/[A-Za-z0-9+/=]{8,}/g, (inner) => {
          try {
            return atob(inner);
          } catch {
            return inner;
          }
        })
      }`;
    } catch {
      return each;
    }
  });
  const left = secrets.filter((secret) =>
    [binary, json, decoded].some((where) => where.includes(secret) || where.includes(btoa(secret)))
  );
  assert.deepEqual(left, []);
  assert.ok(new TextDecoder("latin1").decode(bytes).includes(secrets[0]!), "they were there");
  assert.equal(history!.length, bytes.length, "lengths are kept");
  assert.deepEqual((await redact(bytes)).history, history, "the same each time");
});

test("redaction does not change the verdict, whether the history replays or not", async () => {
  const { before, after } = EDITED[2]!;
  const history = await recorded(before, 4);
  for (const [code, name] of [[before, undefined], [after, "NondeterminismError"]] as const) {
    const { realm, dispose } = await createRealmFromText(code);
    try {
      const redacted = await redact(history, { realm });
      assert.equal(redacted.verified, true);
      assert.deepEqual(redacted.needed, []);
      assert.ok(!new TextDecoder("latin1").decode(redacted.history).includes("item 1"));
      assert.equal((await openSession(redacted.history!, { realm })).problem?.name, name);
    } finally {
      await dispose();
    }
  }
});

test("a text that the code branches on is reported, and is kept only with consent", async () => {
  const { realm, dispose } = await createRealmFromText(`${API}
export const main = workflow("Main", async (who, note) => {
  if (who === "vip") await sleep(10);
  return note;
});`);
  const h = await createRealmFromText(
    `${API}export const main = workflow("Main", async (who, note) => { await sleep(10); return note; });`,
  );
  try {
    const run = h.start("Main", { args: ["vip", "my secret note"] });
    await run.auto();
    const history = run.server.history();
    const asked = await redact(history, { realm });
    assert.equal(asked.history, undefined);
    assert.deepEqual(asked.needed, ["vip"]);
    const { history: given, verified } = await redact(history, { realm, keep: asked.needed });
    assert.equal(verified, true);
    const shown = new TextDecoder("latin1").decode(given);
    assert.ok(shown.includes("vip") && !shown.includes("secret"));
  } finally {
    await dispose();
    await h.dispose();
  }
});

test("redaction rules select by key and value, and on request numbers, identities and queues", async () => {
  const history = await recorded(EDITED[0]!.before, 2);
  const latin = (bytes: Uint8Array | undefined) => new TextDecoder("latin1").decode(bytes);
  const byValue = latin((await redact(history, { rules: [{ value: /^item/ }] })).history);
  assert.ok(!byValue.includes("item 0") && byValue.includes("ada"));
  const byKey = latin((await redact(history, { rules: [{ key: /^input$/ }] })).history);
  assert.ok(!byKey.includes("item 0") && !byKey.includes('"ada"') && byKey.includes("answer 1"));
  const kept = latin((await redact(history, { rules: [{ value: /nothing like it/ }] })).history);
  assert.ok(kept.includes("item 0"));
});
