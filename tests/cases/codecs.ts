// Payload codecs in every runtime: the encryption and external storage of the examples over a whole
// application, and what hostile or broken payloads, schemas and codecs do to it: an error with a
// name, and nothing lost.
import { encryption, importKey } from "../../examples/encryption/codec.ts";
import { type BlobStore, externalStorage } from "../../examples/external_storage/codec.ts";
import {
  Client,
  type PayloadCodec,
  PayloadCodecError,
  silentLogger,
  WorkflowFailedError,
  WorkflowUpdateRejectedError,
} from "../../ts/client/mod.ts";
import type { CodecOptions } from "../../ts/codec/codec.ts";
import {
  defaultPayloadConverter,
  type Payload,
  type PayloadConverter,
} from "../../ts/converter/payload.ts";
import { EmbeddedEngine, MemoryStore } from "../../ts/engine/mod.ts";
import { TestEnvironment } from "../../ts/testing/mod.ts";
import { Worker } from "../../ts/worker/mod.ts";
import {
  activities,
  ApplicationFailure,
  continueAsNew,
  on,
  publishState,
  query,
  receive,
  reply,
  signal,
  type StandardSchemaV1,
  stop,
  update,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, ok } from "./assert.ts";
import type { Case } from "./case.ts";
import { until } from "../support/until.ts";

const utf8 = new TextEncoder();
const text = new TextDecoder();

/** A validator for tests. */
function schema<T>(
  validate: (value: unknown) => ReturnType<StandardSchemaV1<unknown, T>["~standard"]["validate"]>,
): StandardSchemaV1<unknown, T> {
  return { "~standard": { version: 1, vendor: "test", validate } };
}
const trimmed = schema<string>((value) =>
  typeof value === "string" ? { value: value.trim() } : { issues: [{ message: "a text, please" }] }
);

interface Acts {
  echo(text: string): Promise<string>;
}
const acts = activities<Acts>({
  startToClose: "10s",
  retry: { maximumAttempts: 3, initialInterval: 1 },
});
const add = update<[text: string], string>("add", { args: [trimmed] });
const list = update<[items: unknown[]], number>("list", {
  args: [schema((value) => ({
    issues: (value as unknown[]).map((_, i) => ({
      message: `no ${"x".repeat(1000)}`,
      path: [i, { key: "deep" }, Symbol("s")],
    })),
  }))],
});
const silent = update<[text: string], string>("silent", { args: [schema(() => ({ issues: [] }))] });
const fail = update<[text: string], void>("fail");
const drop = signal<[text: string]>("drop", { args: [trimmed] });
const done = signal("done");
const count = query<number>("count");

const keeper = workflow("Keeper", {
  messages: { count },
  queries: { count: (published: number) => published },
  async run(first: string): Promise<string[]> {
    const echoed = await acts.echo(first);
    // A caller that has seen this may send updates: before, no handler takes them.
    publishState(1);
    const texts = await receive([echoed], [
      on(add, ([text], texts) => {
        publishState(texts.length + 1);
        return reply(text, [...texts, text]);
      }),
      on(list, ([items], texts) => reply(items.length, texts)),
      on(silent, ([text], texts) => reply(text, texts)),
      on(fail, ([text]) => {
        throw new ApplicationFailure(`failed: ${text}`, { type: "Told", details: [{ text }] });
      }),
      on(drop, ([text], texts) => stop([...texts, text])),
      on(done, (_, texts) => stop(texts)),
    ]);
    return texts;
  },
});
const patient = workflow("Patient", async () => {
  const { state, timedOut } = await receive<string[]>([], [
    on(add, ([text], texts) => reply(text, [...texts, text])),
  ], {
    timeout: "1 day",
  });
  return { state, timedOut, echoed: await acts.echo("late") };
});

const chained = workflow(
  "Chained",
  async (left: number, text: string) => left === 0 ? text.length : continueAsNew(left - 1, text),
);

interface Place {
  readonly engine: EmbeddedEngine;
  /** With the codec of the worker, or another one. */
  client(options?: CodecOptions & { converter?: PayloadConverter }): Client;
}

async function application(
  options: CodecOptions,
  body: (place: Place) => Promise<void>,
  echo = (text: string) => text,
): Promise<void> {
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  const common = { service: engine, taskQueue: "q", logger: silentLogger };
  try {
    const worker = await Worker.create({
      ...common,
      ...options,
      workflows: [keeper, chained],
      activities: { echo },
    });
    await worker.runUntil(() =>
      body({ engine, client: (other = options) => new Client({ ...common, ...other }) })
    );
  } finally {
    await engine.close();
  }
}

async function rejection(promise: Promise<unknown>): Promise<Error> {
  return await promise.then(() => {
    throw new Error("this was expected to be rejected");
  }, (error) => error);
}

