// Calls through the gateway: bytes, refusals, waits, deadlines, callers that give up, connections
// that are lost and made again.
// takes: 5 s
import assert from "node:assert/strict";
import { test } from "node:test";
import { WebSocketServer } from "ws";
import {
  answerFrame,
  GATEWAY_PROTOCOL,
  helloFrame,
  hereFrame,
  readCallerFrame,
} from "../../../ts/gateway/frames.ts";
import { Code, connectGateway, GatewayConnection, ServiceError } from "../../../ts/gateway/mod.ts";
import { isToken, newToken, startGateway } from "../../../ts/gateway/server.ts";
import type { CallOptions, MethodName, RawService } from "../../../ts/service/raw.ts";
import { freePort } from "../../support/ports.ts";
import { until } from "../../support/until.ts";
import { rawSocket, socketClass, withGateway } from "./support/gateway.ts";

type Answer = (
  method: MethodName,
  request: Uint8Array,
  options: CallOptions,
) => Promise<Uint8Array>;
const service = (answer: Answer): RawService => ({
  call: (method, request, options = {}) => answer(method, request, options),
});
const echo = service((_, request) => Promise.resolve(request.slice()));
const EMPTY = new Uint8Array(0);
const refusal = (call: Promise<unknown>) =>
  call.then(() => assert.fail("the call succeeded"), (error) => error as ServiceError);

/** Calls wait until their caller cancels; counts open and canceled calls. */
interface Waiting {
  readonly service: RawService;
  open: number;
  aborted: number;
  readonly options: CallOptions[];
  /** Completes the calls of methods whose names start with the prefix. */
  answer(start?: string): void;
}

function waiting(): Waiting {
  const pending = new Map<() => void, string>();
  const state = {
    open: 0,
    aborted: 0,
    options: [] as CallOptions[],
    answer: (start = "") =>
      [...pending].forEach(([answer, method]) => method.startsWith(start) && answer()),
  };
  const waits = service((method, request, options) =>
    new Promise((resolve, reject) => {
      state.open++;
      state.options.push(options);
      const answer = () => {
        pending.delete(answer);
        state.open--;
        resolve(request.slice());
      };
      pending.set(answer, method);
      options.signal?.addEventListener("abort", () => {
        pending.delete(answer);
        state.open--;
        state.aborted++;
        reject(new ServiceError(Code.CANCELLED, "canceled"));
      });
    })
  );
  return Object.assign(state, { service: waits });
}

test("requests and responses pass through byte for byte, large ones and many at once", async () => {
  await withGateway({ service: echo }, async ({ dial }) => {
    const connection = await dial();
    assert.equal(connection.losesCancelledPolls, true);
    const odd = Uint8Array.of(0xfa, 0x7f, 2, 1, 2, 0x0a, 1, 65, 0x0a, 1, 66, 0x18, 0x96, 1);
    assert.deepEqual(await connection.call("signalWorkflowExecution", odd), odd);
    assert.deepEqual(await connection.call("getSystemInfo", EMPTY), EMPTY);
    const large = new Uint8Array(6 << 20).map((_, i) => i);
    const bodies = [large, ...Array.from({ length: 200 }, (_, i) => new Uint8Array(i).fill(i))];
    const responses = await Promise.all(
      bodies.map((body) => connection.call("startWorkflowExecution", body)),
    );
    responses.forEach((response, i) =>
      assert.ok(
        bodies[i]!.every((byte, at) => response[at] === byte) &&
          response.length === bodies[i]!.length,
      )
    );
  });
});

