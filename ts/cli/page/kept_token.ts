// The token of a page that keeps its address over restarts: one file for each store or cluster,
// which only its owner can read. A file that others can read, or that is damaged, is replaced.
import { createHash, randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** Subject of the page. Each has a separate token. */
export interface PageSubject {
  /** Absolute path of the store, or address of the cluster. */
  readonly where: string;
  readonly namespace: string;
}

/** Returns a secret of 32 random bytes, as base64url. */
export const newToken = (): string => randomBytes(32).toString("base64url");

/**
 * Returns the token of an earlier start, or a new one, which it writes. Throws if the folder cannot
 * be written.
 */
export function keptToken(folder: string, { where, namespace }: PageSubject): string {
  // A home folder can be shared by several machines.
  const key = createHash("sha256").update(JSON.stringify([hostname(), where, namespace])).digest(
    "hex",
  ).slice(0, 32);
  const file = join(folder, `${key}.token`);
  const known = readToken(file);
  if (known !== undefined) return known;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const token = newToken();
  const draft = `${file}.${randomBytes(8).toString("hex")}`;
  writeFileSync(draft, `${token}\n`, { mode: 0o600, flag: "wx" });
  renameSync(draft, file);
  return token;
}

function readToken(file: string): string | undefined {
  try {
    const found = lstatSync(file);
    // Windows has no such bits; there the folder belongs to the user.
    if (!found.isFile() || (process.platform !== "win32" && (found.mode & 0o077) !== 0)) {
      return undefined;
    }
    if (process.getuid !== undefined && found.uid !== process.getuid()) return undefined;
    return /^([\w-]{43})\n$/.exec(readFileSync(file, "utf8"))?.[1];
  } catch {
    return undefined;
  }
}
