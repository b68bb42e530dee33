// The hash that ties the committed module to its sources: path and LF-normalized content of
// everything that goes into it.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

export const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

export function sourceFiles(root) {
  const walk = (dir) =>
    readdirSync(dir).sort().flatMap((
      name,
    ) => (statSync(join(dir, name)).isDirectory() ? walk(join(dir, name)) : [join(dir, name)]));
  return [
    ...walk(join(root, "core-rs/src")),
    join(root, "core-rs/Cargo.toml"),
    join(root, "core-rs/Cargo.lock"),
    join(root, "tools/build_core.mjs"),
    join(root, "tools/lib/halves.mjs"),
  ];
}

export function sourceHash(root) {
  const h = createHash("sha256");
  for (const file of sourceFiles(root)) {
    h.update(relative(root, file).replaceAll("\\", "/")).update("\0").update(
      readFileSync(file, "utf8").replaceAll("\r\n", "\n"),
    )
      .update("\0");
  }
  return h.digest("hex");
}
