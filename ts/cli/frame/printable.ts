// Escapes external texts (payloads, messages, names) for terminals.
import { escapeControls } from "../../base/logger.ts";

/**
 * Escapes an external text for a terminal: control characters, which could move the cursor, and
 * bidirectional marks, which could reorder the line. Keeps line feeds and tabs: see {@link
 * printableLine}.
 */
export function printable(text: string): string {
  return text.replace(/[^\n\t]+/g, escapeControls);
}

/** Escapes an external text for one line: a line feed could forge a line of output. */
export const printableLine = (text: string): string => escapeControls(text);
