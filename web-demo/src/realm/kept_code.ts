// Keeps the code of opened histories over a reload, with the reader's edits and permission.
import { effect } from "@preact/signals";
import { notify } from "../store/notices.ts";
import { type CodeSet, codeSet } from "../store/code_set.ts";
import { keepCode, type KeptCode, readKeptCode } from "../store/kept.ts";
import type { OpenRun } from "../store/state.ts";
import { readSourceText } from "./dropped.ts";
import { mayRun, permit } from "./permission.ts";

/** Samples and commands bring their code again after a reload. */
const KEPT: ReadonlySet<CodeSet["origin"]> = new Set(["folder", "files", "paste", "link"]);
/** Characters. Larger code is opened again by the user. */
const MOST = 40_000_000;
/** Milliseconds. Code that is typed is stored after a pause. */
const REST_MS = 300;

/** Stores the code of a run when it changes or is permitted. Returns a function that ends it. */
export function keepCodeOf(run: OpenRun): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = effect(() => {
    const code = run.code.value;
    if (code === undefined || !KEPT.has(code.origin)) return;
    const isPermitted = mayRun(code);
    clearTimeout(timer);
    timer = setTimeout(() => void keepCode(run.key, toKept(run.key, code, isPermitted)), REST_MS);
  });
  return () => {
    clearTimeout(timer);
    end();
  };
}

function toKept(key: string, code: CodeSet, isPermitted: boolean): KeptCode | undefined {
  const { entry, files, origin, folder } = code;
  if (files.reduce((sum, { text }) => sum + text.length, 0) > MOST) return undefined;
  return { key, entry, files, origin, isPermitted, ...(folder === undefined ? {} : { folder }) };
}

/** The code that was kept for a run, permitted if it was; undefined without one. */
export async function findKeptCode(key: string): Promise<CodeSet | undefined> {
  const kept = await readKeptCode(key);
  if (kept === undefined) return undefined;
  const { entry, files, origin, isPermitted, folder } = kept;
  const code = codeSet({ entry, files, origin, ...(folder === undefined ? {} : { folder }) });
  if (isPermitted) permit(code);
  return code;
}

/** A handle with the methods of permissions, which TypeScript does not declare. */
type Asked = FileSystemDirectoryHandle & {
  requestPermission?(options: { readonly mode: "read" }): Promise<PermissionState>;
};

/** Reads the files of a kept folder again. The browser asks the user for permission. */
export async function readFolderAgain(code: CodeSet): Promise<CodeSet | undefined> {
  const folder = code.folder as Asked | undefined;
  if (folder === undefined) return undefined;
  try {
    if (await folder.requestPermission?.({ mode: "read" }) === "denied") return undefined;
    const files = await Promise.all(code.files.map(async ({ path }) => ({
      path,
      text: await readIn(folder, path),
    })));
    return { ...code, files };
  } catch (error) {
    notify({
      title: `${folder.name} cannot be read again:`,
      text: `${(error as Error).message}.`,
      advice: "Drop the folder again.",
    });
    return undefined;
  }
}

async function readIn(root: FileSystemDirectoryHandle, path: string): Promise<string> {
  const names = path.split("/");
  const name = names.pop()!;
  let folder = root;
  for (const part of names) folder = await folder.getDirectoryHandle(part);
  return await readSourceText(await (await folder.getFileHandle(name)).getFile(), path);
}
