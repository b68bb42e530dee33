// Maps lines of a generated module to its sources by its source map (revision 3), for debug
// sessions. The map is in the text or in a file that the host can read. With a damaged map the
// module is shown unmapped.
import type { SourceHost } from "./source_host.ts";

/** For each line (from 1): index of the source, and the line there. */
export interface Origins {
  readonly origins: readonly (readonly [number, number] | null)[];
  readonly sources: readonly string[];
}

const COMMENT = /^\/\/[#@] ?sourceMappingURL=(\S+)\s*$/gm;
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Returns undefined if the module has no source map. */
export function originsOf(url: string, text: string, host: SourceHost): Origins | undefined {
  const reference = [...text.matchAll(COMMENT)].at(-1)?.[1];
  if (reference === undefined) return undefined;
  try {
    const json = reference.startsWith("data:")
      ? inlined(reference)
      : host.read(new URL(reference, url).href);
    return json === undefined ? undefined : originsOfMap(JSON.parse(json) as SourceMap);
  } catch {
    return undefined;
  }
}

interface SourceMap {
  readonly version?: unknown;
  readonly sources?: unknown;
  readonly sourceRoot?: unknown;
  readonly mappings?: unknown;
}

function inlined(reference: string): string {
  const comma = reference.indexOf(",");
  const data = decodeURIComponent(reference.slice(comma + 1));
  if (!/;base64$/.test(reference.slice(0, comma))) return data;
  return new TextDecoder().decode(Uint8Array.from(atob(data), (char) => char.charCodeAt(0)));
}

function originsOfMap({ version, sources, sourceRoot, mappings }: SourceMap): Origins | undefined {
  if (version !== 3 || !Array.isArray(sources) || typeof mappings !== "string") return undefined;
  const root = typeof sourceRoot === "string" && sourceRoot !== ""
    ? `${sourceRoot.replace(/\/$/, "")}/`
    : "";
  const origins: ([number, number] | null)[] = [null];
  let source = 0, line = 0;
  for (const group of mappings.split(";")) {
    let first: [number, number] | null = null;
    for (const segment of group.split(",")) {
      const [, toSource, toLine] = numbers(segment);
      if (toSource === undefined || toLine === undefined) continue;
      source += toSource;
      line += toLine;
      if (source >= 0 && source < sources.length && line >= 0) first ??= [source, line + 1];
    }
    origins.push(first);
  }
  return { origins, sources: sources.map((each) => `${root}${String(each)}`) };
}

/** Decodes Base64 VLQ. */
function numbers(segment: string): number[] {
  const found: number[] = [];
  let value = 0, shift = 0;
  for (const char of segment) {
    const digit = DIGITS.indexOf(char);
    if (digit < 0) throw new Error("invalid source map");
    value |= (digit & 31) << shift;
    shift += 5;
    if ((digit & 32) !== 0) continue;
    found.push(value & 1 ? -(value >>> 1) : value >>> 1);
    value = shift = 0;
  }
  return found;
}
