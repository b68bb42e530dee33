// `temporalex ui`: which calls its server passes on, to which namespace, and that the server
// enforces --read-only. web-demo/e2e/runs.spec.ts tests the page itself.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  CountWorkflowExecutionsRequestSchema,
  CountWorkflowExecutionsResponseSchema,
  ListWorkflowExecutionsRequestSchema,
  ListWorkflowExecutionsResponseSchema,
  TerminateWorkflowExecutionRequestSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { ui } from "../../../ts/cli/commands/ui/command.ts";
import type { UiCall } from "../../../ts/cli/commands/ui/options.ts";
import { uiCommand } from "../../../ts/cli/commands/ui/run.ts";
import { dispatch } from "../../../ts/cli/frame/dispatch.ts";
import { Interrupted } from "../../../ts/cli/frame/errors.ts";
import type { PageFiles } from "../../../ts/cli/page/page_files.ts";
import { silentLogger } from "../../../ts/client/mod.ts";
import { open } from "../../../ts/mod.ts";
import { on, receive, signal, stop, workflow } from "../../../ts/workflow/mod.ts";
import { run } from "./support/run.ts";

const INDEX =
  '<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src \'none\'">';
const PAGE: PageFiles = new Map([["index.html", {
  type: "text/html",
  read: () => new TextEncoder().encode(INDEX),
}]]);
const go = signal("go");
const waits = workflow("Waits", {
  messages: { go },
  run: async () => await receive(0, [on(go, (_, n) => stop(n))]),
});

async function started(
  args: readonly string[],
  body: (
    url: string,
    line: { [field: string]: unknown },
    status: (id: string) => Promise<string>,
  ) => Promise<void>,
): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), "temporalex-ui-"));
  const app = await open({
    path: join(cwd, "shop.sqlite"),
    workflows: [waits],
    logger: silentLogger,
    serve: true,
  });
  const ctrlC = new AbortController();
  try {
    await app.served;
    await app.client.start(waits, { id: "order-17", args: [] });
    let out = "";
    let told = () => {};
    const there = new Promise<void>((resolve) => told = resolve);
    const ended = run(
      ["ui", "--store", "shop.sqlite", "--json", ...args],
      { cwd, interrupt: ctrlC.signal, out: (text) => (out += text, told()) },
      (words, io) =>
        dispatch(
          { ui: { ...ui, run: (call) => uiCommand(call as UiCall, () => PAGE) } },
          words,
          io,
        ),
    );
    await Promise.race([there, ended.then(({ err }) => assert.fail(err))]);
    const { url, ...line } = JSON.parse(out.split("\n")[0]!);
    await body(url, line, async (id) => (await app.client.getHandle(waits, id).describe()).status);
    ctrlC.abort(new Interrupted());
    assert.equal((await ended).code, 0);
    assert.deepEqual(JSON.parse(out.trim().split("\n").at(-1)!), { event: "stopped" });
    await assert.rejects(fetch(url));
  } finally {
    ctrlC.abort(new Interrupted());
    await app.close();
    rmSync(cwd, { recursive: true, force: true });
  }
}

const call = (url: string, method: string, body: Uint8Array) =>
  fetch(`${url}data/call/${method}`, { method: "POST", body: body as Uint8Array<ArrayBuffer> });
const counting = (namespace: string) =>
  toBinary(
    CountWorkflowExecutionsRequestSchema,
    create(CountWorkflowExecutionsRequestSchema, { namespace }),
  );
const terminating = toBinary(
  TerminateWorkflowExecutionRequestSchema,
  create(TerminateWorkflowExecutionRequestSchema, {
    namespace: "default",
    workflowExecution: { workflowId: "order-17" },
  }),
);

test("only calls of the page's methods in its namespace reach the service", async () => {
  await started([], async (url, line, status) => {
    assert.deepEqual({ ...line, where: undefined }, {
      event: "started",
      where: undefined,
      namespace: "default",
      readOnly: false,
    });
    const counted = await call(url, "countWorkflowExecutions", counting("default"));
    assert.equal(counted.headers.get("cache-control"), "no-store");
    const bytes = new Uint8Array(await counted.arrayBuffer());
    assert.equal(fromBinary(CountWorkflowExecutionsResponseSchema, bytes).count, 1n);
    for (const namespace of ["other", ""]) {
      const refused = await call(url, "countWorkflowExecutions", counting(namespace));
      assert.equal((await refused.json() as { code: number }).code, 7);
    }
    for (
      const method of [
        "deleteWorkflowExecution",
        "pollWorkflowTaskQueue",
        "listNamespaces",
        "constructor",
        "../call/x",
      ]
    ) {
      assert.equal((await call(url, method, counting("default"))).status, 404, method);
    }
    assert.equal((await fetch(`${url}data/call/terminateWorkflowExecution`)).status, 405);
    const origin = { origin: "http://evil.example" };
    const foreign = await fetch(`${url}data/call/terminateWorkflowExecution`, {
      method: "POST",
      headers: origin,
      body: terminating,
    });
    assert.equal(foreign.status, 403);
    const large = await call(url, "countWorkflowExecutions", new Uint8Array(8 * 1024 * 1024 + 1))
      .then(
        ({ status }) => status,
        () => 413,
      );
    assert.equal(large, 413);
    assert.equal(await status("order-17"), "RUNNING");
    assert.equal((await call(url, "terminateWorkflowExecution", terminating)).status, 200);
    assert.equal(await status("order-17"), "TERMINATED");
  });
});

