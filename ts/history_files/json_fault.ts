// Where a text stops being JSON. Engines say it in their own words, some without a place, and some with a piece of the text, which may be
// what nobody else is to read.
import { textPosition } from "./json_nesting.ts";

interface Level {
  readonly isList: boolean;
  /** Index, or name, of the value that is read. */
  at: number | string;
}

/** "it ends in the middle, at line 3, in events[2] (was it cut off?)", "unexpected character (line 1, column 2)". */
export function jsonFault(text: string): string {
  const { at, levels } = new Scanner(text).run();
  const path = levels.map(({ isList, at }, i) => isList ? `[${at}]` : i === 0 || at === "" ? String(at) : `.${at}`).join("");
  const inside = path === "" ? "" : `, in ${path.length > 160 ? `${path.slice(0, 157)}...` : path}`;
  if (at >= text.trimEnd().length) {
    return `it ends unexpectedly at line ${text.split("\n").length}${inside} (the file may be truncated)`;
  }
  return `unexpected character${inside} ${textPosition(text, at)}`;
}

/** Of a text that is not nested too deep. */
class Scanner {
  readonly #text: string;
  readonly #levels: Level[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Where the first character is that no JSON has there, and in which value it is. */
  run(): { at: number; levels: readonly Level[] } {
    for (;;) {
      this.#space();
      if (!this.#valueBegins()) break;
      // After a value: what ends with it, and what comes next.
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

  /** Reads a value, or the beginning of one with others in it up to its first one. An empty list or object is a whole value. */
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
