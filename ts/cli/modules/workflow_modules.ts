// Default location of workflow modules.
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { UsageError } from "../frame/errors.ts";

/** Returns the modules in the nearest package.json. */
export function configuredWorkflows(cwd: string): string[] {
  const how =
    'name the workflow modules with --workflows, or in package.json as "temporalex": { "workflows": ["./src/workflows.ts"] }';
  for (let folder = cwd;; folder = dirname(folder)) {
    const path = join(folder, "package.json");
    let text: string | undefined;
    try {
      text = readFileSync(path, "utf8");
    } catch (e) {
      if (!["ENOENT", "ENOTDIR"].includes((e as { code?: string }).code ?? "")) {
        throw new UsageError(`${path} cannot be read: ${(e as Error).message}`);
      }
    }
    if (text !== undefined) {
      const named = settingOf(path, text);
      if (named === undefined) throw new UsageError(`${path} names no workflow modules; ${how}`);
      return named.map((module) => resolve(folder, module));
    }
    if (dirname(folder) === folder) throw new UsageError(`no package.json found; ${how}`);
  }
}

function settingOf(path: string, text: string): string[] | undefined {
  let setting: unknown;
  try {
    setting = (JSON.parse(text) as { temporalex?: { workflows?: unknown } }).temporalex?.workflows;
  } catch (e) {
    throw new UsageError(`${path} is not valid JSON: ${(e as Error).message}`);
  }
  if (setting === undefined) return undefined;
  const list = Array.isArray(setting) ? setting : [setting];
  if (list.length === 0 || !list.every((module): module is string => typeof module === "string")) {
    throw new UsageError(
      `"temporalex.workflows" in ${path} must be the path of a module or a list of paths, for example ["./src/workflows.ts"]`,
    );
  }
  return list;
}
