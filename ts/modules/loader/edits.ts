// Replacements in a text, by offset, applied at once. Line breaks of removed text stay, so that
// every line keeps its number.

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export class Edits {
  readonly #text: string;
  readonly #edits: Edit[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  replace(start: number, end: number, text: string): void {
    this.#edits.push({ start, end, text: text + this.#breaks(start, end, text) });
  }

  remove(start: number, end: number): void {
    this.replace(start, end, "");
  }

  insert(at: number, text: string): void {
    // Two calls that begin adjacent statements may request the same insertion.
    if (this.#edits.some((e) => e.start === at && e.end === at && e.text === text)) return;
    this.#edits.push({ start: at, end: at, text });
  }

  #breaks(start: number, end: number, text: string): string {
    const count = (s: string) => s.split("\n").length - 1;
    return "\n".repeat(Math.max(0, count(this.#text.slice(start, end)) - count(text)));
  }

  apply(): string {
    const edits = [...this.#edits].sort((a, b) => a.start - b.start || a.end - b.end);
    let out = "";
    let at = 0;
    for (const { start, end, text } of edits) {
      out += this.#text.slice(at, start) + text;
      at = end;
    }
    return out + this.#text.slice(at);
  }
}
