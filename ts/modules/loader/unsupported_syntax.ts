// Valid TypeScript or JavaScript that workflow modules cannot use, with its line.

/**
 * Thrown for a construct that the loader does not compile. The message names the construct and an
 * alternative.
 */
export class UnsupportedSyntaxError extends Error {
  override name = "UnsupportedSyntaxError";
  /** From 1. */
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/**
 * Returns advice for a parser's error at unsupported syntax; "" for other errors. `at`: offset of
 * the error.
 */
export function syntaxAdvice(message: string, text: string, at: number): string {
  if (message.includes("'@'") || text[at] === "@") {
    return " (decorators are not supported: call the function yourself)";
  }
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1).split("\n", 1)[0]!;
  if (/^\s*(?:static\s+)?accessor\s|[{;}]\s*(?:static\s+)?accessor\s/.test(line)) {
    return " (`accessor` fields are not supported: write a getter and a setter)";
  }
  return "";
}
