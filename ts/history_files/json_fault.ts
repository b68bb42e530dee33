// Finds where a text stops being valid JSON. The messages of engines differ, may lack the position,
// and may quote the text, which can be confidential.
import { textPosition } from "./json_nesting.ts";

interface Level {
  readonly isList: boolean;
  /** Index or name of the current value. */
  at: number | string;
}

/**
 * "it ends in the middle, at line 3, in events[2] (was it cut off?)", "unexpected character (line
 * 1, column 2)".
 */
export function jsonFault(text: string): string {
  const { at, levels } = new Scanner(text).run();
  const path = levels.map(({ isList, at }, i) =>
    isList ? `[${at}]` : i === 0 || at === "" ? String(at) : `.${at}`
  ).join("");
  const inside = path === "" ? "" : `, in ${path.length > 160 ? `${path.slice(0, 157)}...` : path}`;
  if (at >= text.trimEnd().length) {
    return `it ends unexpectedly at line ${
      text.split("\n").length
    }${inside} (the file may be truncated)`;
  }
  return `unexpected character${inside} ${textPosition(text, at)}`;
}

/** Expects a text that is not nested too deep. */
class Scanner {
  readonly #text: string;
  readonly #levels: Level[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the position of the first invalid character, and the value that contains it. */
  run(): { at: number; levels: readonly Level[] } {
    for (;;) {
      this.#space();
      if (!this.#valueBegins()) break;
      // After a value: read the end of its parents, or the next value.
      let more = false;
      for (;;) {
        this.#space();
        const level = this.#levels.at(-1);
        if (level === undefined) return { at: this.#at, levels: [] };
        if (this.#takes(",")) {
          if (level.isList) level.at = Number(level.at) + 1;
          more = level.isList || this.#key(level);
          break;
        }
        if (!this.#takes(level.isList ? "]" : "}")) break;
        this.#levels.pop();
      }
      if (!more) break;
    }
    return { at: this.#at, levels: this.#levels };
  }

  /**
   * Reads a value, or the start of a nested value up to its first element. Returns whether the
   * value is complete; an empty list or object is.
   */
  #valueBegins(): boolean {
    for (;;) {
      this.#space();
      if (this.#takes("[")) {
        this.#space();
        if (this.#takes("]")) return true;
        this.#levels.push({ isList: true, at: 0 });
      } else if (this.#takes("{")) {
        this.#space();
        if (this.#takes("}")) return true;
        const level: Level = { isList: false, at: "" };
        this.#levels.push(level);
        if (!this.#key(level)) return false;
      } else return this.#scalar();
    }
  }

  #key(level: Level): boolean {
    this.#space();
    const start = this.#at;
    if (!this.#string()) return false;
    level.at = this.#text.slice(start + 1, this.#at - 1);
    this.#space();
    return this.#takes(":");
  }

  #scalar(): boolean {
    if (this.#text[this.#at] === '"') return this.#string();
    const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
    scalar.lastIndex = this.#at;
    const [found] = scalar.exec(this.#text) ?? [];
    if (found === undefined) return false;
    this.#at += found.length;
    return true;
  }

  #string(): boolean {
    if (!this.#takes('"')) return false;
    const text = this.#text;
    for (; this.#at < text.length; this.#at++) {
      const code = text.charCodeAt(this.#at);
      if (code < 0x20) return false;
      if (code === 0x22) {
        this.#at++;
        return true;
      }
      if (code !== 0x5c) continue;
      const escape = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y;
      escape.lastIndex = this.#at + 1;
      const [found] = escape.exec(text) ?? [];
      if (found === undefined) return false;
      this.#at += found.length;
    }
    return false;
  }

  #takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #space(): void {
    while (/[ \t\n\r]/.test(this.#text[this.#at] ?? "")) this.#at++;
  }
}
