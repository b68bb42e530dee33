// Messages that arrived and were not dispatched yet. Signals wait here until something takes them, over receives and phases, and are
// never lost; updates only until the end of their activation, when they are accepted or rejected. `order` is the order of arrival, and
// every choice between messages goes by it.
import type { WirePayload } from "../program/encode.ts";
import { LazyMap, LazySet } from "./lazy_map.ts";

export interface SignalItem {
  readonly kind: "signal";
  readonly order: number;
  readonly name: string;
  readonly input: readonly WirePayload[];
  /** Of its event; 1, the start's, or 0: the run before this one handed it on. */
  readonly eventId: number;
}

export interface UpdateItem {
  readonly kind: "update";
  readonly order: number;
  readonly name: string;
  readonly input: readonly WirePayload[];
  /** The id that its caller gave it. */
  readonly id: string;
  /** The id of the protocol instance: what responses refer to. */
  readonly protocolInstanceId: string;
  /** False on replay: the update was accepted then. */
  readonly runValidator: boolean;
}

class Queue<T> {
  #items: T[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  peek(): T | undefined {
    return this.#items[this.#head];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#head++]!;
    // Compact now and then, so that a long-lived queue stays as small as what it holds.
    if (this.#head > 64 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#items.slice(this.#head)[Symbol.iterator]();
  }
}

export { Queue };

export class Inbox {
  #order = 0;
  readonly #signals = new LazyMap<string, Queue<SignalItem>>();
  #signalCount = 0;
  /** Updates that were neither accepted nor rejected, in order of arrival. */
  readonly undecided: LazySet<UpdateItem> = new LazySet();

  /** The number that the next message will get. */
  get next(): number {
    return this.#order;
  }

  get isEmpty(): boolean {
    return this.#signalCount === 0 && this.undecided.size === 0;
  }

  get hasSignals(): boolean {
    return this.#signalCount > 0;
  }

  pushSignal(name: string, input: readonly WirePayload[], eventId = 0): void {
    let queue = this.#signals.get(name);
    if (queue === undefined) this.#signals.set(name, queue = new Queue());
    queue.push({ kind: "signal", order: this.#order++, name, input, eventId });
    this.#signalCount++;
  }

  pushUpdate(update: Omit<UpdateItem, "kind" | "order">): void {
    this.undecided.add({ kind: "update", order: this.#order++, ...update });
  }

  /** The oldest buffered signal of a name. */
  peekSignal(name: string): SignalItem | undefined {
    return this.#signals.get(name)?.peek();
  }

  takeSignal(name: string): SignalItem | undefined {
    const item = this.#signals.get(name)?.shift();
    if (item !== undefined) this.#signalCount--;
    return item;
  }

  /** How many signals of each name nothing has taken. */
  counts(): { [name: string]: number } {
    const counts: [string, number][] = [];
    for (const [name, queue] of this.#signals) if (queue.length > 0) counts.push([name, queue.length]);
    return Object.fromEntries(counts);
  }

  /** Every buffered signal, in order of arrival. */
  signals(): SignalItem[] {
    const all: SignalItem[] = [];
    for (const queue of this.#signals.values()) all.push(...queue);
    return all.sort((a, b) => a.order - b.order);
  }
}
