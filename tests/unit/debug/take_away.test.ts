// What is taken away from a divergence: the smallest history that shows it, a test of it, and a
// history without its values.
// takes: 20 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  minimize,
  NoProblemError,
  openSession,
  readHistoryFile,
  testFiles,
} from "../../../ts/debug/mod.ts";
import { problemKey } from "../../../ts/debug/problem.ts";
import type { ReplayingRealm } from "../../../ts/debug/session.ts";
import type { ReplayOptions } from "../../../ts/realm/mod.ts";
import { createRealmFromText } from "../../cases/realm_host.ts";
import { editionSources, ofType, typeOf } from "./editions.ts";
import { EDITED, recorded } from "./take_away_support.ts";

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;

test("twenty divergences keep at most a quarter of their events in the median, show the same problem, and replay after the repair", async () => {
  const parts: number[] = [];
  for (const before of new Set(EDITED.map(({ before }) => before))) {
    const edits = EDITED.filter((edited) => edited.before === before);
    const recordedOnce = await recorded(before);
    const realmOf = (texts: readonly string[]) =>
      createRealmFromText("", editionSources(texts.map((text) => ({ workflow: "Main", text }))));
    const broken = await realmOf(edits.map(({ after }) => after));
    const repaired = await realmOf(edits.map(() => before));
    try {
      for (const [n, { name }] of edits.entries()) {
        const history = ofType(recordedOnce, typeOf("Main", n));
        const whole = await openSession(history, { realm: broken.realm });
        assert.ok(whole.problem !== undefined, `${name} parts from its history`);
        const minimal = await minimize(history, { realm: broken.realm, repaired: repaired.realm });
        assert.equal(minimal.stopped, false);
        const [all, left] = minimal.events;
        parts.push(left / all);
        const session = await openSession(minimal.history, { realm: broken.realm });
        const same = (
          { name, location, isDivergence, code }: NonNullable<typeof whole.problem>,
        ) => ({
          name,
          location,
          isDivergence,
          code,
        });
        assert.deepEqual(same(session.problem!), same(whole.problem), name);
        // The exported test: its history fails with the edit, and passes without it.
        const { history: file } = testFiles(minimal.history, {
          runner: "node",
          name: "order",
          workflows: "./workflows.ts",
        });
        const exported = new TextEncoder().encode(file.text);
        assert.equal(
          (await openSession(exported, { realm: broken.realm })).problem?.message,
          session.problem?.message,
          name,
        );
        assert.equal(
          (await openSession(exported, { realm: repaired.realm })).problem?.message,
          undefined,
          `${name}, repaired`,
        );
      }
    } finally {
      await broken.dispose();
      await repaired.dispose();
    }
  }
  assert.ok(
    median(parts) <= 0.25,
    `a median of ${median(parts)} of ${parts.map((part) => part.toFixed(2)).join(" ")}`,
  );
});

test("the replays of a search look for no repair, and those of the repaired code for no cause", async () => {
  const { before, after } = EDITED[2]!;
  const history = await recorded(before, 3);
  const [sound, broken] = [await createRealmFromText(before), await createRealmFromText(after)];
  const asked: ReplayOptions[][] = [[], []];
  const noting = ({ realm }: typeof sound, of: number): ReplayingRealm => ({
    workflowTypes: realm.workflowTypes,
    replay(workflowId, bytes, options = {}) {
      asked[of]!.push(options);
      return realm.replay(workflowId, bytes, options);
    },
  });
  try {
    await minimize(history, { realm: noting(broken, 0), repaired: noting(sound, 1) });
    assert.ok(asked[0]!.length > 1 && asked[0]!.every(({ repairs }) => repairs === false));
    assert.ok(asked[1]!.length > 1 && asked[1]!.every(({ explain }) => explain === false));
    const [with_, without] = [
      await broken.realm.replay("", history),
      await broken.realm.replay("", history, { repairs: false }),
    ];
    assert.ok(with_.error?.divergence?.repair?.isReplayed);
    assert.equal(without.error?.divergence?.repair?.isReplayed, undefined);
    assert.equal(problemKey(with_), problemKey(without));
  } finally {
    await sound.dispose();
    await broken.dispose();
  }
});

test("a history that replays has nothing to minimize; an aborted run returns its best result", async () => {
  const { before, after } = EDITED[2]!;
  const history = await recorded(before);
  const [sound, broken] = [await createRealmFromText(before), await createRealmFromText(after)];
  try {
    await assert.rejects(minimize(history, { realm: sound.realm }), NoProblemError);
    const told: number[] = [];
    const end = new AbortController();
    const onProgress = ({ tried }: { tried: number }) => {
      told.push(tried);
      if (told.length === 3) end.abort();
    };
    const { stopped, history: sofar } = await minimize(history, {
      realm: broken.realm,
      thorough: true,
      onProgress,
      signal: end.signal,
    });
    assert.ok(stopped);
    assert.ok(told.length >= 3);
    assert.equal((await readHistoryFile(sofar)).workflowType, "Main");
  } finally {
    await sound.dispose();
    await broken.dispose();
  }
});
