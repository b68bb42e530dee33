#!/usr/bin/env node
// Positions of the debugger against fresh replays: random positions of many histories, native and
// of programs for Temporal, each compared with a session over the events up to there alone: state,
// awaits, coverage, values, fibers, causes, logs. Prints what differs.
//   node tools/build_dist.mjs && node tools/soak/debug_positions.mjs [--positions 1000]
//   [--histories 50] [--seed 1]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fromBinary } from "@bufbuild/protobuf";
import { describePosition, prefixFor } from "#dist/tests/cases/debug_positions.js";
import { HistorySchema } from "#dist/ts/messages/generated/temporal/api/history/v1/message_pb.js";
import { openSession } from "#dist/ts/debug/mod.js";
import { createWorkerRealm } from "#dist/ts/realm/mod.js";
import { compatPrograms, nativePrograms, ownPrograms } from "./divergences/recorded.mjs";
import { Random } from "./verdicts/random.mjs";

const { values } = parseArgs({
  options: {
    positions: { type: "string", default: "1000" },
    histories: { type: "string", default: "50" },
    seed: { type: "string", default: "1" },
    program: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: node tools/soak/debug_positions.mjs [--positions 1000] [--histories 50] [--seed 1] [--program NAME]\n" +
      "  --positions  positions to compare, spread over the histories\n" +
      "  --histories  at most so many; native ones first, then those for Temporal\n" +
      "  --seed       another number takes other positions\n" +
      "  --program    only this program, every position",
  );
  process.exit(0);
}
/** Code that does not end is stopped by the clock, and a busy machine has little time for any. */
const PATIENCE_MS = 300_000;
const random = new Random(Number(values.seed));

/** Where two values differ first, as a path with both. */
function difference(a, b, path = "") {
  if (Object.is(a, b)) return undefined;
  const plain = (value) => typeof value === "object" && value !== null;
  if (!plain(a) || !plain(b)) {
    return `${path}: fresh ${JSON.stringify(a)}, whole ${JSON.stringify(b)}`;
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = difference(a[key], b[key], `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

const folder = mkdtempSync(join(tmpdir(), "temporalex-positions-"));
let compared = 0, unequal = 0, histories = 0;
try {
  const wanted = Number(values.histories);
  let programs = [
    ...await nativePrograms(folder),
    ...await ownPrograms(),
    ...await compatPrograms(folder),
  ];
  if (values.program !== undefined) {
    programs = programs.filter(({ name }) => name === values.program);
  }
  programs = programs.slice(0, wanted);
  for (const [i, { name, file, histories: [{ bytes }] }] of programs.entries()) {
    const realm = await createWorkerRealm({
      workflows: file,
      cacheSize: 0,
      lines: true,
      watchdogMs: PATIENCE_MS,
      startupMs: PATIENCE_MS,
    });
    try {
      const whole = await openSession(bytes, { realm });
      const { events } = fromBinary(HistorySchema, bytes);
      if (whole.problem !== undefined) {
        console.log(`${name}: ${whole.problem.name}: ${whole.problem.message}`);
      }
      histories++;
      const all = events.map((_, n) => n + 1);
      const count = Math.ceil((Number(values.positions) - compared) / (programs.length - i));
      const positions = values.program !== undefined
        ? all
        : Array.from({ length: count }, () => 1 + random.below(events.length));
      const freshOf = new Map();
      for (const position of positions) {
        const prefix = prefixFor(whole, events, position);
        let fresh = freshOf.get(prefix.length);
        if (fresh === undefined) {
          freshOf.set(prefix.length, fresh = await openSession(prefix, { realm }));
        }
        compared++;
        const found = difference(
          describePosition(fresh, position),
          describePosition(whole, position),
        );
        if (found === undefined) continue;
        unequal++;
        console.log(`${name} at event ${position} of ${events.length}: ${found.slice(0, 600)}`);
      }
    } finally {
      await realm.dispose();
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${compared} positions over ${histories} histories compared, ${unequal} unequal`);
process.exitCode = unequal === 0 ? 0 : 1;
