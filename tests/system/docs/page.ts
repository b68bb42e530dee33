// A page of the documentation as a project: its fenced blocks are files, commands and what the
// commands print.
//
//   ```ts      the first line names the file: `// workflows.ts`. A later block of the same name replaces it.
//   ```json    the info string names the file: ```json deno.json
//   ```sh      commands, run in the page's folder. `setup` in the info string: shown, not run (it would install something).
//   ```text browser page.ts   what a browser's console says when it loads that file, bundled.
//   ```text    directly after a command block: its output. A line `...` matches any lines, `...` in a line matches any text.
//
// Everything else (tables, mermaid, console excerpts marked `console`) is for reading.

export interface Block {
  readonly kind: "file" | "run" | "setup" | "browser";
  /** Line in the page, for messages. */
  readonly line: number;
  readonly name: string;
  readonly text: string;
  /** Of a run: what it must print. */
  readonly prints?: string;
}

/**
 * The blocks of a page in their order. A block that would escape the tests (no file name) is an
 * error.
 */
export function readPage(markdown: string): Block[] {
  const blocks: Block[] = [];
  for (const match of markdown.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)) {
    const [language = "", ...info] = match[1]!.trim().split(/\s+/);
    const text = match[2]!;
    const line = markdown.slice(0, match.index).split("\n").length;
    if (language === "ts" || language === "js") {
      const name = /^\/\/ (\S+\.[jt]s)\b/.exec(text)?.[1];
      if (name === undefined) {
        throw new Error(`line ${line}: the first line of a ${language} block names its file`);
      }
      blocks.push({ kind: "file", line, name, text });
    } else if (language === "json" || language === "toml") {
      if (info[0] === undefined) {
        throw new Error(`line ${line}: the info string of a ${language} block names its file`);
      }
      blocks.push({ kind: "file", line, name: info[0], text });
    } else if (language === "sh") {
      blocks.push({
        kind: info.includes("setup") ? "setup" : "run",
        line,
        name: text.trim().split("\n")[0]!,
        text,
      });
    } else if (language === "text" && info[0] === "browser") {
      blocks.push({ kind: "browser", line, name: info[1]!, text: "", prints: text });
    } else if (language === "text") {
      const last = blocks.at(-1);
      if (last?.kind !== "run") {
        throw new Error(`line ${line}: a text block follows the commands that print it`);
      }
      blocks[blocks.length - 1] = { ...last, prints: text };
    }
  }
  return blocks;
}

/** The first line that differs from what was expected; undefined when all is as written. */
export function difference(expected: string, printed: string): string | undefined {
  const lines = printed.trimEnd().split("\n");
  const wanted = expected.trimEnd().split("\n");
  let at = 0;
  for (let i = 0; i < wanted.length; i++) {
    if (wanted[i]!.trim() === "...") {
      const next = wanted[i + 1];
      if (next === undefined) return undefined;
      while (at < lines.length && !fits(next, lines[at]!)) at++;
      continue;
    }
    if (at >= lines.length) return `"${wanted[i]}" was expected, and nothing more was printed`;
    if (!fits(wanted[i]!, lines[at]!)) {
      return `"${wanted[i]}" was expected, and "${lines[at]}" was printed`;
    }
    at++;
  }
  return at < lines.length
    ? `"${lines[at]}" was printed behind the end of what was expected`
    : undefined;
}

function fits(pattern: string, line: string): boolean {
  const quoted = pattern.split("...").map((part) =>
    part.trimEnd().replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  );
  return new RegExp(`^${quoted.join(".*")}\\s*$`).test(line);
}
