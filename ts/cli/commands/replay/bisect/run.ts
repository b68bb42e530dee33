// `temporalex replay --bisect` and `--versions`: finds the first version of the workflow code that
// does not replay all histories. Each tested version costs a realm and replays until the first
// divergence.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { bisectVersions } from "../../../../debug/bisect.ts";
import type { ValueComparison } from "../../../../debug/divergence/types.ts";
import type { WorkerRealm } from "../../../../realm/mod.ts";
import { Exit } from "../../../frame/exit.ts";
import { exitCodeOf, UsageError } from "../../../frame/errors.ts";
import type { importCodec } from "../../../service/codec.ts";
import { replayAll } from "../gate.ts";
import type { ReplayLine } from "../line.ts";
import type { ReplayCall } from "../options.ts";
import type { Source } from "../sources/source.ts";
import { historyLabel, replayLineText } from "../text.ts";
import { revisionsOf } from "./revisions.ts";
import type { CodeVersion, Opened } from "./version.ts";

/** Parts of the command that the search needs. */
export interface BisectWith {
  readonly source: Source;
  readonly threads: number;
  readonly codec: Awaited<ReturnType<typeof importCodec>>["codec"];
  readonly workflows: readonly string[];
  readonly interceptors: readonly string[];
  readonly compared: ValueComparison | undefined;
  readonly payloadConverter?: string;
  /** Throws if the modules do not load. */
  startRealm(code: Opened): Promise<WorkerRealm>;
}

/** Result of a version. */
interface Look {
  /** `notLoaded`: the result is unknown. */
  readonly verdict: "ok" | "diverges" | "notLoaded";
  /** Line of the first history that diverged. */
  readonly line?: ReplayLine;
  readonly why?: string;
}

/** Throws a UsageError for options that contradict a bisection. */
export function checkBisect({ options }: ReplayCall): void {
  const { bisect, versions, junit, sarif, html, github } = options;
  if (bisect !== undefined && versions.length > 0) {
    throw new UsageError("--bisect and --versions cannot be used together; use one of them");
  }
  const files = [
    junit !== undefined && "--junit",
    sarif !== undefined && "--sarif",
    html !== undefined && "--html",
  ];
  const reports = [...files, github && "--github"].filter(Boolean);
  const name = bisect === undefined ? "--versions" : "--bisect";
  if (reports.length > 0) {
    throw new UsageError(
      `${
        reports.join(" and ")
      } cannot be used with ${name}; make the report with a replay of the version that ${name} finds`,
    );
  }
  if (versions.length === 1) {
    throw new UsageError(
      "--versions needs at least two modules: repeat the option for each version, oldest first",
    );
  }
  if (versions.length > 0 && options.workflows.length > 0) {
    throw new UsageError(
      "--workflows and --versions cannot be used together: --versions names the workflow modules",
    );
  }
}

export async function bisectCommand(call: ReplayCall, search: BisectWith): Promise<number> {
  const { io, options, print, signal } = call;
  const { bisect, versions: modules } = options;
  const { workflows, interceptors, payloadConverter } = search;
  const code = {
    workflows,
    interceptors,
    ...(payloadConverter !== undefined && { payloadConverter }),
  };
  const versions = bisect === undefined
    ? modules.map((module) => versionOf(module, { ...code, workflows: [resolve(io.cwd, module)] }))
    : await revisionsOf(bisect, { ...code, cwd: io.cwd, signal });
  const looks = new Map<CodeVersion, Look>();
  const look = async (version: CodeVersion): Promise<Look> => {
    const known = looks.get(version);
    if (known !== undefined) return known;
    print.progress(`${version.version}, ${versions.length} versions`);
    const seen = await lookAt(version, call, search);
    print.progress("");
    looks.set(version, seen);
    const { verdict, line, why } = seen;
    print.result(
      {
        ...shown(version),
        verdict,
        ...(line !== undefined && { line }),
        ...(why !== undefined && { message: why }),
      },
      () =>
        `${`${verdict.padEnd(10)} ${version.version}  ${version.text}`.trimEnd()}${
          why === undefined ? "" : `\n    ${why}`
        }\n`,
    );
    return seen;
  };
  const holds = async (version: CodeVersion): Promise<boolean> => {
    // A version that does not load is replaced by the one before it; the result lists those that
    // could not be tested.
    for (let at = versions.indexOf(version); at >= 0; at--) {
      const { verdict } = await look(versions[at]!);
      if (verdict !== "notLoaded") return verdict === "diverges";
    }
    throw new UsageError(
      `cannot search: the workflow modules of ${versions[0]!.version}${
        versions[0] === version ? " do" : ` to ${version.version} do`
      } not load; start at a later version, or correct the path of the module. Error: ${
        (await look(version)).why
      }`,
    );
  };
  try {
    const { first } = await bisectVersions(versions, holds, { signal });
    signal.throwIfAborted();
    return conclude(call, versions, looks, first);
  } catch (error) {
    print.progress("");
    if (signal.aborted) return exitCodeOf(signal.reason);
    throw error;
  }
}

