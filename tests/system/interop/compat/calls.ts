// The list that both modules of the program append to: each run has a separate list.
export const calls: string[] = [];
