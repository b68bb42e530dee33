#!/usr/bin/env node
// Random programs in every available runtime: Node, Deno, Chromium, Firefox. Each runtime runs the
// same programs from the same seeds in worker realms (some in inline realms too) and returns a
// digest of every byte that its realms returned; the digests are compared program by program. Then
// each replays the histories that the others made. Ends with `N passed, N failed, N skipped`.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { options, startRuntimes } from "../lib/cross_runtimes.mjs";
import { root } from "../lib/steps.mjs";

const HELP = `usage: node tools/soak/cross_engine.mjs [options]      (after: npm run build)

--programs N       random programs in worker realms (default 500)
--inline N         of them also in inline realms (default 100)
--histories N      programs whose histories the other runtimes replay, beside the seven examples (default 50)
--seed N           seed of the first program (default 1); program i has seed + i
--runtimes LIST    default node,deno,chromium,firefox; those that are absent are named
--only SEED        prints program and outputs of one seed, runtime by runtime`;

const { values } = options({
  options: {
    programs: { type: "string", default: "500" },
    inline: { type: "string", default: "100" },
    histories: { type: "string", default: "50" },
    seed: { type: "string", default: "1" },
    runtimes: { type: "string", default: "node,deno,chromium,firefox" },
    only: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const whole = (name) => {
  const n = Number(values[name]);
  if (Number.isInteger(n) && n >= 0) return n;
  console.error(`--${name} must be a whole number, not "${values[name]}"`);
  process.exit(2);
};
const [programs, inline, exported, seed] = ["programs", "inline", "histories", "seed"].map(whole);
if (!existsSync(join(root, "dist/tests/system/cross/host.js"))) {
  console.error("dist/ is not built: npm run build");
  process.exit(2);
}

const BATCH = 50;
let passed = 0, failed = 0;
const report = (ok, what) => {
  if (ok) passed++;
  else {
    failed++;
    console.log(`not ok - ${what}`);
  }
};

const { runtimes, absent } = await startRuntimes(String(values.runtimes).split(","));
try {
  if (runtimes.length === 0) throw new Error("no runtime is here");
  if (values.only !== undefined) {
    for (const runtime of runtimes) await show(runtime, whole("only"));
  } else {
    await compare("worker", programs);
    await compare("inline", Math.min(inline, programs));
    if (exported > 0) await exchange();
  }
} catch (e) {
  report(false, e.stack);
} finally {
  for (const runtime of runtimes) await runtime.close();
}
if (absent.length > 0) { for (const reason of absent) console.log(`skipped: ${reason}`); }
console.log(`${passed} passed, ${failed} failed, ${absent.length} skipped`);
process.exitCode = failed > 0 ? 1 : 0;

/** All runtimes at once, each through all seeds; one result for each seed. */
async function compare(kind, count) {
  if (count === 0) return;
  const began = Date.now();
  const lives = await Promise.all(runtimes.map(async (runtime) => {
    const t0 = Date.now();
    const all = [];
    for (let from = 0; from < count; from += BATCH) {
      all.push(
        ...await runtime.call("digests", {
          kind,
          from: seed + from,
          count: Math.min(BATCH, count - from),
        }),
      );
    }
    return { all, seconds: ((Date.now() - t0) / 1000).toFixed(1) };
  }));
  const [first] = lives;
  let different = 0;
  for (let i = 0; i < count; i++) {
    const problems = lives.flatMap(({ all }, r) =>
      all[i].problems.map((p) => `${runtimes[r].name}: ${p}`)
    );
    const odd = lives.findIndex(({ all }) => all[i].digest !== first.all[i].digest);
    const ok = odd < 0 && problems.length === 0;
    report(
      ok,
      `${kind} realm, seed ${seed + i}${problems.length > 0 ? `: ${problems.join("; ")}` : ""}`,
    );
    // Three are enough to see what is the matter.
    if (!ok && different++ < 3) {
      await explain(kind, seed + i, runtimes[0], runtimes[Math.max(odd, 0)]);
    }
  }
  const sum = (what) => first.all.reduce((n, one) => n + one[what], 0);
  const times = lives.map(({ seconds }, r) => `${runtimes[r].name} ${seconds} s`).join(", ");
  console.log(
    `${kind} realms: ${count} programs from seed ${seed}, ${sum("runs")} runs, ${
      sum("events")
    } events, ${sum("outputs")} outputs; ${times}; ` +
      `${((Date.now() - began) / 1000).toFixed(1)} s in all`,
  );
}

/** The program, and the first answer in which two runtimes differ. */
async function explain(kind, one, a, b) {
  const [left, right] = await Promise.all(
    [a, b].map((runtime) => runtime.call("details", { kind, seed: one })),
  );
  console.log(`seed ${one}: ${JSON.stringify(left.drawn)}`);
  if (JSON.stringify(left.drawn) !== JSON.stringify(right.drawn)) {
    return console.log("the runtimes have drawn different programs");
  }
  const at = left.outputs.findIndex(({ label, text }, i) =>
    label !== right.outputs[i]?.label || text !== right.outputs[i]?.text
  );
  if (at < 0) {
    return console.log(
      "the outputs are equal now: the difference is not repeatable, or not in the decoded part",
    );
  }
  for (const [{ name }, { outputs }] of [[a, left], [b, right]]) {
    console.log(
      `${name}, output ${at} (${outputs[at]?.label ?? "missing"}):\n${outputs[at]?.text ?? ""}`,
    );
  }
}

async function show(runtime, one) {
  const { drawn, outputs } = await runtime.call("details", { kind: "worker", seed: one });
  console.log(`${runtime.name}\n${JSON.stringify(drawn)}`);
  for (const { label, text } of outputs) console.log(`${label}\n${text}`);
}

/**
 * Histories of each runtime, replayed in each: the same verdict, and the commands of the replay
 * where they were made.
 */
async function exchange() {
  let count = 0;
  for (const maker of runtimes) {
    const histories = await maker.call("histories", { from: seed, count: exported });
    const here = await maker.call("replayed", { histories });
    count += histories.length;
    for (const { name, verdict } of here) {
      report(
        verdict === "ok",
        `history of ${maker.name}, ${name}: replayed where it was made: ${verdict}`,
      );
    }
    for (const other of runtimes.filter((runtime) => runtime !== maker)) {
      const there = await other.call("replayed", { histories });
      for (const [i, { name, verdict, commands }] of there.entries()) {
        const ok = verdict === "ok" && commands === here[i].commands;
        report(
          ok,
          `history of ${maker.name}, ${name}: replayed in ${other.name}: ${
            verdict === "ok" ? "other commands" : verdict
          }`,
        );
      }
    }
  }
  console.log(`histories: ${count} made, each replayed in ${runtimes.length} runtimes`);
}
