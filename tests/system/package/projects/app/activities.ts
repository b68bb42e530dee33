export async function charge(customer: string, items: string[]): Promise<string> {
  return `${customer} pays for ${items.join(" and ")}`;
}

/** For a separate thread: computes without a pause. */
export function fibonacci(n: number): number {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
