// Builds a text from another one by copying and inserting, strictly from left to right.

export class SourceWriter {
  readonly #source: string;
  #at = 0;
  #parts: string[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  /** Copies up to a position. Throws a RangeError for a position before the current one. */
  copyTo(position: number): void {
    if (position < this.#at) throw new RangeError(`position ${position} lies before ${this.#at}`);
    if (position > this.#at) this.#parts.push(this.#source.slice(this.#at, position));
    this.#at = position;
  }

  put(text: string): void {
    this.#parts.push(text);
  }

  /** Skips up to a position. */
  skipTo(position: number): void {
    this.#at = position;
  }

  /** Returns the text so far. */
  written(): string {
    return this.#parts.join("");
  }

  finish(): string {
    this.copyTo(this.#source.length);
    return this.written();
  }
}
