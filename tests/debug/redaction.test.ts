// A redacted history holds none of the secrets that were in it, wherever the schema has room for one, and replays as before.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, type DescMessage, fromBinary, toBinary, toJsonString } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { openSession, redact } from "../../ts/debug/mod.ts";
import { HistoryEventSchema, HistorySchema } from "../../ts/api/generated/temporal/api/history/v1/message_pb.ts";
import { PayloadSchema } from "../../ts/api/generated/temporal/api/common/v1/message_pb.ts";
import { API, realmOf } from "../cases/realm_host.ts";
import { EDITED, recorded } from "./take_away_support.ts";

const text = new TextEncoder();
const PAYLOAD = "temporal.api.common.v1.Payload";
const FAILURE = "temporal.api.failure.v1.Failure";

/** Fills a message with payloads wherever it takes one. */
class Planter {
  readonly secrets: string[] = [];

  #payload() {
    const n = this.secrets.length;
    const secret = `SECRET-${n}-of-the-customer`;
    this.secrets.push(secret);
    const encoding = ["json/plain", "json/plain", "binary/plain", "binary/encrypted"][n % 4]!;
    const value = n % 4 === 0
      ? JSON.stringify({ name: secret, list: [secret, 7], deep: { er: `with ${secret} within` } })
      : n % 4 === 1
      ? JSON.stringify(btoa(secret))
      : secret;
    return create(PayloadSchema, {
      metadata: { encoding: text.encode(encoding), "encryption-key-id": text.encode(secret) },
      data: text.encode(value),
    });
  }

  fill(message: ReflectMessage, depth: number): void {
    const inner = (desc: DescMessage): ReflectMessage => {
      if (desc.typeName === PAYLOAD) return reflect(PayloadSchema, this.#payload());
      const made = reflect(desc);
      if (depth < 6) this.fill1(made, depth + 1);
      return made;
    };
    for (const field of message.desc.fields) {
      if (field.oneof !== undefined && message.oneofCase(field.oneof) !== undefined) continue;
      if (field.fieldKind === "message" && carries(field.message)) message.set(field, inner(field.message));
      else if (field.fieldKind === "list" && field.listKind === "message" && carries(field.message)) {
        for (let i = 0; i < 3; i++) message.get(field).add(inner(field.message));
      } else if (field.fieldKind === "map" && field.mapKind === "message" && carries(field.message)) {
        for (const key of ["one", "two", "three"]) message.get(field).set(key, inner(field.message));
      } else if (message.desc.typeName === FAILURE && (field.localName === "message" || field.localName === "stackTrace")) {
        const secret = `SECRET-${this.secrets.length}-of-the-customer`;
        this.secrets.push(secret);
        message.set(field, `it failed with ${secret}`);
      }
    }
  }

  /** As `fill`. */
  fill1(message: ReflectMessage, depth: number): void {
    this.fill(message, message.desc.typeName === FAILURE ? Math.max(depth, 5) : depth);
  }
}

const known = new Map<string, boolean>();
/** A payload, or a text of a failure, may stand in it. */
function carries(desc: DescMessage): boolean {
  if (desc.typeName === PAYLOAD || desc.typeName === FAILURE) return true;
  const before = known.get(desc.typeName);
  if (before !== undefined) return before;
  known.set(desc.typeName, false);
  const found = desc.fields.some((field) =>
    (field.fieldKind === "message" || (field.fieldKind === "list" && field.listKind === "message") ||
      (field.fieldKind === "map" && field.mapKind === "message")) && carries(field.message!)
  );
  known.set(desc.typeName, found);
  return found;
}

test("none of the secrets in any payload of any type of event remains, in base64 neither", async () => {
  const planter = new Planter();
  const attributes = HistoryEventSchema.oneofs.find(({ localName }) => localName === "attributes")!.fields;
  const events = attributes.map((field, i) => {
    const event = create(HistoryEventSchema, { eventId: BigInt(i + 1) });
    const reflected = reflect(HistoryEventSchema, event);
    const made = reflect(field.message!);
    planter.fill(made, 0);
    reflected.set(field, made);
    return event;
  });
  const { secrets } = planter;
  assert.ok(secrets.length >= 200, `${secrets.length} secrets`);
  const bytes = toBinary(HistorySchema, create(HistorySchema, { events }));
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

test("the verdict of a redacted history is the same, of one that replays and of one that does not", async () => {
  const { before, after } = EDITED[2]!;
  const history = await recorded(before, 4);
  for (const [code, name] of [[before, undefined], [after, "NondeterminismError"]] as const) {
    const { realm, dispose } = await realmOf(code);
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

test("a text that the code branches on is named, and is kept only with consent", async () => {
  const { realm, dispose } = await realmOf(`${API}
export const main = workflow("Main", async (who, note) => {
  if (who === "vip") await sleep(10);
  return note;
});`);
  const h = await realmOf(`${API}export const main = workflow("Main", async (who, note) => { await sleep(10); return note; });`);
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

test("rules choose by key and value; numbers, identities and queues where asked", async () => {
  const history = await recorded(EDITED[0]!.before, 2);
  const latin = (bytes: Uint8Array | undefined) => new TextDecoder("latin1").decode(bytes);
  const byValue = latin((await redact(history, { rules: [{ value: /^item/ }] })).history);
  assert.ok(!byValue.includes("item 0") && byValue.includes("ada"));
  const byKey = latin((await redact(history, { rules: [{ key: /^input$/ }] })).history);
  assert.ok(!byKey.includes("item 0") && !byKey.includes('"ada"') && byKey.includes("answer 1"));
  const kept = latin((await redact(history, { rules: [{ value: /nothing like it/ }] })).history);
  assert.ok(kept.includes("item 0"));
});
