// Reads source maps as tools do: maps a line of the generated file to a source and its line.

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

export class Decoder {
  readonly #sources: readonly string[];
  readonly #contents: readonly (string | null)[];
  /** By generated line: the source position of its first segment. */
  readonly #lines: ({ source: string; line: number } | undefined)[] = [];

  constructor(map: string) {
    const { version, sources, sourcesContent, mappings } = JSON.parse(map) as {
      version: number;
      sources: string[];
      sourcesContent: (string | null)[];
      mappings: string;
    };
    if (version !== 3) throw new Error(`a map of revision ${version}`);
    this.#sources = sources;
    this.#contents = sourcesContent;
    let source = 0, line = 0;
    for (const pieces of mappings.split(";")) {
      const [, bySource, byLine] = numbers(pieces.split(",")[0]!);
      if (bySource === undefined || byLine === undefined) this.#lines.push(undefined);
      else {
        source += bySource;
        line += byLine;
        this.#lines.push({ source: this.#sources[source]!, line });
      }
    }
  }

  /** Lines count from 0. */
  original(line: number): { source: string; line: number } | undefined {
    return this.#lines[line];
  }

  content(source: string): string | null | undefined {
    return this.#contents[this.#sources.indexOf(source)];
  }
}

function numbers(text: string): number[] {
  const found: number[] = [];
  let value = 0, shift = 0;
  for (const character of text) {
    const digit = DIGITS.indexOf(character);
    value |= (digit & 31) << shift;
    shift += 5;
    if ((digit & 32) !== 0) continue;
    found.push((value & 1) === 1 ? -(value >> 1) : value >> 1);
    value = shift = 0;
  }
  return found;
}