test("an error keeps its code, message, name, fields and failure", async () => {
  let error: Error = new Error();
  await withGateway({ service: service(() => Promise.reject(error)) }, async ({ dial, log }) => {
    const connection = await dial();
    const refuse = async (next: Error) => {
      error = next;
      return await refusal(connection.call("describeWorkflowExecution", EMPTY));
    };
    for (
      const sent of [
        new ServiceError(
          Code.ALREADY_EXISTS,
          "already there; größer",
          "WorkflowExecutionAlreadyStarted",
          { run_id: "r" },
        ),
        new ServiceError(Code.INVALID_ARGUMENT, "no", "QueryFailed", {}, {
          failure: Uint8Array.of(1, 2, 3),
        }),
        new ServiceError(Code.UNAVAILABLE, ""),
      ]
    ) {
      const { code, message, reason, metadata, failure } = await refuse(sent);
      assert.deepEqual([code, message, reason, metadata, failure], [
        sent.code,
        sent.message,
        sent.reason,
        sent.metadata,
        sent.failure,
      ]);
    }
    const gone = await refuse(
      new ServiceError(Code.UNAVAILABLE, "the engine is closed", "EngineClosed"),
    );
    assert.deepEqual(
      [gone.code, gone.reason],
      [Code.UNAVAILABLE, ""],
      "another engine may answer at this address",
    );
    const bug = await refuse(new TypeError("a bug"));
    assert.equal(bug.code, Code.INTERNAL);
    assert.ok(
      log.some((line) => /^error describeWorkflowExecution failed in the gateway/.test(line)),
    );
    const unknown = await refusal(connection.call("dropAllTables" as MethodName, EMPTY));
    assert.equal(unknown.code, Code.UNIMPLEMENTED);
    assert.equal(
      (await refusal(connection.call("constructor" as MethodName, EMPTY))).code,
      Code.UNIMPLEMENTED,
    );
  });
});

test("deadlines end calls on both sides, and an abort cancels the call at the service", async () => {
  const waits = waiting();
  await withGateway({ service: waits.service }, async ({ dial }) => {
    const connection = await dial();
    const late = await refusal(connection.call("pollWorkflowTaskQueue", EMPTY, { timeoutMs: 500 }));
    assert.equal(late.code, Code.DEADLINE_EXCEEDED);
    await until("the call was canceled", () => waits.aborted === 1);
    assert.ok(
      waits.options[0]!.timeoutMs! > 0 && waits.options[0]!.timeoutMs! <= 500,
      "the service knows the deadline, too",
    );
    const controller = new AbortController();
    const call = refusal(
      connection.call("pollWorkflowTaskQueue", EMPTY, {
        signal: controller.signal,
        timeoutMs: 60_000,
      }),
    );
    await until("the call is open", () => waits.open === 1);
    controller.abort(new Error("no more"));
    const given = await call;
    assert.deepEqual([given.code, (given.cause as Error).message], [Code.CANCELLED, "no more"]);
    await until("that call was canceled", () => waits.aborted === 2);
    assert.equal(
      (await refusal(connection.call("getSystemInfo", EMPTY, { signal: controller.signal }))).code,
      Code.CANCELLED,
    );
    assert.equal(waits.open, 0);
  });
});

test("forty waiting polls do not block other calls", async () => {
  const waits = waiting();
  const both = service((method, request, options) =>
    method.startsWith("poll")
      ? waits.service.call(method, request, options)
      : Promise.resolve(request.slice())
  );
  await withGateway({ service: both }, async ({ dial }) => {
    const connection = await dial();
    const polls = Array.from(
      { length: 40 },
      () => connection.call("pollActivityTaskQueue", Uint8Array.of(7), { timeoutMs: 60_000 }),
    );
    await until("all polls wait", () => waits.open === 40);
    assert.deepEqual(
      await connection.call("startWorkflowExecution", Uint8Array.of(1)),
      Uint8Array.of(1),
    );
    waits.answer();
    assert.equal((await Promise.all(polls)).length, 40);
  });
});

