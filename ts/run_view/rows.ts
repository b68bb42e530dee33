// The rows of the event list: one per item, a thin rule per workflow task; if expanded, one per
// event.
import type { EventLine } from "../debug/events.ts";
import type { ItemKind, RunItem, RunModel } from "../debug/run/types.ts";

export type Row =
  | { readonly is: "item"; readonly item: RunItem; readonly from: number; readonly to: number }
  | {
    readonly is: "task";
    readonly item: RunItem;
    readonly number: number;
    readonly from: number;
    readonly to: number;
  }
  | {
    readonly is: "event";
    readonly line: EventLine;
    readonly kind: ItemKind;
    readonly from: number;
    readonly to: number;
  };

export interface Choice {
  readonly hidden: ReadonlySet<ItemKind>;
  /** Every event has a separate row. */
  readonly isUnfolded: boolean;
  /** Indices of the items that a search found; undefined: no search. */
  readonly found: ReadonlySet<number> | undefined;
}

export function listRows(model: RunModel, { hidden, isUnfolded, found }: Choice): readonly Row[] {
  const isShown = (item: RunItem) =>
    !hidden.has(item.kind) && (found === undefined || found.has(item.index));
  if (isUnfolded) {
    return model.lines.flatMap((line): Row[] => {
      const item = model.itemOf(line.eventId);
      if (item !== undefined && !isShown(item)) return [];
      return [{
        is: "event",
        line,
        kind: item?.kind ?? "unknown",
        from: line.eventId,
        to: line.eventId,
      }];
    });
  }
  let tasks = 0;
  return model.items.flatMap((item): Row[] => {
    const number = item.kind === "task" ? ++tasks : 0;
    if (!isShown(item)) return [];
    const { from, to } = item;
    return [number > 0 ? { is: "task", item, number, from, to } : { is: "item", item, from, to }];
  });
}

/** Times of shorter runs need more digits to differ. */
const SHORT_MS = 2000;

/** Returns the number of digits after the second that make the times of a run distinct. */
export const digitsOf = ({ lines }: Pick<RunModel, "lines">): number =>
  (lines.at(-1)?.timeMs ?? 0) - (lines[0]?.timeMs ?? 0) < SHORT_MS ? 3 : 1;

/** Returns the texts of a row. */
export function rowText(
  model: RunModel,
  row: Row,
): { readonly kind: ItemKind; readonly name: string; readonly detail: string } {
  if (row.is === "task") return { kind: "task", name: `task ${row.number}`, detail: "" };
  if (row.is === "event") {
    return {
      kind: row.kind,
      name: `${row.line.eventId} ${row.line.type}`,
      detail: row.line.summary,
    };
  }
  const detail = row.from === 1 ? "starts" : model.detailOf(row.item);
  return { kind: row.item.kind, name: row.item.name, detail };
}
