// Location of a failed import in user modules: Node has it only in the stack of syntax and link
// errors, or not at all.
import { parse } from "acorn";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const isUsers = (path: string): boolean =>
  !path.includes("/node_modules/") && !/\/_temporalex_|\/(?:ts|dist)\/cli\/modules\//.test(path);

/** Returns "/path/a.mjs:3: " for an error of `import()`; "" if not known or part of the message. */
export function importErrorPlace(error: unknown, entry: URL): string {
  const { name, message, stack = "" } = error as {
    readonly name?: string;
    readonly message: string;
    readonly stack?: string;
  };
  if (/^(?:\/|[A-Za-z]:\\|file:).*?:\d+/.test(message)) return "";
  // V8 puts the location of a link error before the name, as does Node for CommonJS modules.
  const head = /^(?:file:\/\/)?(\/.*?|[A-Za-z]:\\.*?):(\d+)\n/.exec(stack);
  if (head !== null) return `${pathOf(head[1]!)}:${head[2]}: `;
  if (name === "SyntaxError") return syntaxPlace(entry);
  for (
    const [, path, line] of stack.matchAll(
      /^ {4}at .*?file:\/\/(\/[^:\n]*?)(?:\?[^:\n]*)?:(\d+):\d+\)?$/gm,
    )
  ) {
    if (isUsers(path!)) return `${pathOf(path!)}:${line}: `;
  }
  return "";
}

const pathOf = (path: string): string =>
  path.startsWith("/") ? fileURLToPath(`file://${path.replace(/\?.*$/, "")}`) : path;

function syntaxPlace(entry: URL): string {
  const path = fileURLToPath(new URL(entry.pathname, entry));
  try {
    parse(readFileSync(path, "utf8"), {
      ecmaVersion: "latest",
      sourceType: "module",
      allowHashBang: true,
    });
  } catch (e) {
    const { loc } = e as { readonly loc?: { readonly line: number; readonly column: number } };
    if (loc !== undefined) return `${path}:${loc.line}:${loc.column + 1}: `;
  }
  return "";
}
