#!/usr/bin/env node
// Finds (and with --install, on Debian as root or under CI=true, installs) what tools/build_core
// needs: a rustc with a standard library for wasm32-unknown-unknown, wasm-ld, wasm-pack and
// wasm-bindgen of the pinned versions. Never lets rustup download under CI.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readCommandLine } from "./lib/command_line.mjs";

const WASM_BINDGEN = "0.2.130";
const WASM_PACK = "0.15.1";
const TARGET = "wasm32-unknown-unknown";
const cargoBin = join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "bin");
const out = (cmd, args, env = process.env) => {
  const r = spawnSync(cmd, args, { encoding: "utf8", env });
  return r.status === 0 ? r.stdout.trim() : undefined;
};
const debianReady = () =>
  [
    "/usr/bin/rustc",
    "/usr/bin/cargo",
    "/usr/lib/rustlib/src/rust/library/std",
    "/usr/bin/wasm-ld-19",
  ].every((p) => existsSync(p));
const toolVersion = (name, version) =>
  (out(name, ["--version"], { ...process.env, PATH: `${cargoBin}:${process.env.PATH}` }) ?? "")
    .includes(` ${version}`);

function rustupReady() {
  const rustc = out("sh", ["-c", "command -v rustc"]);
  if (!rustc) return undefined;
  const libdir = out(rustc, ["--print", "target-libdir", "--target", TARGET]);
  return libdir && existsSync(libdir) && readdirSync(libdir).some((f) => f.startsWith("libstd-"))
    ? rustc
    : undefined;
}

/** What is missing, as readable names; empty when the core can be built. */
export function missing() {
  const list = [];
  if (!rustupReady() && !debianReady()) {
    list.push(
      "a Rust toolchain for wasm32 (Debian: rustc-web cargo-web rust-web-src lld-19; elsewhere: rustup target add wasm32-unknown-unknown)",
    );
  }
  if (!toolVersion("wasm-pack", WASM_PACK)) list.push(`wasm-pack ${WASM_PACK}`);
  if (!toolVersion("wasm-bindgen", WASM_BINDGEN)) list.push(`wasm-bindgen ${WASM_BINDGEN}`);
  return list;
}

/** The toolchain to build with; throws with advice when something is missing. */
export function wasmToolchain() {
  const gaps = missing();
  if (gaps.length) {
    throw new Error(
      `cannot build the core: missing ${
        gaps.join("; ")
      }. On Debian as root: node tools/ensure_wasm_toolchain.mjs --install`,
    );
  }
  const mode = process.env.WASM_TOOLCHAIN ?? "auto";
  const own = rustupReady();
  if (mode !== "debian" && own) {
    return {
      kind: "rustup",
      env: { RUSTC: own },
      path: [cargoBin],
      buildStd: [],
      rustSrc: undefined,
    };
  }
  return {
    kind: "debian",
    env: {
      RUSTC: "/usr/bin/rustc",
      CARGO: "/usr/bin/cargo",
      RUSTC_BOOTSTRAP: "1",
      CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: "wasm-ld-19",
    },
    // Debian's cargo must come before rustup's for wasm-pack; its own tools live in cargo's bin
    // folder.
    path: ["/usr/bin", cargoBin],
    buildStd: ["-Z", "build-std=std,panic_abort", "-Z", "build-std-features=optimize_for_size"],
    rustSrc: "/usr/lib/rustlib/src/rust",
  };
}

function install() {
  const run = (cmd, args, env = process.env) => execFileSync(cmd, args, { stdio: "inherit", env });
  if (!rustupReady() && !debianReady()) {
    if (!existsSync("/usr/bin/apt-get") || process.getuid?.() !== 0) {
      throw new Error(
        "no wasm32 toolchain, and this is not Debian as root: run 'rustup target add wasm32-unknown-unknown' yourself",
      );
    }
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    run("apt-get", ["update", "-q"], env);
    run("apt-get", [
      "install",
      "-y",
      "-q",
      "--no-install-recommends",
      "rustc-web",
      "cargo-web",
      "rust-web-src",
      "lld-19",
    ], env);
  }
  // Both run for about a second. Their output does not depend on how they were compiled, and most of
  // an installation is optimization.
  const cargoInstall = (...args) =>
    run("cargo", ["install", "--debug", ...args], {
      ...process.env,
      CARGO_PROFILE_DEV_DEBUG: "0",
    });
  if (!toolVersion("wasm-pack", WASM_PACK)) {
    cargoInstall("wasm-pack", "--locked", "--version", WASM_PACK);
  }
  if (!toolVersion("wasm-bindgen", WASM_BINDGEN)) {
    cargoInstall("wasm-bindgen-cli", "--version", WASM_BINDGEN);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = readCommandLine(
    "usage: node tools/ensure_wasm_toolchain.mjs [--install]\n\nPrints what is missing to build core-rs.\n\n--install  install it (on Debian, as root or with CI=true)",
    { install: { type: "boolean" } },
  );
  if (values.install) install();
  const gaps = missing();
  console.log(
    gaps.length ? `missing: ${gaps.join("; ")}` : `wasm toolchain: ${wasmToolchain().kind}`,
  );
  process.exitCode = gaps.length ? 1 : 0;
}
