// Handlers of Nexus operations in a worker of the official packages, without a server: converters
// and codecs, interceptors, contexts, and what becomes of what is thrown.
import assert from "node:assert/strict";
import { test } from "node:test";
import { handlerError } from "../../../../ts/compat/nexus/errors.ts";
import { ActivityClient } from "../../../../ts/compat/client/mod.ts";
import {
  getClient,
  log,
  operationInfo,
  TemporalOperationHandler,
} from "../../../../ts/compat/nexus/mod.ts";
import type { CompiledHandler, ServiceHandler } from "../../../../ts/compat/nexus/types.ts";
import {
  ApplicationFailure,
  DefaultFailureConverter,
  defaultPayloadConverter,
  type LoadedDataConverter,
} from "../../../../ts/compat/common/mod.ts";
import { nexusServices as nativeNexusServices } from "../../../../ts/compat/worker/native_nexus.ts";
import { adaptServices, openNexusServices } from "../../../../ts/compat/worker/nexus_services.ts";
import type { NexusEnvironment } from "../../../../ts/compat/worker/nexus_run.ts";
import { MessageCodec } from "../../../../ts/codec/message_codec.ts";
import type { Payload } from "../../../../ts/converter/payload.ts";
import type { NexusOutcome, NexusRequest } from "../../../../ts/worker/nexus/nexus_call.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const nothing = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
const meter = { createCounter() {}, createHistogram() {}, createGauge() {}, withTags: () => meter };

/** Marks what it encodes, and refuses to decode what says so. */
const codec = {
  encode: (payloads: Payload[]) =>
    payloads.map(({ metadata, data }) => ({
      metadata: { ...metadata, coded: Uint8Array.of(1) },
      data,
    })),
  decode: (payloads: Payload[]) =>
    payloads.map(({ metadata, data }) => {
      if (new TextDecoder().decode(data) === '"invalid"') {
        throw ApplicationFailure.create({
          message: "bad",
          type: "PayloadValidationError",
          nonRetryable: true,
        });
      }
      if (new TextDecoder().decode(data) === '"broken"') throw new Error("no key");
      const { coded: _, ...rest } = metadata;
      return { metadata: rest, data };
    }),
};

function setting(handler: Partial<CompiledHandler>, more: Partial<NexusEnvironment> = {}) {
  const service: ServiceHandler = {
    definition: { name: "s" },
    getOperationHandler: () => handler as CompiledHandler,
  };
  const converter = {
    payloadConverter: defaultPayloadConverter,
    failureConverter: new DefaultFailureConverter({ encodeCommonAttributes: true }),
    payloadCodecs: [],
  } as unknown as LoadedDataConverter;
  const client = { withAbortSignal: (_: AbortSignal, run: () => unknown) => run() };
  const environment = {
    ...{
      namespace: "n",
      taskQueue: "q",
      services: adaptServices([service])!,
      converter,
      interceptors: [],
    },
    ...{ logger: nothing, metricMeter: meter, client: () => client },
    ...more,
  } as unknown as NexusEnvironment;
  const services = openNexusServices(environment, MessageCodec.of({ codec: codec as Any }));
  const abort = new AbortController();
  const run = (value: unknown, request: Partial<NexusRequest> = {}) => {
    const payload = codec.encode([defaultPayloadConverter.toPayload(value) as Payload])[0]!;
    const start = {
      requestId: "r",
      callbackUrl: "",
      callbackHeaders: {},
      links: [{ url: "temporal:///x", type: "T" }],
      payload,
    };
    return services.run({
      ...{
        service: "s",
        operation: "o",
        endpoint: "e",
        headers: { "x-own": "a" },
        deadline: undefined,
        signal: abort.signal,
      },
      variant: { kind: "start", start },
      ...request,
    });
  };
  return { run, abort, client };
}

const coded = ({ metadata }: Payload) => metadata["coded"] !== undefined;
const kindOf = (outcome: NexusOutcome) =>
  outcome.kind === "handlerFailed" && outcome.failure.failureInfo.case === "nexusHandlerFailureInfo"
    ? outcome.failure.failureInfo.value.type
    : outcome.kind;

test("values pass through the codec; handlers have their context and case-insensitive headers", async () => {
  const seen: Any[] = [];
  const { run, abort, client } = setting({
    start(ctx, input) {
      log.info("runs");
      seen.push(
        input,
        ctx.headers["X-OWN"],
        operationInfo(),
        getClient() === client as Any,
        String(ctx.inboundLinks[0]!.url),
      );
      ctx.outboundLinks.push({ url: new URL("temporal:///y"), type: "Y" });
      abort.abort("TIMED_OUT");
      seen.push(ctx.abortSignal.reason.name, ctx.abortSignal.reason.message);
      return Promise.resolve({ isAsync: false, value: "out" });
    },
  });
  const outcome = await run("in");
  assert.deepEqual(seen, [
    ...["in", "a", { namespace: "n", taskQueue: "q", endpoint: "e" }, true, "temporal:///x"],
    ...["CancelledFailure", "TIMED_OUT"],
  ]);
  assert.ok(outcome.kind === "sync" && coded(outcome.payload));
  assert.deepEqual(outcome.links, [{ url: "temporal:///y", type: "Y" }]);
});

