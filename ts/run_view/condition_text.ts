// Why an open `condition` does not end: its predicate with the values of the operands, signals that
// left these values as they were, and the handlers that can change them. Values are recorded in the
// replay; what handlers can change comes from the text of the code.
import type {
  BranchTest,
  ConditionFacts,
  ConditionHandler,
  CopiedValue,
} from "../debug/code/types.ts";
import { lineOfValue } from "./value_text.ts";
import type { Said } from "./why.ts";

/** Operands, signals and handlers in a text; more are left out. */
const MOST_OPERANDS = 4, MOST_SIGNALS = 3, MOST_HANDLERS = 6;

/** Characters of a value. */
const VALUE_ROOM = 60;

/** Returns the sentences about a condition. */
export function describeCondition(facts: ConditionFacts): Said[] {
  const { test, unchangedBy } = facts;
  const values = listOperands(test);
  const what: Said = [
    "Condition ",
    { name: test.text },
    ` is false${values === "" ? "" : `: ${values}`}.`,
  ];
  const changes = describeChanges(facts);
  if (values === "") return [what, ...changes];
  const signals = unchangedBy.slice(-MOST_SIGNALS).map(({ name, eventId }): Said => [
    "Signal ",
    { name },
    ` was handled (event ${eventId}) and did not change these values.`,
  ]);
  return [what, ...signals, ...changes];
}

/** Whether all handlers that can change the conditions are known. */
export const areChangesKnown = (facts: readonly ConditionFacts[]): boolean =>
  facts.every(({ changedBy }) => changedBy !== undefined);

/** Returns the sentences about the handlers that can change a condition. */
function describeChanges({ variables, changedBy }: ConditionFacts): Said[] {
  if (changedBy === undefined) return [];
  const writing = changedBy.filter((one) => one.variables.length > 0);
  const others = changedBy.filter((one) => one.variables.length === 0);
  const said: Said[] = writing.slice(0, MOST_HANDLERS).map((one) => [
    ...namedHandler(one, true),
    one.isIndirect
      ? " may change it: it can end another wait, after which the code writes "
      : " can change it: its handler writes ",
    ...one.variables.flatMap((name, i): Said => i === 0 ? [{ name }] : [", ", { name }]),
    one.place === undefined ? "." : ` at line ${one.place.line}.`,
  ]);
  if (others.length > 0) {
    const names = others.slice(0, MOST_HANDLERS).flatMap((one, i): Said =>
      i === 0 ? namedHandler(one, true) : [", ", ...namedHandler(one, false)]
    );
    const more = others.length > MOST_HANDLERS ? ` and ${others.length - MOST_HANDLERS} more` : "";
    said.push([...names, `${more} may change it.`]);
  }
  if (changedBy.length === 0 && variables !== undefined && variables.length > 0) {
    const names = variables.slice(0, MOST_OPERANDS).flatMap((name, i): Said =>
      i === 0 ? [{ name }] : [" or ", { name }]
    );
    said.push(["No message handler that is set now writes ", ...names, "."]);
  }
  return said;
}

const namedHandler = ({ kind, name }: ConditionHandler, isFirst: boolean): Said => [
  isFirst ? (kind === "signal" ? "Signal " : "Update ") : `${kind} `,
  { name },
];

/** Formats operands and their values: `status is "NEW", count is 2`. */
function listOperands({ text, operands }: BranchTest): string {
  const known = operands.filter(({ value, text: own }, i) =>
    value !== undefined && !value.text.startsWith('"<function') && own !== "undefined" &&
    !(own === text && value.value === false) &&
    operands.findIndex((one) => one.text === own && one.value?.text === value.text) === i
  );
  return known.slice(0, MOST_OPERANDS).map(({ text: own, value }) =>
    `${own} is ${valueText(value!)}`
  ).join(", ");
}

const valueText = ({ text, value, cut }: CopiedValue): string =>
  text === '"<undefined>"'
    ? "undefined"
    : cut
    ? `${text.slice(0, VALUE_ROOM)}…`
    : lineOfValue(value, VALUE_ROOM);
