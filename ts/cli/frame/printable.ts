// Texts from elsewhere (payloads, messages, names) on a terminal.

// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** A text from elsewhere, as a terminal may show it: control characters (which could move the cursor, or rename the window) are written out. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
