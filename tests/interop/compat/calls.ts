// What both modules of the program write to: a run has a list of its own.
export const calls: string[] = [];
