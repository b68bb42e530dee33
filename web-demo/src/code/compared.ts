// Commands of the code and of the history in the tasks around the first difference, as table rows.
import type { OpenRun } from "../store/state.ts";
import type { GlyphKind } from "../ui/glyph.tsx";
import { divergenceOf } from "./parting.ts";

export interface ComparedSide {
  readonly glyph: GlyphKind | undefined;
  readonly text: string;
  /** The code's line; "" on the side of the history. */
  readonly more: string;
  /** 0 on the side of the code. */
  readonly eventId: number;
}

export interface ComparedRow {
  readonly code: ComparedSide | undefined;
  readonly history: ComparedSide | undefined;
  /** Undefined: the code did not run this far. */
  readonly isSame: boolean | undefined;
  /** Whether this is the first difference. */
  readonly isFirst: boolean;
}

export interface ComparedTask {
  readonly task: number;
  readonly rows: readonly ComparedRow[];
}

const GLYPHS: { readonly [kind: string]: GlyphKind } = {
  activity: "activity",
  localActivity: "localActivity",
  timer: "timer",
  child: "child",
  signal: "external",
  patch: "marker",
  sideEffect: "marker",
  transact: "marker",
  update: "update",
  cancel: "external",
  searchAttributes: "searchAttributes",
  memo: "searchAttributes",
  nexus: "nexus",
  marker: "marker",
  end: "run",
};

/** The file and line of "function (file:line:column)"; "" without them. */
export const siteLineText = (site: string): string => {
  const line = /:(\d+)(?::\d+)?\)?$/.exec(site)?.[1];
  return line === undefined ? "" : `line ${line}`;
};

export function comparedTasks(run: OpenRun): readonly ComparedTask[] {
  const divergence = divergenceOf(run);
  if (divergence === undefined) return oneTask(run);
  let isBefore = true;
  return divergence.tasks.map(({ task, pairs, notReplayed }) => ({
    task,
    rows: pairs.map(({ code, history, same }) => {
      const isFirst = isBefore && !same && !notReplayed && task === divergence.firstTask;
      if (isFirst) isBefore = false;
      return {
        code: code &&
          { glyph: GLYPHS[code.kind], text: code.text, more: siteLineText(code.site), eventId: 0 },
        history: history &&
          { glyph: GLYPHS[history.kind], text: history.text, more: "", eventId: history.eventId },
        isSame: notReplayed ? undefined : same,
        isFirst,
      };
    }),
  }));
}

/** Without an explanation: only the pair at which the replay stopped. */
function oneTask(run: OpenRun): readonly ComparedTask[] {
  const session = run.session.value;
  const problem = session?.problem;
  if (session === undefined || problem === undefined || !problem.isDivergence) return [];
  const task = session.tasks.findLast(({ eventId }) => eventId <= problem.position);
  const side = (text: string, more: string, eventId: number): ComparedSide | undefined =>
    text === "" ? undefined : { glyph: undefined, text, more, eventId };
  return [{
    task: (task?.index ?? 0) + 1,
    rows: [{
      code: side(problem.actual, siteLineText(problem.location), 0),
      history: side(problem.expected, "", problem.eventId),
      isSame: false,
      isFirst: true,
    }],
  }];
}
