// runtime: node
// A realm for replays: where scopes are rewritten, it decides only unchanged replays. Every other
// verdict comes from a second realm, which is started once and calls no sinks.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { asyncStorageIsSlow } from "../../../ts/platform/async_context.ts";
import type { ReplayVerdict } from "../../../ts/realm/realm.ts";
import { createReplayRealm } from "../../../ts/realm/replay_realm.ts";
import { createWorkerRealm } from "../../../ts/realm/mod.ts";
import type { WorkerRealm, WorkerRealmOptions } from "../../../ts/realm/worker_realm.ts";

const skip = !asyncStorageIsSlow() && "this runtime needs no second realm";

/** Realms whose verdicts depend on how scopes are followed. */
function fakeRealms(
  rewritten: Partial<ReplayVerdict>,
  { needsTemporal = true, followsScopes = true } = {},
) {
  const started: WorkerRealmOptions[] = [];
  const disposed: string[] = [];
  const start = (options: WorkerRealmOptions): Promise<WorkerRealm> => {
    started.push(options);
    const scopes = options.scopes ?? "asyncLocalStorage";
    const verdict = { verdict: "ok", warnings: [], workflowId: scopes };
    return Promise.resolve({
      needsTemporal,
      followsScopes,
      replay: () =>
        Promise.resolve({ ...verdict, ...(scopes === "rewritten" && rewritten) } as ReplayVerdict),
      dispose: () => Promise.resolve(void disposed.push(scopes)),
    } as unknown as WorkerRealm);
  };
  return { started, disposed, start };
}

const NOTHING = new Uint8Array(0);
const CHANGED: { readonly [what: string]: Partial<ReplayVerdict> } = {
  "a divergence": { verdict: "nondeterminism" },
  "a failure": { verdict: "failed" },
  "a warning": { warnings: [{} as never] },
  "a changed value": { changedValues: [{} as never] },
};

test("an unchanged replay needs one realm", { skip }, async () => {
  const { started, disposed, start } = fakeRealms({});
  const realm = await createReplayRealm(start, {});
  assert.equal((await realm.replay("a", NOTHING)).workflowId, "rewritten");
  assert.equal(started.length, 1);
  await realm.dispose();
  assert.deepEqual(disposed, ["rewritten"]);
});

for (const [what, verdict] of Object.entries(CHANGED)) {
  test(`${what} is decided by the second realm`, { skip }, async () => {
    const { started, disposed, start } = fakeRealms(verdict);
    let calls = 0;
    const sinks = { alerts: { send: { fn: () => void calls++, callDuringReplay: true } } };
    const realm = await createReplayRealm(start, { sinks });
    for (let i = 0; i < 2; i++) {
      const decided = await realm.replay("a", NOTHING);
      assert.deepEqual([decided.workflowId, decided.verdict], ["asyncLocalStorage", "ok"]);
    }
    assert.equal(started.length, 2);
    await started[1]!.sinks!["alerts"]!["send"]!.fn({});
    assert.equal(calls, 0);
    await realm.dispose();
    assert.deepEqual(disposed, ["rewritten", "asyncLocalStorage"]);
  });
}

test("native workflows have no second realm", { skip }, async () => {
  const { started, start } = fakeRealms({ verdict: "nondeterminism" }, { needsTemporal: false });
  const realm = await createReplayRealm(start, {});
  assert.equal((await realm.replay("a", NOTHING)).verdict, "nondeterminism");
  assert.equal(started.length, 1);
});

test("code whose scopes are not followed exactly runs like in a worker", { skip }, async () => {
  const { started, disposed, start } = fakeRealms({}, { followsScopes: false });
  const realm = await createReplayRealm(start, {});
  assert.equal((await realm.replay("a", NOTHING)).workflowId, "asyncLocalStorage");
  assert.deepEqual(disposed, ["rewritten"]);
  await realm.dispose();
  assert.deepEqual([started.length, disposed], [2, ["rewritten", "asyncLocalStorage"]]);
});

test("a second realm that did not start is started again", { skip }, async () => {
  const { start } = fakeRealms({ verdict: "nondeterminism" });
  let starts = 0;
  const realm = await createReplayRealm((options) => {
    if (++starts === 2) return Promise.reject(new Error("no memory"));
    return start(options);
  }, {});
  await assert.rejects(realm.replay("a", NOTHING), /no memory/);
  assert.equal((await realm.replay("a", NOTHING)).workflowId, "asyncLocalStorage");
});

test(
  "both realms run the program that was loaded first, also after a file was saved",
  { skip },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "temporalex-saved-"));
    const corpus = "tests/unit/compat";
    const program = (name: string) => readFileSync(`${corpus}/programs/${name}.ts`, "utf8");
    const json = JSON.parse(readFileSync(`${corpus}/histories/timeouts.json`, "utf8")) as JsonValue;
    const history = toBinary(HistorySchema, fromJson(HistorySchema, json));
    const workflows = join(folder, "workflows.ts");
    const changed = program("timeouts").replace(
      /export (async )?function timeouts/,
      "export $1function renamed",
    );
    assert.notEqual(changed, program("timeouts"));
    try {
      writeFileSync(workflows, changed);
      const realm = await createReplayRealm(createWorkerRealm, { workflows });
      try {
        writeFileSync(workflows, program("timeouts"));
        const verdict = await realm.replay("timeouts", history);
        assert.equal(verdict.verdict, "failed");
        assert.match(JSON.stringify(verdict), /timeouts/);
      } finally {
        await realm.dispose();
      }
      const now = await createReplayRealm(createWorkerRealm, { workflows });
      assert.equal((await now.replay("timeouts", history)).verdict, "ok");
      await now.dispose();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test("both realms load from a source host of a class with private members", { skip }, async () => {
  class Host {
    #texts = new Map([["file:///workflows.ts", 'import { run } from "pkg"; export { run };'], [
      "file:///pkg.ts",
      'import { sleep } from "@temporalio/workflow"; export async function run() { await sleep(1); }',
    ]]);
    read = (url: string) => this.#texts.get(url);
    isFile = (url: string) => this.#texts.has(url);
    real = (url: string) => url;
    map(specifier: string): string | undefined {
      return this.#texts.has(`file:///${specifier}.ts`) ? `file:///${specifier}.ts` : undefined;
    }
  }
  const realm = await createReplayRealm(createWorkerRealm, {
    workflows: "workflows.ts",
    sources: new Host(),
  });
  assert.deepEqual(realm.workflowTypes, ["run"]);
  await realm.dispose();
});
