// A disk whose power can fail. What a program has written stays apart from what is safe until it
// asks for a sync; when the power fails, any part of the rest may have reached the platters, in any
// order, and a write may be torn between two sectors. Names of files are kept in the same way: one
// that was made or removed is only safe after a sync of its folder.

/** Nothing smaller is ever written in part. */
const SECTOR_BYTES = 512;

type Write = { readonly at: number; readonly bytes: Uint8Array<ArrayBuffer> } | {
  readonly size: number;
};

/** Thrown by everything that a disk without power is asked. */
export class PowerFailure extends Error {
  override readonly name = "PowerFailure";
}

/** What the power failure does to what was not synced. */
export type Fate =
  | "nothing survives"
  | "everything survives"
  | "a prefix survives"
  | "any writes survive"
  | "any sectors survive";
export const FATES: readonly Fate[] = [
  "nothing survives",
  "everything survives",
  "a prefix survives",
  "any writes survive",
  "any sectors survive",
];

class Content {
  #bytes = new Uint8Array(1 << 16);
  size = 0;

  read(into: Uint8Array, at: number): number {
    const part = this.#bytes.subarray(at, Math.min(this.size, at + into.length));
    into.set(part);
    into.fill(0, part.length);
    return part.length;
  }

  apply(write: Write): void {
    if ("size" in write) {
      if (write.size < this.size) this.#bytes.fill(0, write.size, this.size);
      else this.#grow(write.size);
      this.size = write.size;
      return;
    }
    const end = write.at + write.bytes.length;
    this.#grow(end);
    this.#bytes.set(write.bytes, write.at);
    this.size = Math.max(this.size, end);
  }

  copy(): Content {
    const copy = new Content();
    copy.apply({ at: 0, bytes: this.#bytes.slice(0, this.size) });
    return copy;
  }

  #grow(size: number): void {
    if (size <= this.#bytes.length) return;
    const more = new Uint8Array(2 ** Math.ceil(Math.log2(size)));
    more.set(this.#bytes);
    this.#bytes = more;
  }
}

/** One file: as programs see it, as it is on the platters, and what lies between. */
class PowerFile {
  readonly live: Content;
  readonly safe: Content;
  pending: Write[] = [];

  constructor(content = new Content()) {
    this.live = content;
    this.safe = content.copy();
  }

  put(write: Write): void {
    this.pending.push(write);
    this.live.apply(write);
  }

  sync(): void {
    for (const write of this.pending) this.safe.apply(write);
    this.pending = [];
  }
}

/** A change of the folder that no sync has made safe. */
type Entry = { readonly made: string; readonly file: PowerFile } | { readonly removed: string };

export class PowerDisk {
  readonly #files = new Map<string, PowerFile>();
  readonly #safeNames = new Map<string, PowerFile>();
  #entries: Entry[] = [];
  /** Changes so far: writes, new sizes, names and syncs. */
  changes = 0;
  syncs = 0;
  /**
   * The power fails when so many changes have been asked for; the last of them may be half done.
   */
  failsAt = Infinity;

  get dead(): boolean {
    return this.changes >= this.failsAt;
  }

  exists(name: string): boolean {
    return this.#files.has(name);
  }

  sizeOf(name: string): number {
    return this.#file(name).live.size;
  }

  /** Returns the number of bytes read; the rest is filled with zeros. */
  read(name: string, into: Uint8Array, at: number): number {
    if (this.dead) throw new PowerFailure("no power");
    return this.#file(name).live.read(into, at);
  }

  create(name: string): void {
    if (this.#files.has(name)) return;
    const file = new PowerFile();
    this.#change(() => {
      this.#files.set(name, file);
      this.#entries.push({ made: name, file });
    });
  }

  remove(name: string): void {
    this.#change(() => {
      if (this.#files.delete(name)) this.#entries.push({ removed: name });
    });
  }

  write(name: string, bytes: Uint8Array<ArrayBuffer>, at: number): void {
    const file = this.#file(name);
    this.#change(() => file.put({ at, bytes }));
  }

  resize(name: string, size: number): void {
    const file = this.#file(name);
    this.#change(() => file.put({ size }));
  }

  sync(name: string): void {
    const file = this.#file(name);
    this.#change(() => {});
    this.syncs++;
    file.sync();
  }

  syncFolder(): void {
    this.#change(() => {});
    for (const entry of this.#entries) follow(this.#safeNames, entry);
    this.#entries = [];
  }

  /** The disk as it is found when the power is back. */
  afterPowerLoss(fate: Fate, random: () => number): PowerDisk {
    const after = new PowerDisk();
    const names = new Map(this.#safeNames);
    for (const entry of survivors(this.#entries, fate, random)) follow(names, entry);
    for (const [name, file] of names) {
      const content = file.safe.copy();
      for (const write of survivors(file.pending, fate, random)) {
        const parts = fate === "any sectors survive"
          ? sectors(write).filter(() => random() < 0.5)
          : [write];
        for (const part of parts) content.apply(part);
      }
      after.#keep(name, new PowerFile(content));
    }
    return after;
  }

  /**
   * The disk as another process finds it after the death of the one that used it: the system still
   * has all that was written.
   */
  afterProcessDeath(): PowerDisk {
    const after = new PowerDisk();
    for (const [name, file] of this.#files) after.#files.set(name, file);
    for (const [name, file] of this.#safeNames) after.#safeNames.set(name, file);
    after.#entries = this.#entries;
    return after;
  }

  /** Another disk with what programs see on this one, all of it safe. */
  copy(): PowerDisk {
    const copy = new PowerDisk();
    for (const [name, file] of this.#files) copy.#keep(name, new PowerFile(file.live.copy()));
    return copy;
  }

  #keep(name: string, file: PowerFile): void {
    this.#files.set(name, file);
    this.#safeNames.set(name, file);
  }

  #file(name: string): PowerFile {
    const file = this.#files.get(name);
    if (file === undefined) throw new Error(`file ${name} not found`);
    return file;
  }

  /** The change during which the power fails starts, and never returns. */
  #change(begin: () => void): void {
    if (this.dead) throw new PowerFailure("no power");
    this.changes++;
    begin();
    if (this.dead) throw new PowerFailure("the power failed");
  }
}

function follow(names: Map<string, PowerFile>, entry: Entry): void {
  if ("made" in entry) names.set(entry.made, entry.file);
  else names.delete(entry.removed);
}

function survivors<T>(changes: readonly T[], fate: Fate, random: () => number): readonly T[] {
  if (fate === "nothing survives") return [];
  if (fate === "everything survives" || fate === "any sectors survive") return changes;
  if (fate === "a prefix survives") {
    return changes.slice(0, Math.floor(random() * (changes.length + 1)));
  }
  return changes.filter(() => random() < 0.5);
}

/** A write as the sectors that it touches. */
function sectors(write: Write): Write[] {
  if ("size" in write) return [write];
  const parts: Write[] = [];
  for (let from = 0; from < write.bytes.length;) {
    const to = Math.min(
      write.bytes.length,
      from + SECTOR_BYTES - ((write.at + from) % SECTOR_BYTES),
    );
    parts.push({ at: write.at + from, bytes: write.bytes.subarray(from, to) });
    from = to;
  }
  return parts;
}
