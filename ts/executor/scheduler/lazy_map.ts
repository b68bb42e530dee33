// Tables that stay empty in most runs. An empty Map takes 180 bytes, and a worker keeps thousands
// of idle runs with a dozen each, so the Map is created with the first entry.

// Shared by all empty tables; never modified.
const NONE = new Map<never, never>();

/** A Map that takes almost no memory while it is empty. */
export class LazyMap<K, V> {
  #map: Map<K, V> | undefined;

  get size(): number {
    return this.#map?.size ?? 0;
  }

  has(key: K): boolean {
    return this.#map?.has(key) === true;
  }

  get(key: K): V | undefined {
    return this.#map?.get(key);
  }

  set(key: K, value: V): this {
    (this.#map ??= new Map()).set(key, value);
    return this;
  }

  /** Removes a key and returns its value. */
  take(key: K): V | undefined {
    const value = this.#map?.get(key);
    this.#map?.delete(key);
    return value;
  }

  delete(key: K): boolean {
    return this.#map?.delete(key) === true;
  }

  clear(): void {
    this.#map = undefined;
  }

  keys(): IterableIterator<K> {
    return (this.#map ?? NONE).keys();
  }

  values(): IterableIterator<V> {
    return (this.#map ?? NONE).values();
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return (this.#map ?? NONE)[Symbol.iterator]() as IterableIterator<[K, V]>;
  }
}

/** A Set that takes almost no memory while it is empty. */
export class LazySet<T> {
  readonly #members = new LazyMap<T, true>();

  get size(): number {
    return this.#members.size;
  }

  add(member: T): this {
    this.#members.set(member, true);
    return this;
  }

  delete(member: T): boolean {
    return this.#members.delete(member);
  }

  clear(): void {
    this.#members.clear();
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#members.keys();
  }
}
