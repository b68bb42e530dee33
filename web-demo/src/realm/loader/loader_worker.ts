// Parses and links the modules of code sets. In a separate worker, so that an endless parse can be
// terminated. Runs no code. Modules with unchanged text are not parsed again.
import { WorkflowLoadError } from "../../../../ts/modules/loader/errors.ts";
import type { ParsedModules } from "../../../../ts/modules/loader/parsed_modules.ts";
import { repairedInLines } from "../../../../ts/modules/repairs/in_lines.ts";
import { type LineOptions, loadSources, sourceTexts } from "../../../../ts/modules/sources.ts";
import type { FromLoader, ToLoader } from "./protocol.ts";
import { pathOf, urlOf, VirtualFiles } from "./virtual_files.ts";

interface Loading {
  readonly id: number;
  readonly entry: string;
  readonly lines: LineOptions;
  readonly files: VirtualFiles;
  readonly parsed: ParsedModules;
}

/** The last code set: its files, and its parsed modules. */
let kept:
  | { readonly set: string; readonly files: VirtualFiles; readonly parsed: ParsedModules }
  | undefined;
let open: Loading | undefined;

addEventListener("message", ({ data }: MessageEvent<ToLoader>) => {
  if (data.t === "load") {
    if (kept?.set !== data.set) {
      kept = { set: data.set, files: new VirtualFiles(data.hasMore), parsed: new Map() };
    }
    const { files, parsed } = kept;
    for (const { path, text } of data.files) files.setText(path, text);
    void load(open = { id: data.id, entry: data.entry, lines: data.lines, files, parsed });
  } else if (data.t === "repair") void repair(data);
  else if (open?.id === data.id) {
    for (const { path, text } of data.files) open.files.setText(path, text);
    for (const [path, listing] of data.folders) open.files.setListing(path, listing);
    void load(open);
  }
});

function tell(message: FromLoader): void {
  postMessage(message);
}

async function load({ id, entry, lines, files, parsed }: Loading): Promise<void> {
  files.begin();
  const want = () =>
    tell({ t: "want", id, files: [...files.wanted.files], folders: [...files.wanted.folders] });
  const isMissing = () => files.wanted.files.size + files.wanted.folders.size > 0;
  try {
    const { graph, hasConverter } = await loadSources({
      workflows: urlOf(entry),
      sources: files,
      scopes: "rewritten",
      lines,
      parsed,
    });
    if (isMissing()) return want();
    tell({
      t: "loaded",
      id,
      graph,
      hasConverter,
      files: [...files.used].map((path) => ({ path, text: files.read(urlOf(path))! })),
    });
  } catch (error) {
    // Results without the missing files are not meaningful.
    if (isMissing()) return want();
    if (error instanceof WorkflowLoadError) {
      tell({ t: "refused", id, problems: error.problems.map(withoutRoot) });
    } else {tell({
        t: "failed",
        id,
        message: error instanceof Error ? error.message : String(error),
      });}
  }
}

async function repair({ id, divergence }: Extract<ToLoader, { t: "repair" }>): Promise<void> {
  const sourceOf = kept === undefined ? () => undefined : sourceTexts({ sources: kept.files });
  tell({ t: "repaired", id, divergence: await repairedInLines(divergence, sourceOf) });
}

/** Converts addresses of files to paths of the code pane. */
function withoutRoot<T extends { readonly file: string }>(problem: T): T {
  return { ...problem, file: pathOf(problem.file) ?? problem.file.replace(/^\//, "") };
}
