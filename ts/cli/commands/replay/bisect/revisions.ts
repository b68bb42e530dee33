// Revisions of a git repository as versions of the workflow code. A revision is written to a
// separate folder with a separate index, so the repository's index, files and work trees do not
// change.
import { execFile } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import process from "node:process";
import { UsageError } from "../../../frame/errors.ts";
import type { CodeVersion, Opened } from "./version.ts";

/** The code in a repository. */
export interface CodePaths {
  readonly cwd: string;
  /** Absolute. */
  readonly workflows: readonly string[];
  readonly interceptors: readonly string[];
  readonly payloadConverter?: string;
  readonly signal: AbortSignal;
}

/** Maximum output of git; larger than any list of revisions. */
const MAX_OUTPUT = 256 * 1024 * 1024;

/** Separator of a revision's fields; no field contains it. */
const UNIT = "\x1f";

/**
 * Returns the versions of a range "old..new", oldest first, including `old`; for "old" alone, all
 * up to the files on disk. Follows only first parents of merges. Throws a UsageError for unknown
 * revisions, and for modules outside the repository.
 */
export async function revisionsOf(range: string, code: CodePaths): Promise<CodeVersion[]> {
  const { cwd, signal } = code;
  const git = (...args: string[]) => runGit(args, { cwd, signal });
  const root = realpathSync((await git("rev-parse", "--show-toplevel")).trim());
  const [, from = "", to = ""] = /^(.*?)(?:\.\.(.*))?$/s.exec(range)!;
  const [oldest, newest] = await Promise.all([from, to || "HEAD"].map(async (name) => {
    const spoken = await git(
      "rev-parse",
      "--verify",
      "--quiet",
      "--end-of-options",
      `${name}^{commit}`,
    ).catch(() => "");
    signal.throwIfAborted();
    if (spoken === "") {
      throw new UsageError(`--bisect ${range}: git knows no revision ${JSON.stringify(name)}`);
    }
    return spoken.trim();
  }));
  const format = `--format=%H${UNIT}%h${UNIT}%aI${UNIT}%an${UNIT}%s`;
  const one = await git("log", "-1", format, oldest!, "--");
  const rest = await git(
    "log",
    "--reverse",
    "--first-parent",
    format,
    `${oldest!}..${newest!}`,
    "--",
  );
  const versions = [...lines(one), ...lines(rest)].map((line) =>
    revision(line.split(UNIT), root, code)
  );
  if (range.includes("..")) return versions;
  const { workflows, interceptors, payloadConverter } = code;
  const now: Opened = {
    workflows,
    interceptors,
    ...(payloadConverter !== undefined && { payloadConverter }),
    close() {},
  };
  return [...versions, {
    version: "the files on the disk",
    text: "as they are now",
    open: () => Promise.resolve(now),
  }];
}

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

function revision(fields: readonly string[], root: string, code: CodePaths): CodeVersion {
  const [commit = "", version = "", date = "", author = "", subject = ""] = fields;
  return {
    ...{ version, commit, date, author, subject },
    text: `${date.slice(0, 10)} ${author}: ${subject}`,
    open: () => checkOut(commit, root, code),
  };
}

async function checkOut(commit: string, root: string, code: CodePaths): Promise<Opened> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "temporalex-bisect-")));
  const close = () => rmSync(folder, { recursive: true, force: true });
  try {
    const to = join(folder, "code");
    const git = (...args: string[]) =>
      runGit(args, {
        cwd: root,
        signal: code.signal,
        env: { ...process.env, GIT_INDEX_FILE: join(folder, "index") },
      });
    await git("read-tree", commit);
    await git("checkout-index", "--all", "--quiet", `--prefix=${to}${sep}`);
    const modules = [
      ...code.workflows,
      ...code.interceptors,
      ...(code.payloadConverter === undefined ? [] : [code.payloadConverter]),
    ];
    for (const module of modules) linkPackages(dirname(realOf(module)), root, to);
    const at = (path: string): string => join(to, inside(path, root));
    const { payloadConverter } = code;
    return {
      workflows: code.workflows.map(at),
      interceptors: code.interceptors.map(at),
      ...(payloadConverter !== undefined && { payloadConverter: at(payloadConverter) }),
      folder: to,
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** Returns a module's real path; for a missing one, based on the nearest existing folder. */
function realOf(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  return join(realOf(dirname(path)), relative(dirname(path), path));
}

function inside(path: string, root: string): string {
  const below = relative(root, realOf(path));
  if (below.startsWith("..") || below === realOf(path)) {
    throw new UsageError(
      `${path} is outside of the git repository ${root}: --bisect has no earlier version of it`,
    );
  }
  return below;
}

/**
 * Links the currently installed packages, in each folder from the module's up to the repository's.
 */
function linkPackages(from: string, root: string, to: string): void {
  for (let folder = from; !relative(root, folder).startsWith(".."); folder = dirname(folder)) {
    const packages = join(folder, "node_modules");
    const there = join(to, relative(root, folder));
    const link = join(there, "node_modules");
    if (isFolder(packages) && isFolder(there) && !existsSync(link)) {
      symlinkSync(packages, link, "junction");
    }
    if (dirname(folder) === folder) return;
  }
}

const isFolder = (path: string): boolean =>
  existsSync(path) && statSync(path).isDirectory() && readdirSync(path).length > 0;

/** Returns standard output. Throws a UsageError with git's message. */
function runGit(
  args: readonly string[],
  options: { readonly cwd: string; readonly signal: AbortSignal; readonly env?: NodeJS.ProcessEnv },
): Promise<string> {
  return new Promise((resolve, reject) =>
    void execFile(
      "git",
      [...args],
      { ...options, maxBuffer: MAX_OUTPUT },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else if (options.signal.aborted) reject(options.signal.reason);
        else if ((error as { code?: unknown }).code === "ENOENT") {
          reject(
            new UsageError(
              "--bisect needs git, which is not installed; --versions takes modules instead",
            ),
          );
        } else reject(new UsageError(`git ${args[0]}: ${stderr.trim() || error.message}`));
      },
    )
  );
}
