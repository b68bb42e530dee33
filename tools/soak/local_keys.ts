// The long loop of idempotency keys: `node dist/tools/soak/local_keys.js --kills 300 [--server]`.
// Kills processes in which local activities run, until 300 workflow tasks ran again with other
// messages. One JSON line per life and one for the end.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { localKeysLoop } from "../../tests/faults/crash/local_keys_loop.ts";
import { DevServer } from "../../tests/system/interop/support/dev_server.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    kills: { type: "string", default: "300" },
    server: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: local_keys [--kills 300] [--server]\n\n" +
      "--kills: kills after which a workflow task ran again with other messages.\n" +
      "--server: on a Temporal development server. Default: on the embedded engine.\n" +
      "Exit code 1: a key named two calls, or a call had two keys.",
  );
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), "temporalex-keys-"));
const server = values.server ? await DevServer.start() : undefined;
const began = performance.now();
try {
  const figures = await localKeysLoop({
    place: server?.address ?? join(folder, "store.db"),
    kills: Number(values.kills),
    onLife: (life, figures) => console.log(JSON.stringify({ life, ...figures })),
  });
  console.log(
    JSON.stringify({ ...figures, seconds: Math.round((performance.now() - began) / 1000) }),
  );
  process.exitCode = figures.problems.length === 0 ? 0 : 1;
} finally {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
}
