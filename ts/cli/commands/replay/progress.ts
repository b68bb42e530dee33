// Progress of long work: an updated line on a terminal, otherwise a line every 10 s.
import type { Printer } from "../../frame/printer.ts";

const SHOWN_EVERY_MS = 100;
const TOLD_EVERY_MS = 10_000;

export class Progress {
  readonly #print: Printer;
  readonly #terminal: boolean;
  readonly #now: () => number;
  #next: number;

  constructor(print: Printer, terminal: boolean, now: () => number = () => performance.now()) {
    this.#print = print;
    this.#terminal = terminal;
    this.#now = now;
    this.#next = now() + this.#every;
  }

  get #every(): number {
    return this.#terminal ? SHOWN_EVERY_MS : TOLD_EVERY_MS;
  }

  /** `text` is called when progress is shown. */
  at(text: () => string): void {
    const now = this.#now();
    if (now < this.#next) return;
    this.#next = now + this.#every;
    if (this.#terminal) this.#print.progress(text());
    else this.#print.note(text());
  }

  /** Clears the line of a terminal. Call before other output, and at the end. */
  clear(): void {
    if (this.#terminal) this.#print.progress("");
  }
}
