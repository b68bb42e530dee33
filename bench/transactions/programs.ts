// Workflows of bench/transactions.ts.
import {
  noreply,
  on,
  receive,
  reducers,
  signal,
  transact,
  workflow,
} from "../../ts/workflow/mod.ts";

const { row } = reducers<typeof import("./reducers.ts")>();
export const said = signal("said");

/** Counts signals. */
export const counts = workflow(
  "counts",
  async () => await receive(0, [on(said, (_, n) => noreply(n + 1))]),
);

/** Writes rows, each awaited. */
export const writes = workflow("writes", async (rows: number) => {
  for (let i = 0; i < rows; i++) await transact(row, i);
});
