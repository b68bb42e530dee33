#!/usr/bin/env node
// Proves that the committed module is the one that the sources give. Without Rust: the hash of the sources equals the manifest's, the bytes
// equal the manifest's hash, the module names the same source hash when it runs, imports nothing but wasm-bindgen's own, and keeps its size
// budget. With --rebuild and a toolchain: builds again; with the very toolchain of the manifest the bytes must be equal, with another one
// the runtime tests run on the rebuilt module, and that is said.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { sha256, sourceHash } from "./core_source_hash.mjs";
import { root, run } from "./lib/steps.mjs";

const LIMIT = { raw: 768 * 1024, gzip: 270 * 1024 };
const generated = join(root, "ts/core/generated");
const manifest = JSON.parse(readFileSync(join(generated, "manifest.json"), "utf8"));
const problems = [];
const check = (ok, text) => void (ok || problems.push(text));

const text = readFileSync(join(generated, "core_wasm.ts"), "utf8");
const wasm = Buffer.from([...text.matchAll(/^ {2}"([A-Za-z0-9+/=]*)"/gm)].map((m) => m[1]).join(""), "base64");
const js = readFileSync(join(generated, "core.js"));
const gzip = gzipSync(wasm, { level: 9 }).length;

check(sourceHash(root) === manifest.sourceHash, "core-rs changed since the module was built: run node tools/build_core.mjs");
check(
  sha256(wasm) === manifest.wasmSha256,
  "core_wasm.ts does not hold the module of the manifest: run node tools/build_core.mjs",
);
check(sha256(js) === manifest.jsSha256, "core.js is not the glue of the manifest: run node tools/build_core.mjs");
check(wasm.length <= LIMIT.raw, `the module has ${wasm.length} bytes, over the budget of ${LIMIT.raw}`);
check(gzip <= LIMIT.gzip, `the module has ${gzip} bytes gzipped, over the budget of ${LIMIT.gzip}`);
const foreign = WebAssembly.Module.imports(new WebAssembly.Module(wasm)).filter((i) => !/^__wbindgen_|^__wbg_/.test(i.name));
check(foreign.length === 0, `the module imports more than wasm-bindgen's own: ${foreign.map((i) => i.name).join(", ")}`);

const { createGlue, sourceHash: named } = await import(join(generated, "core.js"));
check(named === manifest.sourceHash, "core.js names another source hash than the manifest");
const glue = createGlue();
glue.initSync({ module: wasm });
check(
  Buffer.from(glue.core_info()).includes(manifest.sourceHash),
  "the module that runs names another source hash than the manifest",
);

if (process.argv.includes("--rebuild") && problems.length === 0) {
  const out = mkdtempSync(join(tmpdir(), "core-rebuild-"));
  const r = await run(process.execPath, ["tools/build_core.mjs", "--out", out], { timeoutMs: 25 * 60_000 });
  if (r.status !== 0) problems.push(`the rebuild failed:\n${r.output.slice(-4000)}`);
  else {
    const again = JSON.parse(readFileSync(join(out, "manifest.json"), "utf8"));
    const same = ["rustc", "wasmBindgen", "binaryen"].every((k) => again[k] === manifest[k]);
    if (same) check(again.wasmSha256 === manifest.wasmSha256, "the same toolchain gives other bytes than the committed module");
    else console.log(`another toolchain than the manifest's (${again.rustc} against ${manifest.rustc}): bytes are not compared`);
    if (same) console.log("rebuilt: byte for byte the committed module");
  }
  rmSync(out, { recursive: true, force: true });
}

if (problems.length > 0) {
  for (const p of problems) console.error(`check_generated: ${p}`);
  process.exit(1);
}
console.log(`generated: module ${wasm.length} bytes (${gzip} gzipped), sources and binary agree`);
