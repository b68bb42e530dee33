// Errors in queries. Positions count characters from 1.
import type { Token } from "./tokens.ts";

export class QueryError extends Error {
  constructor(message: string, at?: Token) {
    super(
      at === undefined ? message : `${message}; found ${describe(at)} at position ${at.position}`,
    );
  }
}

function describe(token: Token): string {
  switch (token.kind) {
    case "end":
      return "the end of the query";
    case "text":
      return `'${token.text}'`;
    default:
      return `"${token.text}"`;
  }
}
