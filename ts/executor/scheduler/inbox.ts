// Messages that arrived and are not dispatched. Signals wait here until they are taken, across
// receives, and are never lost; updates only until the end of their activation, when they are
// accepted or rejected. `order` is the order of arrival, which decides every choice between
// messages.
import type { WirePayload } from "../program/encode.ts";
import { LazyMap, LazySet } from "./lazy_map.ts";

export interface SignalItem {
  readonly kind: "signal";
  readonly order: number;
  readonly name: string;
  readonly input: readonly WirePayload[];
  /** Id of its event; 1 (the start's) or 0: carried from the previous run. */
  readonly eventId: number;
}

export interface UpdateItem {
  readonly kind: "update";
  readonly order: number;
  readonly name: string;
  readonly input: readonly WirePayload[];
  /** The id given by its caller. */
  readonly id: string;
  /** Id of the protocol instance, to which responses refer. */
  readonly protocolInstanceId: string;
  /** False on replay: the update was accepted. */
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
    // Compacts from time to time, so that a long-lived queue stays small.
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
  /** Undecided updates, in order of arrival. */
  readonly undecided: LazySet<UpdateItem> = new LazySet();

  /** The number of the next message. */
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

  /** Number of buffered signals by name. */
  counts(): { [name: string]: number } {
    const counts: [string, number][] = [];
    for (const [name, queue] of this.#signals) {
      if (queue.length > 0) counts.push([name, queue.length]);
    }
    return Object.fromEntries(counts);
  }

  /** All buffered signals, in order of arrival. */
  signals(): SignalItem[] {
    const all: SignalItem[] = [];
    for (const queue of this.#signals.values()) all.push(...queue);
    return all.sort((a, b) => a.order - b.order);
  }
}
