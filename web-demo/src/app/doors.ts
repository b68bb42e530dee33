// The doors through which histories come in: files, text, addresses, samples. All of them end in `openBytes`. What is read stays in this tab.
import { HistoryFileError } from "temporalex/debug";
import { notify } from "./notices.ts";
import { readRun } from "./run_model.ts";
import { replayOnChange } from "./replaying.ts";
import { addRun, type OpenRun, showRun } from "./state.ts";

/** More than any server keeps in one history. */
const LARGEST = 256 * 1024 * 1024;

/** Opens a history and makes it the current run. Undefined: it holds none, and a notice says why. */
export async function openBytes(
  name: string,
  bytes: Uint8Array,
  options: { key?: string; at?: number } = {},
): Promise<OpenRun | undefined> {
  try {
    const model = await readRun(bytes);
    const run = addRun(options.key ?? await digest(bytes), name, bytes, model);
    await takeSampleCode(run);
    showRun(run, options.at);
    return run;
  } catch (error) {
    if (!(error instanceof HistoryFileError)) throw error;
    notify({ title: `${name} cannot be opened`, text: error.message });
    return undefined;
  }
}

/** Files of a drop or of the file dialog. */
export async function openFiles(files: Iterable<File>): Promise<void> {
  for (const file of files) {
    if (file.size > LARGEST) {
      const mebibytes = Math.round(file.size / 1024 / 1024);
      notify({
        title: `${file.name} cannot be opened`,
        text: `It has ${mebibytes} MiB; histories may have ${LARGEST / 1024 / 1024}.`,
      });
      continue;
    }
    try {
      await openBytes(file.name, new Uint8Array(await file.arrayBuffer()));
    } catch (error) {
      notify({ title: `${file.name} cannot be read`, text: `${(error as Error).message} A folder has to be opened as code.` });
    }
  }
}

/** Of its bytes, short enough for an address. */
async function digest(bytes: Uint8Array): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
  return [...hash.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The examples' code is taken by itself where it has the workflow: it is this page's own. */
async function takeSampleCode(run: OpenRun): Promise<void> {
  const { replaySample, sampleCode } = await import("../realm/samples.ts");
  const code = sampleCode(run.model.facts.type);
  if (code === undefined || run.code.peek() !== undefined) return;
  run.code.value = code;
  replayOnChange(run, ({ bytes }) => replaySample(bytes));
}
