/** The id of a line's element. */
export const lineId = (line: number): string => `line-${line}`;
