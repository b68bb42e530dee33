// The user's folder for what programs remember between starts.
import { join } from "node:path";
import process from "node:process";

type Env = { readonly [name: string]: string | undefined };

/** Returns the folder's path. Undefined where the environment names no home folder. */
export function stateFolder(env: Env, platform: string = process.platform): string | undefined {
  const under = (folder: string | undefined, ...more: string[]) =>
    folder ? join(folder, ...more, "temporalex") : undefined;
  if (platform === "win32") return under(env["LOCALAPPDATA"]);
  if (platform === "darwin") return under(env["HOME"], "Library", "Application Support");
  return env["XDG_STATE_HOME"]
    ? under(env["XDG_STATE_HOME"])
    : under(env["HOME"], ".local", "state");
}