test("with --read-only the server rejects calls that change state", async () => {
  await started(["--read-only"], async (url, line, status) => {
    assert.equal(line["readOnly"], true);
    const methods = [
      "terminateWorkflowExecution",
      "requestCancelWorkflowExecution",
      "signalWorkflowExecution",
      "updateWorkflowExecution",
      "startWorkflowExecution",
      "signalWithStartWorkflowExecution",
      "resetWorkflowExecution",
      "pauseActivity",
      "unpauseActivity",
      "resetActivity",
      "createSchedule",
      "updateSchedule",
      "patchSchedule",
      "deleteSchedule",
    ];
    for (const method of methods) {
      const { code, message } = await (await call(url, method, terminating)).json() as {
        code: number;
        message: string;
      };
      assert.equal(code, 7);
      assert.match(message, /--read-only/);
    }
    assert.equal(
      (await call(url, "countWorkflowExecutions", counting("default"))).headers.get("content-type"),
      "application/octet-stream",
    );
    assert.equal(await status("order-17"), "RUNNING");
  });
});

test("the page reads the phase of a run and its published state, in its namespace only", async () => {
  await started(["--read-only"], async (url) => {
    const read = async (request: unknown) =>
      await (await call(url, "readShown", new TextEncoder().encode(JSON.stringify(request))))
        .json() as { [field: string]: unknown };
    const { executions } = fromBinary(
      ListWorkflowExecutionsResponseSchema,
      new Uint8Array(
        await (await call(
          url,
          "listWorkflowExecutions",
          toBinary(
            ListWorkflowExecutionsRequestSchema,
            create(ListWorkflowExecutionsRequestSchema, { namespace: "default" }),
          ),
        )).arrayBuffer(),
      ),
    );
    const { runId } = executions[0]!.execution!;
    const shown = await read({ namespace: "default", runId });
    assert.deepEqual(shown, { phase: 0, state: null });
    assert.equal((await read({ namespace: "other", runId }))["code"], 7);
    assert.equal((await read({ namespace: "default", runId: "' OR 1" }))["code"], 3);
    assert.equal((await read({ namespace: "default", runId: "no-such-run" }))["code"], 5);
    assert.equal((await read(null))["code"], 3);
  });
});

test("with --all-namespaces the page names the namespaces of the server", async () => {
  const served = async (args: readonly string[]) => {
    let text = "";
    await started(args, async (url) => {
      const page = await (await fetch(url)).text();
      text = /name="temporalex-served" content="([^"]*)"/.exec(page)![1]!;
    });
    return JSON.parse(text.replaceAll("&quot;", '"')) as { namespaces?: readonly string[] };
  };
  assert.equal((await served([])).namespaces, undefined);
  // A store has only one namespace.
  assert.equal((await served(["--all-namespaces"])).namespaces, undefined);
});

test("a missing store is reported before anything is served", async () => {
  const { code, err } = await run(["ui", "--store", "/nowhere/at/all.sqlite"], { cwd: tmpdir() });
  assert.equal(code, 1);
  assert.match(err, /all\.sqlite/);
});

test("the process with the engine fires a timer; a timer that cannot fire is reported, and --read-only rejects it", async () => {
  const fire = async (url: string, body: string): Promise<string> => {
    const { code, message } = await (await call(url, "fireTimer", new TextEncoder().encode(body)))
      .json() as
        & { code: number }
        & { message: string };
    return `${code} ${message}`;
  };
  const timer = JSON.stringify({ workflowId: "order-17", runId: "", name: "1" });
  await started([], async (url) => {
    assert.match(
      await fire(url, timer),
      /^9 timer "1" of workflow "order-17" fires when it is due/,
    );
    for (const body of ["what?", "null", "{}", '{"workflowId":"a","runId":1,"name":"b"}']) {
      assert.equal(
        await fire(url, body),
        "3 a timer is named by workflowId, runId and name, as JSON",
      );
    }
  });
  await started(
    ["--read-only"],
    async (url) => assert.match(await fire(url, timer), /^7 .*--read-only/),
  );
});
