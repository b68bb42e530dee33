export const lineId = (line: number): string => `line-${line}`;
