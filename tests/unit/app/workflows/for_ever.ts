// Durations that are longer than protobuf can express: a way to write "for ever".
import { activities, on, receive, signal, stop, workflow } from "../../../../ts/workflow/mod.ts";

export const wake = signal("wake");
const calls = activities<{ one(): number }>({
  startToClose: Number.MAX_SAFE_INTEGER,
  scheduleToClose: 1e18,
});

export const forEver = workflow("ForEver", {
  async run(): Promise<number> {
    const result = await calls.one();
    await receive(0, [on(wake, () => stop(0))], { timeout: Number.MAX_SAFE_INTEGER });
    return result;
  },
});
