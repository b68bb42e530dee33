// Messages to many accounts, and the judgement of what became of them.
import type { Client } from "../../../ts/client/mod.ts";
import {
  getHealth,
  getState,
  reactivate,
  type Receipt,
  suspend,
  updateProfile,
} from "../../../examples/entity/workflow.ts";

/** What one account must have seen. */
interface Expected {
  readonly id: string;
  operations: number;
  /** Results by update id. */
  readonly receipts: Map<string, Receipt>;
  last: string;
}

export interface LoadOptions {
  readonly client: Client;
  /** The type of the account's workflow. */
  readonly type: string;
  /** Begins the ids of its accounts. */
  readonly name: string;
  readonly entities: number;
  readonly callers: number;
}

export class Load {
  readonly problems: string[] = [];
  sent = 0;
  /** Updates that were sent again. */
  repeated = 0;
  slowestMs = 0;
  readonly #options: LoadOptions;
  readonly #accounts: Expected[];

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#accounts = Array.from({ length: options.entities }, (_, n): Expected => ({
      id: `user-${options.name}-${n}`,
      operations: 0,
      receipts: new Map(),
      last: "",
    }));
  }

  #wrong(text: string): void {
    if (this.problems.length < 20) this.problems.push(text);
    else this.problems.length++;
  }

  #account(id: string) {
    // A server that is kept busy may answer late; what it has taken by then must not be counted as
    // not sent.
    return this.#options.client.getHandle(this.#options.type, id).with({ timeout: "2m" });
  }

  /** Sends the i-th message of each account; `over`: whether no more may be sent. */
  async round(i: number, over: () => boolean): Promise<void> {
    let next = 0;
    const caller = async () => {
      while (!over() && next < this.#accounts.length) {
        await this.#message(this.#accounts[next++]!, i);
      }
    };
    await Promise.all(Array.from({ length: this.#options.callers }, caller));
  }

  /** For reports: that of the first account; undefined where the server is too busy to answer. */
  async generation(): Promise<number | undefined> {
    return (await this.#account(this.#accounts[0]!.id).query(getHealth).catch(() => undefined))
      ?.generation;
  }

  async #update(account: Expected, updateId: string, name: string): Promise<void> {
    const began = performance.now();
    const known = account.receipts.get(updateId);
    const { client, type } = this.#options;
    const answer = await client.executeUpdateWithStart(type, {
      ...{
        id: account.id,
        args: [account.id],
        idConflictPolicy: "USE_EXISTING",
        idReusePolicy: "REJECT_DUPLICATE",
      },
      ...{ update: updateProfile, updateArgs: [{ name }], updateId },
    }).catch((error: Error) => error);
    this.slowestMs = Math.max(this.slowestMs, performance.now() - began);
    this.sent++;
    if (answer instanceof Error) return this.#wrong(`${account.id} ${updateId}: ${answer}`);
    if (known === undefined) account.receipts.set(updateId, answer);
    else if (this.repeated++, answer.operation !== known.operation) {
      this.#wrong(
        `${account.id} ${updateId}: was operation ${known.operation}, and ${answer.operation} when it was sent again`,
      );
    }
  }

  async #message(account: Expected, i: number): Promise<void> {
    switch (i % 10) {
      case 3:
      case 7:
        await this.#account(account.id).signal(i % 10 === 3 ? suspend : reactivate);
        this.sent++;
        account.operations++;
        return;
      case 5: // three at once
        account.operations += 3;
        account.last = `${i}`;
        await Promise.all(
          ["a", "b", "c"].map((part) => this.#update(account, `u-${i}-${part}`, account.last)),
        );
        return;
      case 9: { // one of long ago, as far as it is remembered, and one of just now
        const ids = [...account.receipts.keys()];
        await Promise.all(
          [ids.at(-900) ?? ids[0]!, ids.at(-1)!].map((id) =>
            this.#update(account, id, "sent again")
          ),
        );
        return;
      }
      default:
        account.operations++;
        account.last = `${i}`;
        await this.#update(account, `u-${i}`, account.last);
    }
  }

  /** Queries each account for what it has seen; returns the number of generations. */
  async judge(): Promise<number> {
    let generations = 0;
    const left = this.#accounts.filter(({ receipts }) => receipts.size > 0);
    const judging = async () => {
      for (let account = left.pop(); account !== undefined; account = left.pop()) {
        const own = await this.#judge(account);
        generations += own;
      }
    };
    await Promise.all(Array.from({ length: this.#options.callers }, judging));
    return generations;
  }

  async #judge({ id, operations, last }: Expected): Promise<number> {
    const account = this.#account(id);
    // A signal that was sent last may still be at work.
    let health = await account.query(getHealth);
    for (let tries = 0; tries < 500 && health.operations < operations; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      health = await account.query(getHealth);
    }
    if (health.operations !== operations) {
      this.#wrong(`${id}: ${health.operations} operations, ${operations} were expected`);
    }
    const { profile } = await account.query(getState);
    if (profile?.name !== last) {
      this.#wrong(`${id}: its profile is ${profile?.name}, and ${last} was sent last`);
    }
    return health.generation;
  }
}
