// What modules note while they are evaluated.
export const seen: string[] = [];
