// runtime: node
// The gateway's share of a page's bundle: its connection is small and names no platform, and a page
// that does not import it has no part of it.
import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { build } from "esbuild";

const root = process.cwd();

async function bundle(room: string, name: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { ${name} } from ${
        JSON.stringify(join(root, `ts/${room}`))
      }; globalThis.it = ${name};`,
      resolveDir: root,
      loader: "ts",
    },
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    // esbuild refuses what a browser does not have, unless told that it is there.
    external: ["node:*"],
    logLevel: "error",
  });
  return outputFiles[0]!.text;
}

test("the bundle of a page's gateway connection contains no server, Node code or core", async () => {
  const text = await bundle("gateway/mod.ts", "connectGateway");
  assert.ok(text.includes("temporalex.gateway.v1"));
  assert.ok(!/node:|permessage-deflate|AGFzbQ/.test(text));
  assert.ok(text.length < 20_000, `${text.length} bytes`);
});

test("bundles of clients, workers and tabs that do not import the gateway do not contain it", async () => {
  for (
    const [room, name] of [["client/mod.ts", "Client"], ["worker/worker.ts", "Worker"], [
      "browser/open.ts",
      "open",
    ]] as const
  ) {
    assert.ok(!/temporalex\.gateway|connect-src/.test(await bundle(room, name)), room);
  }
});
