// Small changes of a module that a test should notice. Each operator gets one node of the syntax
// tree and returns replacements of parts of the text. Texts that only people read (messages, log
// lines) are not changed.
import { parse } from "acorn";

const COMPARISONS = {
  "<": ["<=", ">"],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
};
const ARITHMETIC = { "+": "-", "-": "+", "*": "/", "/": "*" };
const ASSIGNMENTS = { "+=": "-=", "-=": "+=", "??=": "=" };
const LOGICAL = { "&&": ["||"], "||": ["&&"], "??": ["&&"] };
/** Calls whose arguments people read, and that change nothing. */
const TALKERS = /^(console|log|#log|logger)$/;
const LEVELS = /^(debug|info|warn|trace)$/;
/** Constants up to here are counts and indexes, larger ones are times and sizes. */
const SMALL = 16;

/** All mutants of a module: {start, end, text, operator, line}. */
export function mutantsOf(code) {
  const tree = parse(code, { ecmaVersion: "latest", sourceType: "module", locations: true });
  const found = [];
  const at = (node, operator, text, { start = node.start, end = node.end } = {}) => {
    if (code.slice(start, end) === text) return;
    found.push({ start, end, text, operator, line: node.loc.start.line });
  };
  walk(tree, [], (node, parents) => mutate(node, parents, code, at));
  return found;
}

function walk(node, parents, visit) {
  if (visit(node, parents) === false) return;
  const inner = [...parents, node];
  for (const [key, value] of Object.entries(node)) {
    if (key === "loc") continue;
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === "string") walk(child, inner, visit);
    }
  }
}

/** Returns false where nothing inside is changed. */
function mutate(node, parents, code, at) {
  const parent = parents.at(-1);
  const text = (n) => code.slice(n.start, n.end);
  if (
    node.type === "ImportDeclaration" || node.type === "ExportAllDeclaration" ||
    node.type === "TemplateLiteral"
  ) return false;
  if (isTalk(node) || isError(node)) return false;
  switch (node.type) {
    case "BinaryExpression": {
      const { left, right, operator } = node;
      const between = { start: left.end, end: right.start };
      // Without the operators of a comment between the two sides.
      const swap = (to) => code.slice(left.end, right.start).replace(operator, to);
      for (const to of COMPARISONS[operator] ?? []) {
        at(node, `${operator} to ${to}`, swap(to), between);
      }
      const to = ARITHMETIC[operator];
      if (to !== undefined && !isText(left) && !isText(right)) {
        at(node, `${operator} to ${to}`, swap(to), between);
      }
      break;
    }
    case "LogicalExpression":
      for (const to of LOGICAL[node.operator]) {
        // `a ?? b || c` is a syntax error without parentheses.
        at(node, `${node.operator} to ${to}`, `((${text(node.left)}) ${to} (${text(node.right)}))`);
      }
      break;
    case "IfStatement":
    case "WhileStatement":
    case "ConditionalExpression":
      at(node.test, "condition negated", `!(${text(node.test)})`);
      break;
    case "UnaryExpression":
      if (node.operator === "!") at(node, "! removed", text(node.argument));
      break;
    case "UpdateExpression":
      at(
        node,
        `${node.operator} reversed`,
        text(node).replace(node.operator, node.operator === "++" ? "--" : "++"),
      );
      break;
    case "AssignmentExpression": {
      const to = ASSIGNMENTS[node.operator];
      if (to === undefined || isText(node.right)) break;
      const { left, right } = node;
      at(
        node,
        `${node.operator} to ${to}`,
        code.slice(left.end, right.start).replace(node.operator, to),
        {
          start: left.end,
          end: right.start,
        },
      );
      break;
    }
    case "AwaitExpression":
      at(node, "await removed", `(${text(node.argument)})`);
      break;
    case "ExpressionStatement":
      if (node.directive === undefined && node.expression.callee?.type !== "Super") {
        at(node, "statement removed", ";");
      }
      break;
    case "ThrowStatement":
    case "BreakStatement":
    case "ContinueStatement":
      at(node, "statement removed", ";");
      break;
    case "ReturnStatement":
      if (node.argument === null) at(node, "return removed", ";");
      else if (text(node.argument) !== "undefined") {
        at(node, "result dropped", `void ${text(node.argument)}; return;`);
      }
      break;
    case "BlockStatement":
      // A constructor that returns early leaves fields that nothing could use.
      if (
        /Function/.test(parent?.type) && node.body.length > 1 &&
        parents.at(-2)?.kind !== "constructor"
      ) {
        at(node, "return early", "return;", { start: node.start + 1, end: node.start + 1 });
      }
      break;
    case "Literal":
      literal(node, parent, at);
      break;
  }
  return true;
}

function literal(node, parent, at) {
  const { value } = node;
  if (typeof value === "boolean") at(node, `${value} to ${!value}`, String(!value));
  if (typeof value === "number") {
    if (value > SMALL) at(node, "constant to 0", "0");
    else at(node, "constant + 1", String(value + 1));
  }
  if (typeof value !== "string" || value === "") return;
  const isName = (parent.type === "Property" || parent.type === "PropertyDefinition" ||
    parent.type === "MethodDefinition") &&
    parent.key === node;
  // Words with spaces are for people.
  if (!isName && !value.includes(" ")) at(node, "string emptied", '""');
}

function isText(node) {
  return node.type === "TemplateLiteral" ||
    (node.type === "Literal" && typeof node.value === "string") ||
    (node.type === "BinaryExpression" && node.operator === "+" &&
      (isText(node.left) || isText(node.right)));
}

/** A log line, of any logger. */
function isTalk(node) {
  const call = node.type === "ExpressionStatement" ? node.expression : node;
  if (call.type !== "CallExpression") return false;
  const names = [];
  for (let at = call.callee; at !== undefined; at = at.object) names.push((at.property ?? at).name);
  // `info.text()` writes a field of something that is called info.
  return LEVELS.test(names[0] ?? "") || names.some((name) => TALKERS.test(name ?? ""));
}

/** An error under construction: its message is for people. */
function isError(node) {
  if (node.type !== "NewExpression" && node.type !== "CallExpression") return false;
  return /Error$|^Failure$/.test(node.callee.name ?? node.callee.property?.name ?? "");
}
