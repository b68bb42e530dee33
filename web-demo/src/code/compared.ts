// Both sides of the tasks around the first difference, as rows to draw.
import type { OpenRun } from "../app/state.ts";
import type { GlyphKind } from "../ui/glyph.tsx";
import { divergenceOf } from "./parting.ts";

export interface ComparedSide {
  readonly glyph: GlyphKind | undefined;
  readonly text: string;
  /** Of the code: its line. */
  readonly more: string;
  /** Of history; 0: the code's side. */
  readonly eventId: number;
}

export interface ComparedRow {
  readonly code: ComparedSide | undefined;
  readonly history: ComparedSide | undefined;
  /** Undefined: the code was not run so far. */
  readonly isSame: boolean | undefined;
  /** The first difference of all. */
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

/** The line of "function (file:line:column)", for people; "" where it has none. */
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
        code: code && { glyph: GLYPHS[code.kind], text: code.text, more: siteLineText(code.site), eventId: 0 },
        history: history && { glyph: GLYPHS[history.kind], text: history.text, more: "", eventId: history.eventId },
        isSame: notReplayed ? undefined : same,
        isFirst,
      };
    }),
  }));
}

/** Without an explanation: the one pair that the replay stopped at. */
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
