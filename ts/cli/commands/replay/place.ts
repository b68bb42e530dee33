// Lines of workflow code in errors: "function (file:line:column)".
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { displayName } from "../../../modules/loader/errors.ts";

export interface Place {
  /** Relative to the given folder, with slashes, if the file is in it. */
  readonly file: string;
  readonly line: number;
  /** 0 if not known. */
  readonly column: number;
  /** "" at the top level of a module. */
  readonly function: string;
}

/** Returns undefined for a text without file and line. */
export function parsePlace(location: string, folder: string): Place | undefined {
  const [, name = "", file, line, column] =
    /^(?:(.*) \()?(.+?):(\d+)(?::(\d+))?\)?$/.exec(location) ?? [];
  if (file === undefined) return undefined;
  // Modules of a bundle have names relative to the project folder.
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

/** Returns a path relative to a folder, if it is in the folder. */
export function shortPath(path: string, folder: string): string {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) return path;
  const short = relative(folder, path);
  return short.startsWith("..") || short === "" ? path : short.replaceAll("\\", "/");
}

/** Formats a place: "src/workflows.ts:12". */
export const placeText = ({ file, line }: Place): string => `${file}:${line}`;
