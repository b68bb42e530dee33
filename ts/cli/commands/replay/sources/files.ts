// Histories in files and folders. Files with a history on each line are streamed; others are read
// whole.
import {
  closeSync,
  createReadStream,
  type Dirent,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import {
  historiesIn,
  HistoryFileError,
  isHistoryLine,
  readHistoryText,
} from "../../../../history_files/history_file.ts";
import { type Found, InputError, type Source } from "./source.ts";

/** File names of histories in a folder. */
const ENDINGS = /\.(?:json|jsonl|ndjson|bin|binpb|pb|b64|history)(?:\.gz)?$/i;

/** Bytes that one realm replays in the time that another one needs to start and compile. */
const BYTES_PER_THREAD = 16 * 1024 * 1024;

/** Maximum size of a file that is read whole regardless of its content. */
const WHOLE = 4 * 1024 * 1024;

/** Maximum size of a file; larger than any history of a server. */
const MAX_FILE = 256 * 1024 * 1024;

const MIB = (bytes: number): string => `${bytes / 1024 / 1024} MiB`;

/** Returns the files of a command line, with all files of folders. Throws an InputError. */
export function fileSource(words: readonly string[], cwd: string): Source {
  const files = words.flatMap((word) => filesOf(word, cwd));
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return {
    total: undefined,
    ahead: 2,
    worthThreads: Math.ceil(bytes / BYTES_PER_THREAD),
    histories: async function* () {
      for (const { name, path, size } of files) yield* historiesOf(name, path, size);
    },
  };
}

interface NamedFile {
  readonly name: string;
  readonly path: string;
  readonly size: number;
}

function filesOf(word: string, cwd: string): NamedFile[] {
  const path = resolve(cwd, word);
  const found = statSync(path, { throwIfNoEntry: false });
  // A missing file is a line of the result, because the others are replayed nevertheless.
  if (found?.isDirectory() !== true) return [{ name: word, path, size: found?.size ?? 0 }];
  const files = [...inFolder(word, path, new Set())];
  if (files.length > 0) return files;
  throw new InputError(
    `the folder ${word} has no histories: no file in it ends in .json, .jsonl, .ndjson, .bin, .binpb, .pb, .b64 or .history, with or without .gz`,
  );
}

function* inFolder(
  name: string,
  path: string,
  seen: Set<string>,
): Generator<NamedFile, void, void> {
  // Links can form cycles.
  const real = realpathSync(path);
  if (seen.has(real)) return;
  seen.add(real);
  let entries: Dirent[];
  try {
    entries = readdirSync(path, { withFileTypes: true });
  } catch (e) {
    throw new InputError(`the folder ${name} cannot be read: ${(e as Error).message}`, {
      cause: e,
    });
  }
  for (const { name: entry } of entries.toSorted((a, b) => a.name < b.name ? -1 : 1)) {
    if (entry.startsWith(".") || entry === "node_modules") continue;
    const inside = join(path, entry);
    const found = statSync(inside, { throwIfNoEntry: false });
    const named = join(name, entry);
    if (found?.isDirectory() === true) yield* inFolder(named, inside, seen);
    else if (found?.isFile() === true && ENDINGS.test(entry)) {
      yield { name: named, path: inside, size: found.size };
    }
  }
}

async function* historiesOf(
  file: string,
  path: string,
  size: number,
): AsyncGenerator<Found, void, void> {
  try {
    if (size > WHOLE && await startsWithLines(path)) {
      yield* linesOf(file, path);
      return;
    }
    if (size > MAX_FILE) {
      throw new HistoryFileError(
        `the file has more than ${MIB(MAX_FILE)}, and is not a history on each line`,
      );
    }
    const histories = await historiesIn(readFileSync(path));
    for (const { place, read } of histories) {
      yield { file, place, bytes: Math.ceil(size / histories.length), read };
    }
  } catch (e) {
    yield { file, place: "", bytes: 0, read: () => Promise.reject(e) };
  }
}

/** Returns whether the first line of a file is a whole history. */
async function startsWithLines(path: string): Promise<boolean> {
  try {
    for await (const line of linesIn(path)) return isHistoryLine(line);
  } catch {
    // The reader of whole files reports it.
  }
  return false;
}

async function* linesOf(file: string, path: string): AsyncGenerator<Found, void, void> {
  let number = 0;
  try {
    for await (const line of linesIn(path)) {
      const place = `line ${++number}`;
      if (line.trim() !== "") {
        yield {
          file,
          place,
          bytes: line.length,
          read: () => readHistoryText(line),
        };
      }
    }
  } catch (e) {
    const error = new HistoryFileError(
      `the file cannot be read from here on: ${(e as Error).message}`,
      { cause: e },
    );
    yield { file, place: `line ${number + 1}`, bytes: 0, read: () => Promise.reject(error) };
  }
}

/** Returns the lines of a file, decompressed if it is gzip. */
async function* linesIn(path: string): AsyncGenerator<string, void, void> {
  const raw = createReadStream(path);
  const packed = isGzip(path);
  // `pipeline` forwards errors and closes the file when the reader stops.
  const chunks = packed ? pipeline(raw, createGunzip(), () => {}) : raw;
  const text = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks as AsyncIterable<Uint8Array>) {
    const lines = (rest + text.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    if (rest.length > MAX_FILE) throw new Error(`a line has more than ${MIB(MAX_FILE)}`);
    yield* lines;
  }
  if (rest !== "") yield rest;
}

function isGzip(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const head = new Uint8Array(2);
    return readSync(file, head) === 2 && head[0] === 0x1f && head[1] === 0x8b;
  } finally {
    closeSync(file);
  }
}
