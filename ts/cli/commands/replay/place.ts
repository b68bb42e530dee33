// Lines of workflow code, as errors name them: "function (file:line:column)".
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { displayName } from "../../../modules/loader/errors.ts";

/** A line of workflow code. */
export interface Place {
  /** Relative to the folder that was asked for, with slashes, where it lies in it. */
  readonly file: string;
  readonly line: number;
  /** 0 when not known. */
  readonly column: number;
  /** "" at the top of a module. */
  readonly function: string;
}

/** undefined for what names no file and line. */
export function parsePlace(location: string, folder: string): Place | undefined {
  const [, name = "", file, line, column] = /^(?:(.*) \()?(.+?):(\d+)(?::(\d+))?\)?$/.exec(location) ?? [];
  if (file === undefined) return undefined;
  // Modules of a bundle are named from the folder of the project, which is where they lie for whoever reads this.
  const short = file.startsWith("bundle:") ? displayName(file) : shortPath(pathOf(file), folder);
  return { file: short, line: Number(line), column: Number(column ?? 0), function: name };
}

function pathOf(file: string): string {
  if (!file.startsWith("file:")) return file;
  try {
    return fileURLToPath(file);
  } catch {
    return file;
  }
}

/** A path relative to a folder, where it lies in it. */
export function shortPath(path: string, folder: string): string {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) return path;
  const short = relative(folder, path);
  return short.startsWith("..") || short === "" ? path : short.replaceAll("\\", "/");
}

/** "src/workflows.ts:12" */
export const placeText = ({ file, line }: Place): string => `${file}:${line}`;
