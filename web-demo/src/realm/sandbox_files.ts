// The files of the frame: the worker's script and the core's bytes, fetched once from the page's
// origin.
import coreUrl from "temporalex/worker.wasm?url";
import scriptUrl from "virtual:sandbox";

export interface SandboxFiles {
  readonly script: string;
  readonly core: ArrayBuffer;
}

let fetched: Promise<SandboxFiles> | undefined;

/** Fetches the files; fetches again after a failure. */
export function sandboxFiles(): Promise<SandboxFiles> {
  fetched ??= read();
  fetched.catch(() => fetched = undefined);
  return fetched;
}

async function read(): Promise<SandboxFiles> {
  const [script, core] = await Promise.all([
    get(scriptUrl).then((response) => response.text()),
    get(coreUrl).then((response) => response.arrayBuffer()),
  ]);
  return { script, core };
}

async function get(url: string): Promise<Response> {
  const address = new URL(url, document.baseURI);
  const response = await fetch(address);
  if (!response.ok) {
    throw new Error(
      `${address.href} cannot be fetched: the server responded with ${response.status} ${response.statusText}`,
    );
  }
  return response;
}
