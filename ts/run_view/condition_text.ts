// Why an open `condition` does not end: its predicate with the values of the operands, and signals
// that left these values as they were. Each part is recorded in the replay.
import type { BranchTest, ConditionFacts, CopiedValue } from "../debug/code/types.ts";
import { lineOfValue } from "./value_text.ts";
import type { Said } from "./why.ts";

/** Operands and signals in a text; more are left out. */
const MOST_OPERANDS = 4, MOST_SIGNALS = 3;

/** Characters of a value. */
const VALUE_ROOM = 60;

/** Returns the sentences about a condition. */
export function describeCondition({ test, unchangedBy }: ConditionFacts): Said[] {
  const values = listOperands(test);
  const what: Said = [
    "Condition ",
    { name: test.text },
    ` is false${values === "" ? "" : `: ${values}`}.`,
  ];
  if (values === "") return [what];
  const signals = unchangedBy.slice(-MOST_SIGNALS).map(({ name, eventId }): Said => [
    "Signal ",
    { name },
    ` was handled (event ${eventId}) and did not change these values.`,
  ]);
  return [what, ...signals];
}

/** Formats operands and their values: `status is "NEW", count is 2`. */
function listOperands({ text, operands }: BranchTest): string {
  const known = operands.filter(({ value, text: own }, i) =>
    value !== undefined && !value.text.startsWith('"<function') &&
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
