// Where workflow code called the API: the first frame of a stack that is not ours. Taking a stack costs about 6 us, so it is done only
// when it is asked for (debug sessions, the pass after a divergence) or when an error is about to be reported anyway.

/** Folder (or bundle) of this package; frames in it are not the user's. */
const own = import.meta.url.replace(/executor\/call_site\.[jt]s.*$/, "");

/** The user's frames of a stack, without the error's name and message. */
export function userFrames(stack: string | undefined): string[] {
  const lines = (stack ?? "").split("\n").filter((line) => /^\s+at |@.*:\d+:\d+$/.test(line));
  const theirs = lines.filter((line) => !line.includes(own) && !/\bnode:|\bext:|\(<anonymous>\)$/.test(line));
  return theirs.map((line) => line.trim().replace(/^at /, ""));
}

/** "function (file:line:column)" of the nearest frame of the user, or "" when there is none. */
export function userFrame(stack: string | undefined): string {
  return userFrames(stack)[0] ?? "";
}

/** The call site of whoever called into the API now. */
export function callSite(): string {
  return userFrame(new Error().stack);
}
