/** A megabyte of text. */
export const write = (part: number): Promise<string> =>
  Promise.resolve(`${part}`.repeat(1_000_000));
