// A provider of quotes that takes some time, and stops when it is canceled.
import { heartbeat, sleep } from "temporalex/activity";

export async function quote(provider: string, seconds: number): Promise<string> {
  for (let passed = 0; passed < seconds; passed++) {
    heartbeat();
    await sleep("1s");
  }
  return `quote of ${provider}`;
}
