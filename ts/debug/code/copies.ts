// Copies of values as the replay recorded them, decoded when they are shown.
import type { LineTrace } from "../../executor/tasks/line_records.ts";
import type { CopiedValue } from "./types.ts";

const MAX_TEXT = 4096;

export class Copies {
  readonly #texts: LineTrace["texts"];
  readonly #cut: ReadonlySet<number>;
  readonly #read = new Map<number, CopiedValue>();

  constructor({ texts, cut }: Pick<LineTrace, "texts" | "cut">) {
    this.#texts = texts;
    this.#cut = new Set(cut);
  }

  /** Returns the copy with this index in the trace's texts; undefined for -1. */
  of(index: number): CopiedValue | undefined {
    const text = this.#texts[index];
    if (text === undefined) return undefined;
    let known = this.#read.get(index);
    if (known === undefined) {
      this.#read.set(index, known = { value: parsed(text), text, cut: this.#cut.has(index) });
    }
    return known;
  }

  /** Functions are not shown as values next to a line. */
  isFunction(index: number): boolean {
    return this.#texts[index]?.startsWith('"<function') === true;
  }
}

function parsed(text: string): unknown {
  if (text === '"<undefined>"') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns plain data decoded from history as a copy. */
export function copyValue(value: unknown): CopiedValue {
  let text: string;
  try {
    text = JSON.stringify(value) ?? '"<undefined>"';
  } catch {
    text = JSON.stringify(String(value));
  }
  const cut = text.length > MAX_TEXT;
  return { value, text: cut ? `${text.slice(0, MAX_TEXT - 1)}…` : text, cut };
}
