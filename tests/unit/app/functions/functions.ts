// Functions of the application of the tests of client.call.
import { ApplicationFailure, type Transaction } from "../../../../ts/mod.ts";
import { listener, said } from "../transactions/workflows.ts";

/** Writes a row and signals a workflow; returns the number of rows. */
export function sayLine(db: Transaction, id: string, line: string): { rows: number } {
  db.run("INSERT INTO line (line) VALUES (?)", line);
  db.workflows.signal(id, said, line);
  return { rows: db.get<{ n: number }>("SELECT count(*) AS n FROM line")!.n };
}

export function begin(db: Transaction, id: string): string {
  return db.workflows.start(listener, { id });
}

/** Throws after a row and a start. */
export function fail(db: Transaction, line: string): never {
  db.run("INSERT INTO line (line) VALUES (?)", line);
  db.workflows.start(listener, { id: line });
  throw new ApplicationFailure(`not ${line}`, { type: "Refused", details: [{ line }] });
}

export function nothing(): void {}

export function promise(db: Transaction): Promise<void> {
  db.run("INSERT INTO line (line) VALUES ('promise')");
  return Promise.reject(new Error("ignored"));
}

/** The result is larger than the limit of payloads. */
export function large(db: Transaction, bytes: number): string {
  db.run("INSERT INTO line (line) VALUES ('large')");
  return "x".repeat(bytes);
}
