// Splits lines into colored pieces for the code pane.
import { type DurableNames, durableNames, kindOf, type NameKind } from "./durable_names.ts";
import { TokenizedFile } from "../../../ts/run_view/code_tokens.ts";

/** The look of a piece: plain, gray italics, a quieter ink, bold, or the color of a kind. */
export type PieceLook = "" | "comment" | "string" | "keyword" | NameKind;

export interface Piece {
  readonly look: PieceLook;
  readonly text: string;
}

/** A highlighted file. */
export class HighlightedFile {
  readonly lines: readonly string[];
  readonly tokens: TokenizedFile;
  readonly #names: DurableNames;
  readonly #pieces = new Map<number, readonly Piece[]>();
  #columns = 0;

  constructor(text: string, others: readonly string[] = []) {
    this.tokens = new TokenizedFile(text);
    this.#names = durableNames(text, others);
    this.lines = this.tokens.lines;
  }

  /** Length of the longest line, in characters; a tab counts as two. */
  get columns(): number {
    if (this.#columns === 0) {
      for (const line of this.lines) {
        this.#columns = Math.max(this.#columns, line.length + (line.split("\t").length - 1));
      }
    }
    return this.#columns;
  }

  /** The pieces of a line, from 1. */
  pieces(line: number): readonly Piece[] {
    let pieces = this.#pieces.get(line);
    if (pieces === undefined) {
      pieces = this.#piecesOf(line);
      this.#pieces.set(line, pieces);
    }
    return pieces;
  }

  #piecesOf(line: number): Piece[] {
    const pieces: Piece[] = [];
    const add = (look: PieceLook, text: string) => {
      const last = pieces.at(-1);
      if (last?.look === look) pieces[pieces.length - 1] = { look, text: last.text + text };
      else pieces.push({ look, text });
    };
    /** The last two tokens that are not spaces: `shop`, `.` */
    let object = "";
    let dotted = "";
    for (const { kind, text } of this.tokens.tokens(line)) {
      if (kind === "word") {
        add(kindOf(text, dotted, this.#names) ?? "", text);
        object = text;
        dotted = "";
        continue;
      }
      add(kind === "plain" ? "" : kind, text);
      if (kind !== "plain") object = dotted = "";
      else if (text.trim() !== "") {
        // The text before the dot is not a name, for example a call: the kind of the member is
        // unknown.
        const isMember = /^\s*\??\.\s*$/.test(text);
        dotted = isMember ? object : /\.\s*$/.test(text) && !text.trim().endsWith("...") ? " " : "";
        object = "";
      }
    }
    return pieces;
  }
}