test("a disconnecting caller cancels only its own calls", async () => {
  const waits = waiting();
  await withGateway({ service: waits.service }, async ({ dial }) => {
    const [leaving, staying] = [await dial(), await dial()];
    const given = refusal(leaving.call("pollWorkflowTaskQueue", EMPTY, { timeoutMs: 60_000 }));
    const kept = staying.call("pollWorkflowTaskQueue", Uint8Array.of(9), { timeoutMs: 60_000 });
    await until("both polls wait", () => waits.open === 2);
    await leaving.close();
    assert.equal((await given).code, Code.CANCELLED);
    await until("its poll was canceled", () => waits.open === 1);
    waits.answer();
    assert.deepEqual(await kept, Uint8Array.of(9));
    assert.equal(leaving.status, "closed");
    assert.match((await refusal(leaving.call("getSystemInfo", EMPTY))).message, /is closed/);
  });
});

test("when a gateway restarts, sent calls fail with UNAVAILABLE, later ones wait for it and succeed", async () => {
  const waits = waiting();
  const token = newToken();
  const first = await startGateway({ service: waits.service, port: await freePort(), token });
  const connection = await connectGateway(first.url, socketClass);
  const seen: string[] = [];
  connection.onStatus((status) => seen.push(status));
  const lost = refusal(connection.call("pollWorkflowTaskQueue", EMPTY, { timeoutMs: 60_000 }));
  await until("the poll waits", () => waits.open === 1);
  await first.close(0);
  const error = await lost;
  assert.equal(error.code, Code.UNAVAILABLE);
  assert.match(
    error.message,
    /the connection was lost during pollWorkflowTaskQueue: .*(shutting down|closed the connection)/,
  );
  await until("the connection rests", () => connection.status === "idle");
  const later = connection.call("startWorkflowExecution", Uint8Array.of(3), { timeoutMs: 60_000 });
  await until("it is tried again", () => connection.status === "connecting");
  await new Promise((resolve) => setTimeout(resolve, 300));
  const second = await startGateway({ service: echo, port: first.port, token });
  try {
    assert.deepEqual(await later, Uint8Array.of(3));
    assert.deepEqual(seen, ["idle", "connecting", "open"]);
  } finally {
    await connection.close();
    await second.close(0);
  }
  assert.deepEqual(seen, ["idle", "connecting", "open", "closed"]);
});

test("a call without a gateway waits until its deadline, and the error says what to check", async () => {
  const token = newToken();
  const gone = await startGateway({ service: echo, port: 0, token });
  await gone.close(0);
  const connection = new GatewayConnection(gone.url, { ...socketClass, patience: "10s" });
  const short = await refusal(connection.call("getSystemInfo", EMPTY, { timeoutMs: 1000 }));
  assert.equal(short.code, Code.UNAVAILABLE);
  assert.match(short.message, /the gateway at http:\/\/127\.0\.0\.1:\d+\/ cannot be reached/);
  assert.ok(!short.message.includes(token));
  const controller = new AbortController();
  const given = refusal(connection.call("getSystemInfo", EMPTY, { signal: controller.signal }));
  controller.abort();
  assert.equal((await given).code, Code.CANCELLED);
  const waits = refusal(connection.call("getSystemInfo", EMPTY));
  await connection.close();
  assert.equal((await waits).code, Code.CANCELLED);
  await assert.rejects(
    connectGateway(gone.url, { ...socketClass, patience: 200 }),
    /cannot be reached/,
  );
  await assert.rejects(
    connectGateway(gone.url, { ...socketClass, signal: AbortSignal.abort(new Error("not now")) }),
    /not now/,
  );
});

