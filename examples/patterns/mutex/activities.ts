// A printer that two callers must not use at the same time.
export async function print(_document: string): Promise<void> {}
