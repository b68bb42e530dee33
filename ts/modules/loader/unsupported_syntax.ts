// Syntax that is valid TypeScript or JavaScript and that a module cannot have here, with its line.

/** The module uses a construct that the loader does not compile. The message has the construct and what to write instead. */
export class UnsupportedSyntaxError extends Error {
  override name = "UnsupportedSyntaxError";
  /** From 1. */
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/** What to write where a parser stops at syntax that it does not know; "" for other errors. `at`: the offset of the error. */
export function syntaxAdvice(message: string, text: string, at: number): string {
  if (message.includes("'@'") || text[at] === "@") return " (decorators are not supported: call the function yourself)";
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1).split("\n", 1)[0]!;
  if (/^\s*(?:static\s+)?accessor\s|[{;}]\s*(?:static\s+)?accessor\s/.test(line)) {
    return " (`accessor` fields are not supported: write a getter and a setter)";
  }
  return "";
}
