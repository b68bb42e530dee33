// Where the core comes from (useCore): addresses, responses, bytes, and everything that can be wrong with them. Each case loads a fresh copy
// of ts/core/load.ts, because a thread loads its core once.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { sourceHash } from "../../ts/core/generated/core.js";
import { coreWasmBase64 } from "../../ts/core/generated/core_wasm.ts";
import type * as Load from "../../ts/core/load.ts";

const wasm = Uint8Array.from(atob(coreWasmBase64), (c) => c.charCodeAt(0));
/** `(module (import "elsewhere" "f" (func)))`: a module, but not the core. */
const other = Uint8Array.from([
  0,
  97,
  115,
  109,
  1,
  0,
  0,
  0,
  1,
  4,
  1,
  96,
  0,
  0,
  2,
  15,
  1,
  9,
  ...text("elsewhere"),
  1,
  ...text("f"),
  0,
  0,
]);
let copies = 0;

function text(ascii: string): number[] {
  return [...ascii].map((c) => c.charCodeAt(0));
}

async function fresh(): Promise<typeof Load> {
  const url = new URL("../../ts/core/load.ts", import.meta.url);
  return await import(`${url.href}?copy=${copies++}`) as typeof Load;
}

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly body: Uint8Array | string;
}

/** A server that gives these answers one after the other, the last for ever. */
async function serving(answers: readonly Answer[], body: (url: string, asked: () => number) => Promise<void>): Promise<void> {
  let asked = 0;
  const server = createServer((_, response) => {
    const { status = 200, type = "application/wasm", body } = answers[Math.min(asked++, answers.length - 1)]!;
    response.writeHead(status, { "content-type": type, connection: "close" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await body(`http://127.0.0.1:${(server.address() as AddressInfo).port}/core.wasm`, () => asked);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

const refusal = (pattern: RegExp) => (e: unknown) => {
  assert.equal((e as Error).name, "CoreLoadError", String(e));
  assert.match((e as Error).message, pattern);
  return true;
};

test("another module than the core is refused", async () => {
  const { useCore, loadCore } = await fresh();
  useCore(other);
  await assert.rejects(loadCore(), refusal(/not the core that belongs to this version of the package/));
});

for (const type of ["application/wasm", "application/octet-stream"]) {
  test(`an address is fetched once, when the core is needed, and compiled (${type})`, () =>
    serving([{ body: wasm, type }], async (url, asked) => {
      const { useCore, coreModule, loadCore } = await fresh();
      useCore(url);
      assert.equal(asked(), 0);
      const [module, core] = await Promise.all([coreModule(), loadCore(), loadCore()]);
      assert.ok(module instanceof WebAssembly.Module);
      assert.ok(core.info().sourceHash.length > 0);
      assert.equal(asked(), 1);
    }));
}

for (
  const [what, source] of Object.entries({
    "bytes": () => wasm,
    "an ArrayBuffer": () => wasm.slice().buffer,
    "a compiled module": () => WebAssembly.compile(wasm),
    "a response": () => new Response(wasm, { headers: { "content-type": "application/wasm" } }),
    "bytes in a larger buffer": () => new Uint8Array([...text("before"), ...wasm]).subarray(6),
  })
) {
  test(`${what} will do for a core`, async () => {
    const { useCore, loadCore } = await fresh();
    useCore(source());
    assert.ok((await loadCore()).info().version.length > 0);
  });
}

test("the core of another version is refused", async () => {
  const { useCore, loadCore, loadCoreSync } = await fresh();
  // The hash of the sources, as text among the module's data.
  const at = new TextDecoder("latin1").decode(wasm).indexOf(sourceHash);
  assert.ok(at > 0);
  const foreign = wasm.slice();
  foreign.set(text("0123456789abcdef"), at);
  const problem = refusal(
    /this core belongs to another version of the package \(it was built from 0123456789ab instead of [0-9a-f]{12}\)/,
  );
  useCore(foreign);
  await assert.rejects(loadCore(), problem);
  assert.throws(() => loadCoreSync(foreign), problem);
});

test("without a source the error says what to do", async () => {
  const { loadCore, coreModule } = await fresh();
  for (const load of [loadCore, coreModule]) {
    await assert.rejects(
      load(),
      refusal(/call useCore \(of "temporalex\/slim"\) with the address of core\.wasm first, or import from "temporalex"/),
    );
  }
});

test("a failed fetch is told by name, and the next call tries again", () =>
  serving([{ status: 503, body: "busy" }, { body: wasm }], async (url, asked) => {
    const { useCore, loadCore } = await fresh();
    useCore(url);
    await assert.rejects(loadCore(), refusal(/127\.0\.0\.1:\d+\/core\.wasm answered with status 503/));
    assert.ok((await loadCore()).info().sourceHash.length > 0);
    assert.equal(asked(), 2);
  }));

test("a server that is not there is told by its address", async () => {
  const { useCore, loadCore } = await fresh();
  useCore("http://127.0.0.1:1/core.wasm");
  await assert.rejects(loadCore(), refusal(/could not be fetched from http:\/\/127\.0\.0\.1:1\/core\.wasm/));
  useCore(Promise.reject(new TypeError("offline")));
  await assert.rejects(loadCore(), refusal(/could not be fetched: offline/));
  useCore(wasm);
  assert.ok((await loadCore()).info().sourceHash.length > 0);
});

test("the page of an application instead of the file is no module", () =>
  serving([{ body: "<!doctype html><title>app</title>", type: "text/html; charset=utf-8" }], async (url) => {
    const { useCore, loadCore } = await fresh();
    useCore(url);
    await assert.rejects(
      loadCore(),
      refusal(/core\.wasm \(text\/html; charset=utf-8\) is not the core.*the package's file core\.wasm is wanted/),
    );
  }));

for (const type of ["application/wasm", "application/octet-stream"]) {
  test(`a module that is damaged is refused (${type})`, () =>
    serving([{ body: wasm.subarray(0, 5000), type }], async (url) => {
      const { useCore, loadCore } = await fresh();
      useCore(url);
      await assert.rejects(loadCore(), refusal(/core\.wasm.* cannot be compiled: /));
    }));
}