/** The history as text, with what its payloads hold as far as it is readable. */
async function readable(client: Client, id: string): Promise<string> {
  return text.decode(await client.getHandle(keeper, id).historyBytes());
}

const K1 = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
const K2 = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=";

function blobsInMemory(): BlobStore & { readonly blobs: Map<string, Uint8Array> } {
  const blobs = new Map<string, Uint8Array>();
  return {
    blobs,
    put: (name, bytes) => Promise.resolve(void blobs.set(name, bytes)),
    get: (name) => Promise.resolve(blobs.get(name)),
  };
}

export const cases: Case[] = [
  {
    name:
      "encryption: values arrive, no plain text is stored, keys rotate, a wrong key is reported",
    async run(t) {
      if (globalThis.crypto?.subtle === undefined) {
        t.skip("no WebCrypto here: the page is not a secure context");
      }
      const [k1, k2] = [await importKey(K1), await importKey(K2)];
      const old = {
        codec: encryption({ current: "k1", keys: { k1 } }),
        encodeCommonAttributes: true,
      };
      const both = {
        codec: encryption({ current: "k2", keys: { k1, k2 } }),
        encodeCommonAttributes: true,
      };
      await application(both, async ({ client }) => {
        const handle = await client(old).start(keeper, { id: "w", args: ["SECRET one"] });
        await until(
          "it has begun",
          async () => await client().getHandle(keeper, "w").query(count) === 1,
          { retryErrors: true },
        );
        // The worker responds with the new key, which the old client does not have.
        const update = await rejection(handle.update(add, "SECRET two"));
        ok(
          update instanceof PayloadCodecError && /unknown key "k2"/.test(update.message),
          String(update),
        );
        const fresh = client().getHandle(keeper, "w");
        const failed = await rejection(fresh.update(fail, "SECRET three"));
        ok(failed.message.includes("failed: SECRET three"), failed.message);
        await fresh.signal(done);
        deepEqual(await fresh.result(), ["SECRET one", "SECRET two"]);
        const history = await readable(client(), "w");
        ok(
          history.includes("k1") && history.includes("k2") && history.includes("Keeper"),
          "the history is what it is taken for",
        );
        ok(!history.includes("SECRET"), "nothing is readable");
        const wrong = client({ codec: encryption({ current: "k2", keys: { k1: k2, k2: k1 } }) });
        const damaged = await rejection(wrong.getHandle(keeper, "w").result());
        ok(
          /was not encrypted with key "k2", or was changed/.test(damaged.message),
          damaged.message,
        );
      });
    },
  },
  {
    name:
      "external storage: megabytes pass, equal values are stored once, a missing or damaged blob is reported",
    async run(t) {
      if (globalThis.crypto?.subtle === undefined) {
        t.skip("no WebCrypto here: the page is not a secure context");
      }
      const store = blobsInMemory();
      await application(
        { codec: externalStorage(store, { aboveBytes: 1000 }) },
        async ({ client }) => {
          const large = "x".repeat(3_000_000);
          const handle = await client().start(keeper, { id: "w", args: [large] });
          await handle.signal(done);
          equal((await handle.result())[0]!.length, large.length);
          ok((await handle.historyBytes()).length < 10_000, "the history stays small");
          equal(store.blobs.size, 2, "the text, and the list with it in the result");
          for (const [name, bytes] of store.blobs) store.blobs.set(name, bytes.slice(1));
          ok(/blob [0-9a-f]{64} is damaged/.test((await rejection(handle.result())).message));
          store.blobs.clear();
          const chain = await client().start(chained, { id: "c", args: [2, large] });
          await until(
            "the chain ends",
            async () => (await client().getHandle(chained, "c").describe()).status === "COMPLETED",
          );
          store.blobs.clear();
          equal(
            await chain.result(),
            3_000_000,
            "what the runs of a chain gave to each other is not needed for its result",
          );
          ok(
            /blob [0-9a-f]{64} is not in the store/.test(
              (await rejection(handle.result())).message,
            ),
          );
        },
      );
    },
  },
  {
    name: "virtual time does not move while a codec runs",
    async run() {
      const pause = (payloads: Payload[]) =>
        new Promise<Payload[]>((resolve) => setTimeout(() => resolve(payloads), 15));
      const codec: PayloadCodec = { encode: pause, decode: pause };
      const env = await TestEnvironment.create({ startTime: 0, logger: silentLogger, codec });
      try {
        await env.runWorker(
          { workflows: [patient], activities: { echo: (text: string) => text } },
          async () => {
            const handle = await env.client.start(patient, { id: "1" });
            const result = handle.result();
            for (const word of ["b", "c"]) equal(await handle.update(add, word), word);
            deepEqual(await result, { state: ["b", "c"], timedOut: true, echoed: "late" });
            equal(env.now(), 86_400_000);
          },
        );
      } finally {
        await env.dispose();
      }
    },
  },
  {
    name:
      "schemas: outputs are what handlers get; a hundred thousand issues are a short rejection; a refusal without a reason is one",
    async run() {
      await application({}, async ({ client }) => {
        const handle = await client().start(keeper, { id: "w", args: ["a"] });
        await until("it has begun", async () => await handle.query(count) === 1, {
          retryErrors: true,
        });
        equal(await handle.update(add, "  b "), "b");
        const many = await rejection(handle.update(list, new Array(100_000).fill(1)));
        ok(many instanceof WorkflowUpdateRejectedError, String(many));
        ok(many.message.length < 20_000, `${many.message.length} characters`);
        ok(
          /argument 0\.0\.deep\.Symbol\(s\): no x+/.test(many.message) &&
            /and 99980 more/.test(many.message),
          many.message.slice(0, 200),
        );
        ok(
          (await rejection(handle.update(silent, "x"))).message.includes(
            "argument 0: rejected by the schema",
          ),
        );
        await handle.signal(drop, 5 as never);
        await handle.signal(drop, " c ");
        deepEqual(
          await handle.result(),
          ["a", "b", "c"],
          "a signal that the schema refuses is dropped, the next one is not",
        );
      });
    },
  },
  {
    name:
      "unreadable payloads: the update is rejected, the query fails, the client's error names the missing codec",
    async run() {
      await application({}, async ({ client }) => {
        const handle = await client().start(keeper, { id: "w", args: ["a"] });
        await until("it has begun", async () => await handle.query(count) === 1, {
          retryErrors: true,
        });
        const odd: { [name: string]: [Payload, RegExp] } = {
          bare: [{ metadata: {}, data: utf8.encode("?") }, /has no encoding/],
          unknown: [
            { metadata: { encoding: utf8.encode("binary/encrypted") }, data: utf8.encode("?") },
            /check that the payload codec and the payload converter are set/,
          ],
          binary: [
            { metadata: { encoding: new Uint8Array([0xff, 0xfe]) }, data: utf8.encode("?") },
            /does not support/,
          ],
          broken: [
            { metadata: { encoding: utf8.encode("json/plain") }, data: utf8.encode("{") },
            /invalid JSON/,
          ],
        };
        for (const [payload, message] of Object.values(odd)) {
          const converter = { ...defaultPayloadConverter, toPayload: () => payload };
          const rejected = await rejection(
            client({ converter }).getHandle(keeper, "w").update(add, "x"),
          );
          ok(
            rejected instanceof WorkflowUpdateRejectedError && message.test(rejected.message),
            String(rejected),
          );
        }
        equal(await handle.update(add, "b"), "b", "the workflow continues");
        await handle.signal(done);
        deepEqual(await handle.result(), ["a", "b"]);
        const blind: PayloadConverter = {
          toPayload: defaultPayloadConverter.toPayload,
          fromPayload: () => {
            throw new Error("this converter reads nothing");
          },
        };
        const failing = await client().start("Nowhere", { id: "n", args: [] });
        await failing.terminate("over");
        const terminated = await rejection(
          client({ converter: blind }).getHandle(undefined, "n").result(),
        );
        ok(terminated instanceof WorkflowFailedError, String(terminated));
      });
    },
  },
  {
    name: "describe shows the failure of an activity whose details cannot be decoded",
    async run() {
      const encrypted = {
        metadata: { encoding: utf8.encode("binary/encrypted") },
        data: utf8.encode("?"),
      };
      const converter: PayloadConverter = {
        ...defaultPayloadConverter,
        toPayload: () => encrypted,
      };
      const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
      const common = { service: engine, taskQueue: "q", logger: silentLogger };
      const slow = activities<Acts>({ startToClose: "10s", retry: { initialInterval: "1h" } });
      const stuck = workflow("Stuck", () => slow.echo("x"));
      try {
        const flows = await Worker.create({ ...common, workflows: [stuck] });
        const worker = await Worker.create({
          ...common,
          converter,
          activities: {
            echo: () =>
              Promise.reject(new ApplicationFailure("the card is refused", { details: [4711] })),
          },
        });
        await flows.runUntil(() =>
          worker.runUntil(async () => {
            const handle = await new Client(common).start(stuck, { id: "w" });
            const failure = await until("the activity has failed", async () => {
              const [pending] = (await handle.describe()).pendingActivities;
              return pending?.lastFailure as ApplicationFailure | undefined;
            });
            equal(failure.message, "the card is refused");
            equal(
              text.decode((failure.details[0] as Payload).metadata["encoding"]),
              "binary/encrypted",
            );
            await handle.terminate();
          })
        );
      } finally {
        await engine.close();
      }
    },
  },
];
