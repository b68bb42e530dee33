// The Huffman code of HTTP/2's header fields (RFC 7541, appendix B). It is canonical: codes of one
// length are in the order of their symbols, and longer ones follow shorter ones, so the lengths
// define it.

/**
 * Code length of each byte in bits, in base 36, without the end-of-string symbol, which is never
 * sent.
 */
const LENGTHS =
  "dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad67777777777777777777777878djde6f56565666577666567655677" +
  "777fbedskmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmnqqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq";
const LONGEST = 30;

interface Table {
  /** By length: first code, number of codes, and start of their symbols. */
  readonly first: Int32Array;
  readonly count: Int32Array;
  readonly offset: Int32Array;
  readonly symbols: Uint8Array;
}

let made: Table | undefined;

function table(): Table {
  const lengths = [...LENGTHS].map((digit) => parseInt(digit, 36));
  const [first, count, offset] = [0, 0, 0].map(() => new Int32Array(LONGEST + 1)) as [
    Int32Array,
    Int32Array,
    Int32Array,
  ];
  const symbols = new Uint8Array(lengths.length);
  for (let length = 1, code = 0, at = 0; length <= LONGEST; length++) {
    code <<= 1;
    first[length] = code;
    offset[length] = at;
    lengths.forEach((each, symbol) => {
      if (each === length) symbols[at++] = symbol;
    });
    count[length] = at - offset[length]!;
    code += count[length]!;
  }
  return { first, count, offset, symbols };
}

/** Returns the decoded text (a character for a byte); undefined for an invalid code. */
export function unhuffman(bytes: Uint8Array, start: number, end: number): string | undefined {
  const { first, count, offset, symbols } = made ??= table();
  let text = "";
  let code = 0;
  let length = 0;
  for (let at = start; at < end; at++) {
    for (let bit = 7; bit >= 0; bit--) {
      code = code << 1 | bytes[at]! >> bit & 1;
      const index = code - first[++length]!;
      if (index < count[length]!) {
        text += String.fromCharCode(symbols[offset[length]! + index]!);
        code = length = 0;
      } else if (length === LONGEST) return undefined;
    }
  }
  // The rest is a prefix of the end-of-string symbol of less than a byte.
  return length < 8 && code === (1 << length) - 1 ? text : undefined;
}
