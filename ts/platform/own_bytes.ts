// Files that lie beside the package's code, read as bytes where that can be done without asking anybody.
import { builtin } from "./builtin.ts";
import { bundled, ownCode } from "./own_code.ts";

interface Fs {
  readFileSync(path: URL): Uint8Array<ArrayBuffer>;
}

/**
 * The bytes of a file of this package, given from the folder of sources; undefined where there is none beside this code (a bundle, a page,
 * the sources of the checkout) or where it may not be read. In Deno only with a permission that is there: nobody is asked for one.
 */
export function ownBytes(path: string): Uint8Array<ArrayBuffer> | undefined {
  if (bundled || !ownCode.startsWith("file:")) return undefined;
  const fs = builtin<Fs>("node:fs");
  if (fs === undefined) return undefined;
  // The published package's build for Node lies in a folder of its own, below the files that both builds share.
  for (const place of [path, `../${path}`]) {
    const url = new URL(place, ownCode);
    if (!mayRead(url)) return undefined;
    try {
      return fs.readFileSync(url);
    } catch {
      // Not there, or not for this process: there is another way.
    }
  }
  return undefined;
}

interface DenoPermissions {
  permissions?: { querySync?(of: { name: "read"; path: URL }): { state: string } };
}

function mayRead(path: URL): boolean {
  const { Deno: deno } = globalThis as { Deno?: DenoPermissions };
  return deno === undefined || deno.permissions?.querySync?.({ name: "read", path }).state === "granted";
}
