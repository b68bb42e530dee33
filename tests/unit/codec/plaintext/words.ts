// The marker word of the plaintext scan. Everything that a codec must hide holds it: values,
// messages and frames of stacks.

export const MARK = "plainmark";

export const mark = (what: string): string => `${MARK} ${what}`;

/** Throws an error whose message, cause and stack have the marker. */
export function plainmarkFrame(
  make: (message: string, cause: Error) => Error,
  what: string,
): never {
  const cause = new Error(mark(`${what} cause`));
  throw make(mark(what), cause);
}
