// The source map of a bundle (revision 3). It maps lines only, because modules keep their lines.
// Package texts that the bundle contains unchanged are not repeated.
import type { BundledModule } from "./format.ts";

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PREFIX = "//# sourceMappingURL=data:application/json;charset=utf-8;base64,";

/** Returns the map as JSON. `begins`: per module, the number of lines of the bundle before it. */
export function sourceMapOf(modules: readonly BundledModule[], begins: readonly number[]): string {
  const mappings: string[] = [];
  let source = 0, line = 0;
  modules.forEach(({ text }, index) => {
    while (mappings.length < begins[index]!) mappings.push("");
    const lines = text.split("\n").length;
    for (let own = 0; own < lines; own++) {
      mappings.push(`A${vlq(index - source)}${vlq(own - line)}A`);
      source = index;
      line = own;
    }
  });
  return JSON.stringify({
    version: 3,
    sources: modules.map(({ name }) => name),
    sourcesContent: modules.map(({ name, text, original }) =>
      original ?? (name.startsWith("node_modules/") ? null : text)
    ),
    names: [],
    mappings: mappings.join(";"),
  });
}

/** Returns the comment by which tools find the map in the file itself. */
export function inlineMap(sourceMap: string): string {
  const bytes = new TextEncoder().encode(sourceMap);
  let binary = "";
  for (let i = 0; i < bytes.length; i += 8192) {
    binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
  }
  return `${PREFIX}${btoa(binary)}\n`;
}

function vlq(value: number): string {
  let rest = value < 0 ? (-value << 1) | 1 : value << 1;
  let text = "";
  do {
    const digit = rest & 31;
    rest >>>= 5;
    text += DIGITS[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return text;
}