test("a wrong token is reported at once, and an invalid URL before anything is opened", async () => {
  await withGateway({ service: echo }, async ({ gateway, dial }) => {
    const wrong = gateway.url.replace(/#.*/, `#${newToken()}`);
    const error = await refusal(connectGateway(wrong, socketClass));
    assert.equal(error.code, Code.UNAUTHENTICATED);
    assert.match(
      error.message,
      /rejected the token; use the URL that it prints at start, or start it with --token-file/,
    );
    assert.ok(await dial({ token: new URL(gateway.url).hash.slice(1) }));
    const bare = `http://127.0.0.1:${gateway.port}`;
    await assert.rejects(connectGateway(bare, socketClass), /has no valid token/);
    for (const url of ["", "127.0.0.1:8273", "ftp://127.0.0.1/#token"]) {
      await assert.rejects(
        connectGateway(url, socketClass),
        /is not the URL of a gateway; use the URL that temporalex gateway prints/,
      );
    }
    if (!("WebSocket" in globalThis)) {
      await assert.rejects(
        connectGateway(gateway.url),
        /WebSocket is not available: pass one, for example import \{ WebSocket \} from "ws"/,
      );
    }
    const secret = await refusal(connectGateway("http//x#very-secret", socketClass));
    assert.ok(!secret.message.includes("very-secret"), secret.message);
  });
  assert.ok(isToken(newToken()));
  for (const token of ["", "short", "x".repeat(300), `${newToken()} `]) assert.ok(!isToken(token));
  await assert.rejects(
    startGateway({ service: echo, port: 0, token: "short" }),
    /32 to 256 characters/,
  );
});

test("an oversized request is rejected before it is sent, and the connection stays open", async () => {
  await withGateway({ service: echo, limits: { requestBytes: 1000 } }, async ({ dial }) => {
    const connection = await dial();
    assert.equal((await connection.call("getSystemInfo", new Uint8Array(1000))).length, 1000);
    const error = await refusal(connection.call("startWorkflowExecution", new Uint8Array(1001)));
    assert.deepEqual([
      error.code,
      /takes 1001 bytes, but the gateway accepts at most 1000/.test(error.message),
    ], [
      Code.INVALID_ARGUMENT,
      true,
    ]);
    assert.equal(connection.status, "open");
  });
});

test("a connection to a hanging gateway is closed, and restored when it responds again", async () => {
  // Opens sockets, says hello, and nothing else: as a stopped process does, whose connections the
  // system keeps.
  let silent = true;
  const server = new WebSocketServer({
    port: 0,
    host: "127.0.0.1",
    handleProtocols: () => GATEWAY_PROTOCOL,
  });
  await new Promise((resolve) => server.once("listening", resolve));
  let asked = 0;
  server.on("connection", (socket) => {
    socket.send(helloFrame({ version: "0", maxRequestBytes: 1000 }));
    socket.on("message", (data: Uint8Array<ArrayBuffer>) => {
      const frame = readCallerFrame(data);
      if (frame.kind === "ask") asked++;
      if (silent) return;
      if (frame.kind === "ask") socket.send(hereFrame(frame.id));
      // Slower than it may be quiet: but it says that it is there.
      if (frame.kind === "call") {
        setTimeout(() => socket.send(answerFrame(frame.id, frame.request)), 2500);
      }
    });
  });
  const { port } = server.address() as { port: number };
  const connection = new GatewayConnection(`http://127.0.0.1:${port}/#token`, socketClass, {
    quietMs: 300,
    answerMs: 1000,
  });
  try {
    const error = await refusal(connection.call("getSystemInfo", EMPTY, { timeoutMs: 60_000 }));
    assert.deepEqual([error.code, asked], [Code.UNAVAILABLE, 1]);
    assert.match(error.message, /does not respond/);
    silent = false;
    assert.deepEqual(
      await connection.call("getSystemInfo", Uint8Array.of(1), { timeoutMs: 60_000 }),
      Uint8Array.of(1),
    );
    assert.ok(asked > 1, "it was asked, and had time");
  } finally {
    await connection.close();
    server.close();
  }
});

test("an invalid frame ends only the connection of its sender", async () => {
  await withGateway({ service: echo }, async ({ gateway, token, dial, log }) => {
    const other = await dial();
    for (
      const bytes of [[], [1, 0], [77, 0, 0, 0, 1], [1, 0, 0, 0, 1, 0, 0, 0, 0, 200, 65], [
        16,
        0,
        0,
        0,
        1,
      ], "text"]
    ) {
      const socket = await rawSocket(gateway.port, token);
      const closed = new Promise((resolve) => socket.on("close", resolve));
      socket.send(typeof bytes === "string" ? bytes : Uint8Array.from(bytes));
      assert.equal(await closed, 4400, String(bytes));
    }
    const twice = await rawSocket(gateway.port, token);
    const closed = new Promise((resolve) => twice.on("close", resolve));
    const name = new TextEncoder().encode("getSystemInfo");
    const call = Uint8Array.from([1, 0, 0, 0, 5, 0, 0, 0, 0, name.length, ...name]);
    twice.send(call);
    twice.send(call);
    twice.send(Uint8Array.of(2, 0, 0, 0, 99));
    assert.ok(
      [4400, 1005].includes(
        await Promise.race([
          closed,
          new Promise((resolve) => setTimeout(resolve, 200, 1005)),
        ]) as number,
      ),
    );
    twice.terminate();
    assert.deepEqual(await other.call("getSystemInfo", Uint8Array.of(1)), Uint8Array.of(1));
    assert.ok(log.some((line) => /a caller was disconnected why=invalid frame/.test(line)));
  });
});

test("a caller with too many open calls is rejected with a clear error, and one that does not read is disconnected", async () => {
  const waits = waiting();
  await withGateway({ service: waits.service, limits: { calls: 3 } }, async ({ dial }) => {
    const connection = await dial();
    const open = Array.from({ length: 3 }, () => connection.call("pollActivityTaskQueue", EMPTY));
    const error = await refusal(connection.call("pollActivityTaskQueue", EMPTY));
    assert.deepEqual([error.code, error.message], [
      Code.RESOURCE_EXHAUSTED,
      "3 calls of this caller are already open",
    ]);
    await until("three wait", () => waits.open === 3);
    waits.answer();
    await Promise.all(open);
  });
  const big = service(() => Promise.resolve(new Uint8Array(4 << 20)));
  await withGateway(
    { service: big, limits: { waitingBytes: 8 << 20 } },
    async ({ gateway, token, log }) => {
      const socket = await rawSocket(gateway.port, token);
      (socket as unknown as { _socket: { pause(): void } })._socket.pause();
      const name = new TextEncoder().encode("getSystemInfo");
      for (let id = 1; id <= 30; id++) {
        socket.send(
          Uint8Array.from([1, 0, 0, 0, id, 0, 0, 0, 0, name.length, ...name]),
        );
      }
      await until(
        "it is disconnected",
        () => log.some((line) => /does not read its responses/.test(line)),
      );
      socket.terminate();
    },
  );
});

test("a closing gateway completes running calls, cancels polls, and accepts no new call", async () => {
  const waits = waiting();
  const gateway = await startGateway({ service: waits.service, port: await freePort() });
  const connection = await connectGateway(gateway.url, socketClass);
  const work = connection.call("startWorkflowExecution", Uint8Array.of(4));
  const poll = refusal(connection.call("pollWorkflowTaskQueue", EMPTY, { timeoutMs: 60_000 }));
  await until("both wait", () => waits.open === 2);
  const closing = gateway.close(60_000);
  const late = await refusal(connection.call("getSystemInfo", EMPTY));
  assert.deepEqual([late.code, late.message], [Code.UNAVAILABLE, "the gateway is shutting down"]);
  waits.answer("start");
  assert.deepEqual(await work, Uint8Array.of(4));
  await closing;
  assert.equal((await poll).code, Code.UNAVAILABLE);
  assert.deepEqual([waits.open, waits.aborted], [0, 1]);
  await connection.close();
  const again = await startGateway({ service: echo, port: gateway.port });
  await assert.rejects(
    startGateway({ service: echo, port: gateway.port }),
    /port \d+ is in use; stop the other process/,
  );
  await again.close();
});
