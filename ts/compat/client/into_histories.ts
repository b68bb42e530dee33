// Maps items concurrently and yields the results in the order of completion.

/** Yields the results of `turn` for the items as they complete; at most `concurrency` at a time. */
export async function* intoHistories<T, R>(
  items: AsyncIterable<T>,
  turn: (item: T) => Promise<R>,
  concurrency: number,
): AsyncGenerator<R, void, void> {
  const running = new Map<number, Promise<{ id: number; value: R }>>();
  const first = async (): Promise<R> => {
    const { id, value } = await Promise.race(running.values());
    running.delete(id);
    return value;
  };
  let next = 0;
  for await (const item of items) {
    const id = next++;
    const work = turn(item).then((value) => ({ id, value }));
    // Prevents an unhandled rejection: it is awaited below.
    work.catch(() => {});
    running.set(id, work);
    if (running.size >= Math.max(1, concurrency)) yield await first();
  }
  while (running.size > 0) yield await first();
}
