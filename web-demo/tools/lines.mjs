// Which piece of the bundled workflows came from which line of an example: read from the source map, and kept as the few kilobytes that the
// debugger needs of it.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { join } from "node:path";

/** Writes lines.json beside the page. */
export function writeLines(dist) {
  const assets = join(dist, "assets");
  const table = {};
  for (const file of readdirSync(assets).filter((name) => name.endsWith(".js.map"))) {
    const payload = JSON.parse(readFileSync(join(assets, file), "utf8"));
    const example = (source) => /examples\/\w+\/workflow\.ts$/.exec(source ?? "")?.[0];
    if (!payload.sources.some(example)) continue;
    const bundle = file.replace(/\.map$/, "");
    const map = new SourceMap(payload);
    const sources = [];
    const pieces = [];
    readFileSync(join(assets, bundle), "utf8").split("\n").forEach((text, line) => {
      let last = "";
      for (let column = 0; column < text.length; column++) {
        const { originalSource, originalLine } = map.findEntry(line, column);
        const name = example(originalSource);
        if (name !== undefined && !sources.includes(name)) sources.push(name);
        const piece = name === undefined ? [-1, 0] : [sources.indexOf(name), originalLine];
        if (String(piece) === last) continue;
        last = String(piece);
        pieces.push([line, column, ...piece]);
      }
    });
    table[bundle] = { sources, pieces };
  }
  if (Object.keys(table).length === 0) throw new Error("no source map of the bundle mentions an example");
  writeFileSync(join(dist, "lines.json"), JSON.stringify(table));
}