test("failures and their messages are encoded; an input that cannot be decoded is the caller's error", async () => {
  const { run } = setting({
    start: () =>
      Promise.reject(ApplicationFailure.create({ message: "secret", details: ["detail"] })),
  });
  const outcome = await run("in");
  assert.equal(kindOf(outcome), "INTERNAL");
  assert.ok(outcome.kind === "handlerFailed");
  const { message, encodedAttributes, cause } = outcome.failure;
  assert.equal(message, "Encoded failure");
  assert.ok(coded(encodedAttributes!) && coded(cause!.encodedAttributes!));
  assert.ok(
    cause!.failureInfo.case === "applicationFailureInfo" &&
      coded(cause!.failureInfo.value.details!.payloads[0]!),
  );
  assert.equal(kindOf(await run("invalid")), "BAD_REQUEST");
  assert.equal(kindOf(await run("broken")), "INTERNAL");
});

test("interceptors wrap starts and cancellations, the first one outermost", async () => {
  const order: string[] = [];
  const around = (name: string) => () => ({
    inbound: {
      async startOperation(input: Any, next: Any) {
        order.push(`${name} ${input.input}`);
        return await next({ ...input, input: input.input + name });
      },
      async cancelOperation(input: Any, next: Any) {
        order.push(`${name} cancels ${input.token}`);
        await next(input);
      },
    },
  });
  const { run } = setting({
    start: (_, input) => Promise.resolve({ isAsync: true, token: `token of ${input}` }),
    cancel: (_, token) => Promise.resolve(void order.push(`cancelled ${token}`)),
  }, { interceptors: [around("a"), around("b")] as Any });
  assert.deepEqual(await run("in"), { kind: "async", token: "token of inab", links: [] });
  assert.deepEqual(await run("", { variant: { kind: "cancel", token: "t" } }), {
    kind: "cancelRequested",
  });
  assert.deepEqual(order, ["a in", "b ina", "a cancels t", "b cancels t", "cancelled t"]);
});

test("invalid services and requests are rejected", async () => {
  assert.equal(adaptServices([]), undefined);
  assert.throws(
    () => adaptServices([{}]),
    /takes what nexus\.serviceHandler\(\) of nexus-rpc makes/,
  );
  const named = (name: string) => ({ definition: { name }, getOperationHandler: () => {} });
  assert.throws(() => adaptServices([named("")]), /must have a non-empty name/);
  assert.throws(
    () => adaptServices([named("a"), named("a")]),
    /Duplicate registration of nexus service 'a'/,
  );
  const { run } = setting({ start: () => Promise.reject(handlerError("NOT_FOUND")) });
  assert.equal(kindOf(await run("x")), "NOT_FOUND");
  assert.equal(kindOf(await run("x", { service: "other" })), "NOT_FOUND");
  assert.equal(kindOf(await run("x", { variant: { kind: "unknown" } })), "NOT_IMPLEMENTED");
});

test("services of a native worker use its converter, codec and logger; an invalid service is rejected", async () => {
  const lines: unknown[] = [];
  const note = (...line: unknown[]) => void lines.push(line);
  const handler = {
    start: async (
      _: unknown,
      input: unknown,
    ) => (log.info("noted", { of: operationInfo().taskQueue }), { value: input }),
  } as unknown as CompiledHandler;
  const service = { definition: { name: "s" }, getOperationHandler: () => handler };
  const made = nativeNexusServices([service])({
    ...{
      service: {} as Any,
      namespace: "n",
      taskQueue: "q",
      identity: "me",
      converter: undefined,
      codec: codec as Any,
    },
    logger: { debug: note, info: note, warn: note, error: note },
  });
  assert.deepEqual(made.names, ["s"]);
  const payload = codec.encode([defaultPayloadConverter.toPayload("in") as Payload])[0]!;
  const outcome = await made.run({
    ...{
      service: "s",
      operation: "o",
      endpoint: "e",
      headers: {},
      deadline: undefined,
      signal: new AbortController().signal,
    },
    variant: {
      kind: "start",
      start: { requestId: "r", callbackUrl: "", callbackHeaders: {}, links: [], payload },
    },
  });
  assert.equal(outcome.kind, "sync");
  assert.ok((outcome as Any).payload.metadata.coded, "it went through the codec");
  assert.match(JSON.stringify(lines), /noted.*"of":"q"/);
  assert.throws(() => nativeNexusServices([]), /the list is empty/);
  assert.throws(
    () => nativeNexusServices([service, service]),
    /Duplicate registration of nexus service 's'/,
  );
  assert.throws(() => nativeNexusServices([{}]), /nexus\.serviceHandler\(\) of nexus-rpc/);
});

test("startActivity outside of a workflow rejects at once and is not retried", async () => {
  const handler = new TemporalOperationHandler<string, string>({
    start: async (_ctx, client, input) =>
      await client.startActivity("echo", { id: input, scheduleToCloseTimeout: "10s" }),
  });
  const client = {
    activity: new ActivityClient({ connection: {} as Any }),
    withAbortSignal: (_: Any, run: () => unknown) => run(),
  };
  const { run } = setting(handler as unknown as CompiledHandler, { client: () => client as Any });
  const outcome = await run("in");
  assert.equal(outcome.kind, "handlerFailed");
  const { failure } = outcome as NexusOutcome & { kind: "handlerFailed" };
  assert.equal(
    (failure.failureInfo.value as Any).type,
    "NOT_IMPLEMENTED",
    JSON.stringify(failure.message),
  );
  assert.match(JSON.stringify(failure), /standalone activity|Encoded failure/);
});
