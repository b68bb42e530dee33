// The samples that the page brings along.
import { openBytes } from "./doors.ts";

/** Opens a sample by its id. */
export async function openSample(id: string): Promise<void> {
  const { samples } = await import("../debugger/samples.ts");
  const sample = samples.find((known) => known.id === id);
  if (sample === undefined) return;
  await openBytes(`${sample.name} (sample)`, new TextEncoder().encode(sample.text), { key: `sample:${id}` });
}