const versionOf = (module: string, code: Omit<Opened, "close">): CodeVersion => ({
  version: module,
  text: "",
  open: () => Promise.resolve({ ...code, close() {} }),
});

async function lookAt(
  version: CodeVersion,
  { options, signal }: ReplayCall,
  search: BisectWith,
): Promise<Look> {
  const code = await version.open();
  try {
    let realm: WorkerRealm;
    try {
      realm = await search.startRealm(code);
    } catch (error) {
      return { verdict: "notLoaded", why: relativeTo(code.folder, (error as Error).message) };
    }
    try {
      const enough = new AbortController();
      let wrong: ReplayLine | undefined;
      const onLine = (line: ReplayLine) => {
        if (line.verdict === "ok" || wrong !== undefined) return;
        if (line.verdict === "unreadable") {
          throw new UsageError(`${historyLabel(line)}: ${line.error?.message}`);
        }
        wrong = line;
        enough.abort();
      };
      const { threads, codec } = search;
      const ends = AbortSignal.any([signal, enough.signal]);
      await replayAll(search.source, {
        realm,
        threads,
        codec,
        strict: options.strict,
        compared: search.compared,
        values: options.values,
        signal: ends,
        onGone() {},
        onLine,
      });
      signal.throwIfAborted();
      if (wrong === undefined) return { verdict: "ok" };
      return {
        verdict: "diverges",
        line: JSON.parse(relativeTo(code.folder, JSON.stringify(wrong))) as ReplayLine,
      };
    } finally {
      await realm.dispose();
    }
  } finally {
    code.close();
  }
}

/** Shows paths of a revision as those of the repository, because its folder is deleted. */
function relativeTo(folder: string | undefined, text: string): string {
  if (folder === undefined) return text;
  const inJson = JSON.stringify(folder).slice(1, -1);
  return [pathToFileURL(folder).href, folder, inJson].reduce(
    (said, path) => said.replaceAll(`${path}/`, "").replaceAll(`${path}\\\\`, ""),
    text,
  );
}

const shown = ({ open: _, text: __, ...facts }: CodeVersion) => facts;

function conclude(
  { print }: ReplayCall,
  versions: readonly CodeVersion[],
  looks: ReadonlyMap<CodeVersion, Look>,
  first: CodeVersion | undefined,
): number {
  if (looks.size === 0) throw new UsageError("no version to check");
  const at = first === undefined ? versions.length : versions.indexOf(first);
  const verdictOf = (version: CodeVersion) => looks.get(version)?.verdict;
  // Versions before it that did not load may be the first one as well.
  let before = at - 1;
  while (before >= 0 && verdictOf(versions[before]!) === "notLoaded") before--;
  const unknown = versions.slice(before + 1, at);
  const last = versions[before];
  const line = first === undefined ? undefined : looks.get(first)?.line;
  print.result(
    {
      bisect: {
        versions: versions.length,
        tried: looks.size,
        ...(first !== undefined && { first: shown(first) }),
        ...(last !== undefined && { before: shown(last) }),
        ...(unknown.length > 0 && { notLoaded: unknown.map(shown) }),
        ...(line !== undefined && { line }),
      },
    },
    () => {
      const count = `${looks.size} of ${versions.length} versions were looked at`;
      if (first === undefined) {
        return `\nThe newest version, ${
          last!.version
        }, replays all of the histories: none was broken. ${count}.\n`;
      }
      const maybe = unknown.length === 0
        ? ""
        : `, or one of ${unknown.length} before it that do not load`;
      const oldest = last === undefined
        ? "The oldest version does not replay either: name an older one. "
        : "";
      const head =
        `\n${oldest}${first.version} is the first version that does not replay${maybe}. ${count}.\n`;
      return `${head}${first.text === "" ? "" : `${first.text}\n`}${
        line === undefined ? "" : replayLineText(line, print)
      }`;
    },
  );
  return first === undefined ? Exit.ok : Exit.failed;
}
