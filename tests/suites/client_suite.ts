// Every call of the client, end to end: the same tests run on the embedded engine (memory and file)
// and on a Temporal cluster.
import type { OnService } from "../support/services.ts";
import { broadcastsTests } from "./client_broadcasts.ts";
import { callsTests } from "./client_calls.ts";
import { proceduresTests } from "./client_procedures.ts";
import { updatesTests } from "./client_updates.ts";

export function clientSuite(check: OnService): void {
  for (
    const [name, body] of Object.entries({
      ...callsTests,
      ...updatesTests,
      ...proceduresTests,
      ...broadcastsTests,
    })
  ) {
    check(name, body);
  }
}
