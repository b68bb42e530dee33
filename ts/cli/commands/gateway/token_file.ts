// A gateway's token that survives restarts, in a file that only its user can read.
import { closeSync, fchmodSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import process from "node:process";
import { isToken, newToken } from "../../../gateway/server.ts";
import { CommandError } from "../../frame/errors.ts";

/**
 * Returns the token of this file, which is created if missing. Throws a CommandError if others can
 * read it or its content is invalid.
 */
export function tokenOf(path: string): string {
  try {
    // Created with its mode: writeFileSync in Deno sets it afterwards.
    const file = openSync(path, "wx", 0o600);
    try {
      // Independent of the umask.
      fchmodSync(file, 0o600);
      writeSync(file, `${newToken()}\n`);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") {
      throw new CommandError(`the token file cannot be made: ${(error as Error).message}`);
    }
  }
  let text: string;
  try {
    const found = statSync(path);
    if (!found.isFile()) throw new CommandError(`${path} is not a file; name a file for the token`);
    // Windows has no mode bits.
    if (process.platform !== "win32" && (found.mode & 0o077) !== 0) {
      throw new CommandError(
        `others may read the token file ${path}; make it yours alone (chmod 600 ${path}) or name another`,
      );
    }
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    throw error instanceof CommandError
      ? error
      : new CommandError(`the token file cannot be read: ${(error as Error).message}`);
  }
  if (!isToken(text)) {
    throw new CommandError(
      `${path} holds no token: 32 to 256 characters, of A-Z, a-z, 0-9, "-" and "_"; remove the file, and it is made again`,
    );
  }
  return text;
}
