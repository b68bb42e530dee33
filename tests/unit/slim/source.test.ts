// Where the halves of the core come from (useCore): addresses, responses, bytes, and everything
// that can be wrong with them. Each case loads a fresh copy of ts/core/source.ts, because a thread
// loads a half once.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { createGlue as engineGlue, sourceHash } from "../../../ts/core/generated/engine.js";
import { wasmBase64 as engineBase64 } from "../../../ts/core/generated/engine_wasm.ts";
import { createGlue as workerGlue } from "../../../ts/core/generated/worker.js";
import { wasmBase64 as workerBase64 } from "../../../ts/core/generated/worker_wasm.ts";
import { LoadedHalf } from "../../../ts/core/half.ts";
import type * as Source from "../../../ts/core/source.ts";

const bytes = (base64: string) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
const halves = { worker: bytes(workerBase64), engine: bytes(engineBase64) };
const HALVES = ["worker", "engine"] as const;
const wasm = halves.worker;
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

/** As ts/core/worker_half.ts and engine_half.ts, each time again. */
async function fresh() {
  const url = new URL("../../../ts/core/source.ts", import.meta.url);
  const { useCore, coreModule } = await import(`${url.href}?copy=${copies++}`) as typeof Source;
  const loaded = {
    worker: new LoadedHalf("worker", workerGlue, sourceHash, () => coreModule("worker")),
    engine: new LoadedHalf("engine", engineGlue, sourceHash, () => coreModule("engine")),
  };
  const load = async (half: Source.CoreHalf) => {
    await loaded[half].load();
    return loaded[half].info();
  };
  return { useCore, coreModule, load, loaded };
}

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly body: Uint8Array | string;
}

