// Blobs as files of a folder. A file appears under its name when it is complete, whatever happens
// while it is written.
import { mkdir, open, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import type { BlobStore } from "./codec.ts";

export async function folderStore(folder: string): Promise<BlobStore> {
  await mkdir(folder, { recursive: true });
  const pathOf = (name: string) => {
    if (!/^[0-9a-f]{64}$/.test(name)) throw new Error(`invalid name of a blob "${name}"`); // it comes from a history, so it may say "../"
    return join(folder, name);
  };
  return {
    async put(name, bytes) {
      const path = pathOf(name);
      if (await stat(path).then(() => true, () => false)) return;
      const temporary = `${path}.${crypto.randomUUID()}`;
      const file = await open(temporary, "w");
      try {
        await file.writeFile(bytes);
        await file.sync(); // the history that refers to it survives power loss, so it must too
      } finally {
        await file.close();
      }
      await rename(temporary, path);
    },
    get: (name) =>
      readFile(pathOf(name)).catch((error) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      }),
  };
}
