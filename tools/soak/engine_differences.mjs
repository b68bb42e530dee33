#!/usr/bin/env node
// Language features that differ between the available engines: thousands of inputs for each group
// of functions (tests/system/cross/probe.ts), compared with the output of the first runtime. A
// report, not a test; docs/dev/determinism.md has its figures.
import { options, startRuntimes } from "../lib/cross_runtimes.mjs";

const { values } = options({
  options: {
    inputs: { type: "string", default: "5000" },
    seed: { type: "string", default: "1" },
    runtimes: { type: "string", default: "node,deno,chromium,firefox" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: node tools/soak/engine_differences.mjs [--inputs 5000] [--seed 1] [--runtimes node,deno,chromium,firefox]",
  );
  process.exit(0);
}
const { runtimes, absent } = await startRuntimes(String(values.runtimes).split(","));
for (const reason of absent) console.log(`skipped: ${reason}`);
try {
  const answers = await Promise.all(
    runtimes.map((runtime) =>
      runtime.call("probe", { n: Number(values.inputs), seed: Number(values.seed) })
    ),
  );
  const [first, ...others] = answers;
  console.log(
    `inputs whose output differs between ${runtimes[0].name} and ${
      runtimes.slice(1).map((r) => r.name).join(", ")
    }`,
  );
  for (const [group, here] of Object.entries(first)) {
    const counts = others.map((there) => here.filter((text, i) => text !== there[group][i]).length);
    const r = counts.findIndex((count) => count > 0);
    const at = r < 0 ? -1 : here.findIndex((text, i) => text !== others[r][group][i]);
    const example = at < 0
      ? ""
      : `   ${here[at].slice(0, 70)} | ${others[r][group][at].slice(0, 70)}`;
    console.log(
      `${group.padEnd(52)} ${String(here.length).padStart(6)}: ${
        counts.map((c) => String(c).padStart(5)).join(" ")
      }${example}`,
    );
  }
} finally {
  for (const runtime of runtimes) await runtime.close();
}
