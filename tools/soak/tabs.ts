// The long crash loop of browser tabs: `node dist/tools/soak/tabs.js --rounds 50 [--clients 2]
// [--kinds reload,close,kill,...]`. One JSON line per round and one for the end; exit code 1 when
// anything was lost, invented or recorded twice, or a hand-over took two seconds.
import process from "node:process";
import { parseArgs } from "node:util";
import { type Kind, KINDS, tabLoop } from "../../tests/system/browser/support/loop.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    rounds: { type: "string", default: "50" },
    clients: { type: "string", default: "2" },
    kinds: { type: "string", default: KINDS.join(",") },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    `usage: tabs [--rounds 50] [--clients 2] [--kinds ${KINDS.join(",")}]

Reloads, closes, crashes and freezes leading tabs and kills the browser in the middle of work, again and again on one store, and judges the
exported store after each round. Needs a Chromium (CHROMIUM_PATH).`,
  );
  process.exit(0);
}
const kinds = values.kinds.split(",") as Kind[];
const unknown = kinds.filter((kind) => !KINDS.includes(kind));
if (unknown.length > 0) {
  console.error(`unknown kind ${unknown.join(", ")}; use ${KINDS.join(", ")}`);
  process.exit(2);
}
const spread = (times: readonly number[]) => {
  const sorted = [...times].sort((a, b) => a - b).map(Math.round);
  return {
    count: sorted.length,
    min: sorted[0],
    median: sorted[sorted.length >> 1],
    max: sorted.at(-1),
  };
};
const began = performance.now();
const outcome = await tabLoop({
  rounds: Number(values.rounds),
  clients: Number(values.clients),
  kinds,
  onRound: (round, kind, { problems, ...figures }, handOverMs) => {
    const handOver = handOverMs === undefined ? {} : { handOverMs: Math.round(handOverMs) };
    console.log(JSON.stringify({ round, kind, ...figures, ...handOver, problems }));
  },
});
if ("skipped" in outcome) {
  console.log(JSON.stringify({ skipped: `no browser: ${outcome.skipped}` }));
} else {
  const { handOversMs, reopeningsMs, problems, ...figures } = outcome;
  const lost = problems.filter((problem) => /is gone/.test(problem)).length;
  const completed = figures.runs - figures.open;
  console.log(JSON.stringify({
    rounds: Number(values.rounds),
    ...figures,
    lost,
    completed,
    handOverMs: spread(handOversMs),
    reopeningMs: spread(reopeningsMs),
    problems,
    seconds: Math.round((performance.now() - began) / 1000),
  }));
  process.exitCode = problems.length === 0 && handOversMs.every((ms) => ms < 2000) ? 0 : 1;
}
