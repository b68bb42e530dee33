// Converts the text of the filter to a query: a query, or words that stand for conditions.
const OPERATOR = /[=<>()"']|\b(?:between|starts_with|is\s+(?:not\s+)?null|order\s+by)\b/i;
const FIELDS: { readonly [name: string]: (value: string) => string } = {
  id: (value) => `WorkflowId = ${quoted(value)}`,
  type: (value) => `WorkflowType = ${quoted(value)}`,
  status: (value) => `ExecutionStatus = ${quoted(statusValue(value))}`,
  queue: (value) => `TaskQueue = ${quoted(value)}`,
  run: (value) => `RunId = ${quoted(value)}`,
};

const quoted = (value: string): string => JSON.stringify(value);

/** Converts "timed-out" and "TIMED_OUT" to "TimedOut", the form of queries. */
const statusValue = (text: string): string =>
  text.split(/[-_]/).map((part) => {
    const rest = part.slice(1);
    return part.slice(0, 1).toUpperCase() +
      (rest === rest.toUpperCase() ? rest.toLowerCase() : rest);
  }).join("");

/**
 * The list filter for a text. Text with an operator is a filter already. Otherwise each word is
 * `type:Cart`, `status:failed`, `queue:orders`, `run:ID`, `id:ID`, or the start of a workflow id.
 */
export function asQuery(text: string): string {
  const typed = text.trim();
  if (typed === "" || OPERATOR.test(typed)) return typed;
  return typed.split(/\s+/).map((word) => {
    const [, name = "", value = ""] = /^(\w+):(.+)$/.exec(word) ?? [];
    const condition = FIELDS[name.toLowerCase()];
    return condition === undefined ? `WorkflowId STARTS_WITH ${quoted(word)}` : condition(value);
  }).join(" AND ");
}
