// Results on standard output, as text or JSON. Other output (progress, hints, warnings) goes to
// standard error, or nowhere if a program reads the results.
import type { Io } from "../io.ts";
import { printable, printableLine } from "./printable.ts";

export type Format = "text" | "json" | "jsonl" | "none";

export type Color = "red" | "green" | "yellow" | "blue" | "cyan" | "dim" | "bold";

const CODES: { readonly [color in Color]: number } = {
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  cyan: 36,
  dim: 2,
  bold: 1,
};

export interface Column<Row> {
  readonly title: string;
  /** Returns the cell's text, on one line. */
  cell(row: Row): string;
  /** Aligns to the right, for numbers. */
  readonly right?: boolean;
  /** Returns a shorter cell for tables wider than the terminal. Default: `cell`. */
  narrow?(row: Row): string;
  color?(row: Row): Color | undefined;
}

/** Converts values for `JSON.stringify`: bigints to text, bytes to base64. */
function plain(_: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Uint8Array) {
    return btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join(""));
  }
  return value;
}

export class Printer {
  readonly format: Format;
  readonly #io: Io;
  readonly #colors: boolean;
  #rows: unknown[] | undefined;
  /** True while a progress line is on the terminal. */
  #shown = false;

  constructor(io: Io, format: Format, colors: boolean) {
    this.#io = io;
    this.format = format;
    this.#colors = colors;
  }

  /** True for JSON output. */
  get json(): boolean {
    return this.format === "json" || this.format === "jsonl";
  }

  paint(text: string, color: Color | undefined): string {
    return this.#colors && color !== undefined ? `\x1b[${CODES[color]}m${text}\x1b[0m` : text;
  }

  /** Escapes control characters, except the color codes of `paint`. */
  #printable(text: string, escape: (text: string) => string = printable): string {
    if (!this.#colors) return escape(text);
    // deno-lint-ignore no-control-regex
    return text.split(/(\x1b\[(?:[012]|3[1-46])m)/).map((part, i) =>
      i % 2 === 1 ? part : escape(part)
    ).join("");
  }

  /** Writes the only result of a command. `text` must end its lines. */
  result(value: unknown, text: () => string): void {
    this.#wipe();
    if (this.format === "text") this.#io.out(this.#printable(text()));
    else if (this.format === "json") this.#io.out(`${JSON.stringify(value, plain, 2)}\n`);
    else if (this.format === "jsonl") this.#io.out(`${JSON.stringify(value, plain)}\n`);
  }

  /**
   * Writes one of several results; call `end` after the last one. JSON: one list; JSON lines: a
   * line each.
   */
  item(value: unknown, text: () => string): void {
    if (this.format !== "json") return this.result(value, text);
    this.#io.out(
      `${this.#rows === undefined ? "[" : ","}\n${
        JSON.stringify(value, plain, 2).replace(/^/gm, "  ")
      }`,
    );
    this.#rows = [];
  }

  /** Ends the list of `item`; writes an empty list without items. */
  end(): void {
    if (this.format !== "json") return;
    this.#io.out(this.#rows === undefined ? "[]\n" : "\n]\n");
    this.#rows = undefined;
  }

  /**
   * Formats a table with titles. On a terminal, wide tables use narrow cells, and the last column
   * is cut off.
   */
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
    return this.pages(columns)(rows);
  }

  /**
   * Same as `table` for rows in pages: titles precede the first page, which determines the widths.
   */
  pages<Row>(columns: readonly Column<Row>[]): (rows: readonly Row[]) => string {
    const last = columns.length - 1;
    const titles = columns.map(({ title }) => printableLine(title));
    let widths: number[] | undefined;
    let narrow = false;
    return (rows) => {
      const cellsOf = () =>
        rows.map((row) =>
          columns.map((column) =>
            printableLine(
              narrow && column.narrow !== undefined ? column.narrow(row) : column.cell(row),
            )
          )
        );
      const widthsOf = () =>
        titles.map((title, i) => Math.max(title.length, ...cells.map((line) => line[i]!.length)));
      const titled = widths === undefined;
      let cells = cellsOf();
      if (widths === undefined) {
        widths = widthsOf();
        narrow = this.#io.terminal &&
          widths.reduce((sum, width) => sum + width + 2, -2) > this.#io.width;
        if (narrow) {
          cells = cellsOf();
          widths = widthsOf();
        }
      }
      const wide = widths;
      const room = Math.max(
        12,
        this.#io.width - wide.slice(0, last).reduce((sum, width) => sum + width + 2, 0),
      );
      const align = (text: string, i: number) => {
        if (i < last) {
          return columns[i]!.right === true ? text.padStart(wide[i]!) : text.padEnd(wide[i]!);
        }
        return this.#io.terminal && text.length > room ? `${text.slice(0, room - 3)}...` : text;
      };
      const lines = cells.map((line, r) =>
        line.map((cell, i) => this.paint(align(cell, i), columns[i]!.color?.(rows[r]!)))
      );
      if (titled) lines.unshift(titles.map((title, i) => this.paint(align(title, i), "bold")));
      return lines.map((line) => `${line.join("  ").trimEnd()}\n`).join("");
    };
  }

  /**
   * Formats names and values; several lines are a list. Leaves out undefined values and empty
   * lists.
   */
  fields(
    fields: readonly (readonly [name: string, value: string | readonly string[] | undefined])[],
  ): string {
    const shown = fields.flatMap(([name, value]) => {
      const lines = typeof value === "string" ? [value] : value ?? [];
      return lines.length === 0 ? [] : [[name, lines] as const];
    });
    const width = Math.max(0, ...shown.map(([name]) => name.length));
    return shown.map(([name, values]) => {
      const lines = values.map((value) => this.#printable(value, printableLine));
      return `${this.paint(name.padEnd(width), "bold")}  ${
        lines.join(`\n${" ".repeat(width + 2)}`)
      }\n`;
    }).join("");
  }

  /** Writes a note to standard error, only in text output. */
  note(text: string): void {
    this.#wipe();
    if (this.format === "text") this.#io.err(`${printable(text)}\n`);
  }

  /** Writes a warning of one line to standard error. */
  warn(text: string): void {
    this.#wipe();
    this.#io.err(
      this.json
        ? `${JSON.stringify({ warning: text })}\n`
        : `${this.#io.errColors ? `\x1b[33mwarning:\x1b[0m` : "warning:"} ${printable(text)}\n`,
    );
  }

  /**
   * Shows progress on one line of standard error, only on a terminal. "" clears the line, as do
   * results, notes and warnings.
   */
  progress(text: string): void {
    if (this.format !== "text" || !this.#io.errTerminal) return;
    this.#shown = text !== "";
    this.#io.err(`\r\x1b[2K${printableLine(text).slice(0, Math.max(10, this.#io.width - 1))}`);
  }

  #wipe(): void {
    if (this.#shown) this.progress("");
  }
}
