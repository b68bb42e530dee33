// Reads files next to the package's code, where that needs no permission prompt.
import { builtin } from "./builtin.ts";
import { bundled, ownCode } from "./own_code.ts";

interface Fs {
  readFileSync(path: URL): Uint8Array<ArrayBuffer>;
}

/**
 * Returns the bytes of a file of this package; `path` is relative to the source folder. Undefined
 * if the file is missing (in a bundle, a page, a checkout) or may not be read. In Deno, reads only
 * with a permission that is granted already, so no prompt appears.
 */
export function ownBytes(path: string): Uint8Array<ArrayBuffer> | undefined {
  if (bundled || !ownCode.startsWith("file:")) return undefined;
  const fs = builtin<Fs>("node:fs");
  if (fs === undefined) return undefined;
  // The published build for Node is in a subfolder of the files that both builds share.
  for (const place of [path, `../${path}`]) {
    const url = new URL(place, ownCode);
    if (!mayRead(url)) return undefined;
    try {
      return fs.readFileSync(url);
    } catch {
      // Missing or not readable: the caller has another way.
    }
  }
  return undefined;
}

interface DenoPermissions {
  permissions?: { querySync?(of: { name: "read"; path: URL }): { state: string } };
}

function mayRead(path: URL): boolean {
  const { Deno: deno } = globalThis as { Deno?: DenoPermissions };
  return deno === undefined ||
    deno.permissions?.querySync?.({ name: "read", path }).state === "granted";
}
