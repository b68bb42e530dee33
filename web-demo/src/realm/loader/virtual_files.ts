// Files for the synchronous loader, from a folder that can only be read asynchronously: missing
// files are recorded, and the loader starts again when they have been read.
import type { SourceHost } from "../../../../ts/modules/loader/source_host.ts";
import type { Listing } from "../../store/file_source.ts";

/** Thrown to stop a load that needs more files. */
export class MoreNeeded extends Error {
  override name = "MoreNeeded";
}

/** The address of a file in the module graph. */
export const urlOf = (path: string): string =>
  `file:///${path.split("/").map(encodeURIComponent).join("/")}`;

/** The path of an address of the module graph; undefined for other addresses. */
export function pathOf(url: string): string | undefined {
  if (!url.startsWith("file:///")) return undefined;
  try {
    return decodeURIComponent(url.slice("file:///".length));
  } catch {
    return undefined;
  }
}

interface Folder {
  readonly files: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
}

export class VirtualFiles implements SourceHost {
  readonly #texts = new Map<string, string>();
  readonly #folders = new Map<string, Folder | undefined>();
  /** Whether files can be requested. */
  readonly #hasMore: boolean;
  /** Paths of requested files, and of requested listings of folders. */
  readonly wanted: { readonly files: Set<string>; readonly folders: Set<string> } = {
    files: new Set(),
    folders: new Set(),
  };
  /** Paths that were read since `begin`. */
  readonly used: Set<string> = new Set();

  constructor(hasMore: boolean) {
    this.#hasMore = hasMore;
  }

  /** Sets a file's text, which replaces that of the folder. */
  setText(path: string, text: string): void {
    this.#texts.set(path, text);
    this.wanted.files.delete(path);
  }

  setListing(path: string, listing: Listing): void {
    this.#folders.set(
      path,
      listing && { files: new Set(listing.files), folders: new Set(listing.folders) },
    );
    this.wanted.folders.delete(path);
  }

  begin(): void {
    this.used.clear();
    this.wanted.files.clear();
    this.wanted.folders.clear();
  }

  isFile(url: string): boolean {
    const path = pathOf(url);
    return path !== undefined && (this.#texts.has(path) || this.#isListed(path));
  }

  read(url: string): string | undefined {
    const path = pathOf(url);
    if (path === undefined) return undefined;
    const known = this.#texts.get(path);
    if (known === undefined) {
      if (!this.#isListed(path)) return undefined;
      this.wanted.files.add(path);
      // The content of a package.json determines which files are needed next. For other files the
      // search can continue.
      if (path.endsWith("package.json")) throw new MoreNeeded();
      return "";
    }
    this.used.add(path);
    return known;
  }

  real(url: string): string {
    return url;
  }

  map(): undefined {
    return undefined;
  }

  #isListed(path: string): boolean {
    if (!this.#hasMore) return false;
    const parts = path.split("/");
    const name = parts.pop()!;
    let above = "";
    let folder = this.#listing(above);
    for (const part of parts) {
      if (folder === undefined || !folder.folders.has(part)) return false;
      above = above === "" ? part : `${above}/${part}`;
      folder = this.#listing(above);
    }
    return folder?.files.has(name) === true;
  }

  #listing(path: string): Folder | undefined {
    if (!this.#folders.has(path)) {
      this.wanted.folders.add(path);
      throw new MoreNeeded();
    }
    return this.#folders.get(path);
  }
}
