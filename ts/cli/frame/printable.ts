// Texts from elsewhere (payloads, messages, names) on a terminal.
import { escapeControls } from "../../base/logger.ts";

/**
 * Returns a text from elsewhere as a terminal may show it. Control characters, which could move the cursor, and marks of writing
 * direction, which could reorder the line, become escape sequences. Line feeds and tabs stay: see {@link printableLine}.
 */
export function printable(text: string): string {
  return text.replace(/[^\n\t]+/g, escapeControls);
}

/** Returns a text from elsewhere on one line: a line feed in it could forge a line of the output. */
export const printableLine = (text: string): string => escapeControls(text);
