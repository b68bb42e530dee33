// Heads of the rows. The head of a chain has the button that unfolds its lanes.
import type { JSX } from "preact";
import { Glyph } from "../ui/glyph.tsx";
import { Icon } from "../ui/icon.tsx";
import { Head } from "../timeline/head.tsx";
import { CHAIN_PX, type ChainRow } from "./rows.ts";
import { unfold } from "./unfolded.ts";

/** Per level of child chains. */
const INDENT_PX = 12;

export const Heads = ({ rows }: { readonly rows: readonly ChainRow[] }): JSX.Element => (
  <ul class="tl-heads" aria-label="Runs and their lanes">
    {rows.map((row) => [
      <ChainHead key={row.line.chain.key} row={row} />,
      ...row.lanes.map(({ lane, height }) => (
        <Head
          key={`${row.line.chain.key} ${lane.key}`}
          kind={lane.kind}
          label={lane.label}
          height={height}
          count={lane.items.length}
        />
      )),
    ])}
  </ul>
);

function ChainHead(
  { row: { line: { chain }, depth, isOpen } }: { readonly row: ChainRow },
): JSX.Element {
  const { type, id } = chain.pieces[0]!.run.model.facts;
  const runs = chain.pieces.length === 1 ? "" : `, ${chain.pieces.length} runs`;
  const text = `${type}${id === "" ? "" : ` ${id}`}${runs}`;
  return (
    <li
      class="tl-head ch-head"
      ref={(element) => {
        element?.style.setProperty("height", `${CHAIN_PX}px`);
        element?.style.setProperty("--depth", `${depth * INDENT_PX}px`);
      }}
    >
      <button
        type="button"
        class="ch-fold"
        aria-expanded={isOpen}
        aria-label={`Lanes of ${text}`}
        title={`${text}: ${isOpen ? "fold" : "unfold"} its lanes`}
        onClick={() => unfold(chain, !isOpen)}
      >
        <Icon name={isOpen ? "down" : "right"} size={14} />
        <Glyph kind={depth === 0 ? "run" : "child"} />
        <span class="cut">{type}</span>
        {chain.pieces.length > 1 && <small>{chain.pieces.length}</small>}
      </button>
    </li>
  );
}
