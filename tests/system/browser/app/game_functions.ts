// Functions of the application of the test page, which its tabs call by name.
import type { Transaction } from "../../../../ts/mod.ts";
import { hunts, killed } from "../../../unit/app/game/workflows.ts";

export function hunt(db: Transaction, id: string, kind: string): string {
  db.run("INSERT INTO combat_log (line) VALUES (?)", `hunt of ${kind}`);
  return db.workflows.start(hunts, { id, args: [kind] });
}

export function kill(db: Transaction, kind: string, by: string): number {
  db.run("INSERT INTO combat_log (line) VALUES (?)", `${kind} killed`);
  return db.workflows.broadcast(killed, kind, by);
}

export function killUnknown(db: Transaction): never {
  db.run("INSERT INTO combat_log (line) VALUES ('unknown')");
  db.workflows.start(hunts, { id: "never", args: ["unknown"] });
  throw new RangeError("no such target");
}
