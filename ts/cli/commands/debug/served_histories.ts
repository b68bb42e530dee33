// The histories of a debug command: of files and folders (watched by watched_histories.ts), or of
// one run of a service, followed while it is open.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { create } from "@bufbuild/protobuf";
import type { CodecOptions } from "../../../codec/codec.ts";
import { decodeHistory } from "../../../codec/message_codec.ts";
import { historyToBytes, isClosing } from "../../../client/history.ts";
import { readRunStart } from "../../../messages/history_start.ts";
import type { HistoryFile } from "../../../history_files/history_file.ts";
import {
  type History,
  HistorySchema,
} from "../../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { Connection, Handle } from "../../service/open_service.ts";
import { fileSource } from "../replay/sources/files.ts";
import type { Found } from "../replay/sources/source.ts";
import { FileWatch } from "../worker/watch.ts";

/** A history of the page. */
export interface ServedHistory {
  /** Name: the file with the position in it, or "workflowId/runId" of a run. */
  readonly found: Found;
  readonly name: string;
  /** With decoded payloads. */
  readonly file: HistoryFile;
  /** True if more events may follow. */
  readonly open: boolean;
}

/** Maximum number of histories in a page's list. */
export const MOST_HISTORIES = 50;
/** Events within this time are reported as one change. */
const GATHER_MS = 100;

export interface FilesRead {
  readonly histories: readonly ServedHistory[];
  /** Files without a readable history. */
  readonly broken: readonly { readonly found: Found; readonly error: unknown }[];
  /** True if there are more than `MOST_HISTORIES`. */
  readonly more: boolean;
  /** Stamps of the history files by absolute path, from before they were read. */
  readonly stamps: ReadonlyMap<string, string>;
}

/** Reads the histories of a command line. Throws an InputError for a folder without histories. */
export async function historiesOfFiles(
  words: readonly string[],
  cwd: string,
  codec: CodecOptions["codec"],
): Promise<FilesRead> {
  const histories: ServedHistory[] = [];
  const broken: { found: Found; error: unknown }[] = [];
  const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  const stamps = FileWatch.stamps(words.map((word) => resolve(cwd, word)).filter(isFile));
  for await (const found of fileSource(words, cwd).histories()) {
    if (histories.length === MOST_HISTORIES) return { histories, broken, more: true, stamps };
    const path = resolve(cwd, found.file);
    if (!stamps.has(path)) stamps.set(path, FileWatch.stamps([path]).get(path)!);
    try {
      histories.push(await readServed(found, codec));
    } catch (error) {
      broken.push({ found, error });
    }
  }
  return { histories, broken, more: false, stamps };
}

/** Reads one history. Rejects if the file has none, and if the codec fails. */
export async function readServed(
  found: Found,
  codec: CodecOptions["codec"],
): Promise<ServedHistory> {
  const read = await found.read();
  const file = codec === undefined
    ? read
    : { ...read, bytes: await decodeHistory(read.bytes, codec) };
  return {
    found,
    name: found.place === "" ? found.file : `${found.file}, ${found.place}`,
    file,
    open: false,
  };
}

/**
 * Returns the current history of a run. Rejects with the service's error, also for an unknown run.
 */
export async function historyOfRun(
  { client, settings }: Pick<Connection, "client" | "settings">,
  workflowId: string,
  runId: string | undefined,
): Promise<{ readonly handle: Handle; readonly history: ServedHistory }> {
  const some = client.getHandle(undefined as string | undefined, workflowId, runId) as Handle;
  // Follows the current run, not its continuation.
  const described = await some.with(settings).describe();
  const handle = client.getHandle(
    undefined as string | undefined,
    workflowId,
    described.runId,
  ) as Handle;
  const history = await handle.fetchHistory({ decode: true, ...settings });
  return { handle, history: servedRun(history, workflowId, described.runId) };
}

function servedRun(history: History, workflowId: string, runId: string): ServedHistory {
  const name = `${workflowId}/${runId}`;
  const { events } = history;
  const bytes = historyToBytes(history);
  const workflowType = readRunStart(bytes)?.workflowType ?? "";
  const file: HistoryFile = {
    bytes,
    events: events.length,
    workflowType,
    workflowId,
    runId,
    notes: [],
  };
  const last = events.at(-1);
  return {
    found: { file: name, place: "", bytes: file.bytes.length, read: () => file },
    name: workflowId,
    file,
    open: last === undefined || !isClosing(last),
  };
}

/**
 * Reports the history whenever it has grown, until it is closed or the signal is aborted. Rejects
 * with the service's error.
 */
export async function followRun(
  handle: Handle,
  { file }: ServedHistory,
  grown: (history: ServedHistory) => void,
  signal: AbortSignal,
): Promise<void> {
  const history = create(HistorySchema);
  let told = file.events;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tell = () => {
    clearTimeout(timer);
    timer = undefined;
    if (history.events.length <= told) return;
    told = history.events.length;
    grown(servedRun(history, file.workflowId, file.runId));
  };
  try {
    for await (const event of handle.history({ decode: true, follow: true, signal })) {
      history.events.push(event);
      if (history.events.length > told) timer ??= setTimeout(tell, GATHER_MS);
    }
    tell();
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
}