/** A server that sends these responses one after the other, then always the last one. */
async function serving(
  replies: readonly Answer[],
  body: (url: string, asked: () => number) => Promise<void>,
): Promise<void> {
  let asked = 0;
  const server = createServer((_, response) => {
    const { status = 200, type = "application/wasm", body } =
      replies[Math.min(asked++, replies.length - 1)]!;
    response.writeHead(status, { "content-type": type, connection: "close" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await body(`http://127.0.0.1:${(server.address() as AddressInfo).port}/file.wasm`, () => asked);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

const refusal = (pattern: RegExp) => (e: unknown) => {
  assert.equal((e as Error).name, "CoreLoadError", String(e));
  assert.match((e as Error).message, pattern);
  return true;
};

test("a module that is not the core is rejected", async () => {
  const { useCore, load } = await fresh();
  useCore({ worker: other, engine: other });
  for (const half of HALVES) {
    await assert.rejects(
      load(half),
      refusal(new RegExp(`not the ${half}\\.wasm that belongs to this version of the package`)),
    );
  }
});

for (const type of ["application/wasm", "application/octet-stream"]) {
  for (const half of HALVES) {
    test(`the address of ${half}.wasm is fetched once, when it is needed, and compiled (${type})`, () =>
      serving([{ body: halves[half], type }], async (url, asked) => {
        const { useCore, coreModule, load } = await fresh();
        const refused = Promise.reject(new Error("the other half was asked for"));
        useCore({ worker: refused, engine: refused, [half]: url });
        assert.equal(asked(), 0);
        const [module, info] = await Promise.all([coreModule(half), load(half), load(half)]);
        assert.ok(module instanceof WebAssembly.Module);
        assert.ok(info.sourceHash.length > 0);
        assert.equal(asked(), 1);
      }));
  }
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
  test(`${what} is accepted for a half`, async () => {
    const { useCore, load } = await fresh();
    useCore({ worker: source() });
    assert.ok((await load("worker")).version.length > 0);
  });
}

for (const half of HALVES) {
  test(`${half}.wasm of another version is rejected`, async () => {
    const { useCore, load, loaded } = await fresh();
    // The hash of the sources, as text among the module's data.
    const at = new TextDecoder("latin1").decode(halves[half]).indexOf(sourceHash);
    assert.ok(at > 0);
    const foreign = halves[half].slice();
    foreign.set(text("0123456789abcdef"), at);
    const problem = refusal(
      new RegExp(
        `this ${half}\\.wasm belongs to another version of the package \\(it was built from 0123456789ab instead of [0-9a-f]{12}\\)`,
      ),
    );
    useCore({ [half]: foreign });
    await assert.rejects(load(half), problem);
    assert.throws(() => loaded[half].loadSync(foreign), problem);
  });
}

test("swapped files are rejected by name", async () => {
  const { useCore, load, loaded } = await fresh();
  useCore({ worker: halves.engine, engine: halves.worker });
  const noWorker = refusal(
    /^this is the core's file engine\.wasm, where workflow code needs worker\.wasm$/,
  );
  const noEngine = refusal(
    /^this is the core's file worker\.wasm, where the embedded engine needs engine\.wasm$/,
  );
  await assert.rejects(load("worker"), noWorker);
  await assert.rejects(load("engine"), noEngine);
  assert.throws(() => loaded.worker.loadSync(halves.engine), noWorker);
});

test("a single source, an unknown name and an empty object are rejected: each half needs its own source", async () => {
  const { useCore } = await fresh();
  const given = {
    '"/core.wasm"': "/core.wasm",
    "a URL": new URL("file:///core.wasm"),
    "a Promise": Promise.resolve("/core.wasm"),
    "a Uint8Array": wasm,
    "a Module": await WebAssembly.compile(wasm),
    "an empty object": {},
    'the name "wasm"': { wasm: "/core.wasm" },
    "a undefined": undefined,
  };
  for (const [what, source] of Object.entries(given)) {
    assert.throws(() => useCore(source as Source.CoreSources), (e: unknown) => {
      assert.ok(e instanceof TypeError);
      const said =
        `the core has two modules, and each needs its own source: { worker, engine }, the addresses of the package's files ` +
        `worker.wasm (for workflow code) and engine.wasm (for the embedded engine), not ${what}`;
      assert.equal(e.message, said);
      return true;
    });
  }
});

test("without a source the error names the missing half, its use and what to do", async () => {
  const { load, coreModule, useCore } = await fresh();
  useCore({ worker: wasm });
  const [engine, worker] = [["embedded engine", "engine"], ["workflow code", "worker"]].map((
    [user, half],
  ) =>
    refusal(
      new RegExp(
        `${user} needs ${half}\\.wasm.*call useCore\\({ ${half}: ... }\\) \\(of "temporalex/slim"\\) with the address of the package's ` +
          `file ${half}\\.wasm first, or import from "temporalex"`,
      ),
    )
  );
  await assert.rejects(load("engine"), engine!);
  await assert.rejects(coreModule("engine"), engine!);
  assert.ok((await load("worker")).version.length > 0);
  await assert.rejects((await fresh()).load("worker"), worker!);
});

test("an unknown half is rejected by name", async () => {
  const { coreModule } = await fresh();
  await assert.rejects(
    coreModule("core" as Source.CoreHalf),
    /modules "worker" and "engine", not "core"/,
  );
});

test("a failed fetch is reported by name, and the next call retries", () =>
  serving([{ status: 503, body: "busy" }, { body: wasm }], async (url, asked) => {
    const { useCore, load } = await fresh();
    useCore({ worker: url });
    await assert.rejects(
      load("worker"),
      refusal(/^worker\.wasm .*127\.0\.0\.1:\d+\/file\.wasm returned status 503/),
    );
    assert.ok((await load("worker")).sourceHash.length > 0);
    assert.equal(asked(), 2);
  }));

test("an unreachable server is reported with its address", async () => {
  const { useCore, load } = await fresh();
  useCore({ worker: "http://127.0.0.1:1/file.wasm" });
  await assert.rejects(
    load("worker"),
    refusal(/^worker\.wasm could not be fetched from http:\/\/127\.0\.0\.1:1\/file\.wasm/),
  );
  useCore({ worker: Promise.reject(new TypeError("offline")) });
  await assert.rejects(load("worker"), refusal(/^worker\.wasm could not be fetched: offline/));
  useCore({ worker: wasm });
  assert.ok((await load("worker")).sourceHash.length > 0);
});

test("an HTML page instead of the file is rejected as a module", () =>
  serving(
    [{ body: "<!doctype html><title>app</title>", type: "text/html; charset=utf-8" }],
    async (url) => {
      const { useCore, load } = await fresh();
      useCore({ engine: url });
      await assert.rejects(
        load("engine"),
        refusal(
          /file\.wasm \(text\/html; charset=utf-8\) is not a WebAssembly module: expected the package's file engine\.wasm/,
        ),
      );
    },
  ));

for (const type of ["application/wasm", "application/octet-stream"]) {
  test(`a damaged module is rejected (${type})`, () =>
    serving([{ body: wasm.subarray(0, 5000), type }], async (url) => {
      const { useCore, load } = await fresh();
      useCore({ worker: url });
      await assert.rejects(load("worker"), refusal(/file\.wasm.* cannot be compiled: /));
    }));
}
