// Edits of definitions, handlers, canceled timers and equal steps. `lines`: lines that a report may
// name, because the changed line is gone or two lines belong to the edit.
import { Parser } from "acorn";
import { nodesOf } from "./edits.mjs";

const DEFINES = new Set(["signal", "update", "defineSignal", "defineUpdate"]);
const GROUPS = new Set(["parallel", "all", "race", "select"]);

const calleeName = ({ callee }) =>
  callee.type === "MemberExpression" ? callee.property.name : callee.name;

/** Collects edits of `code` that still parse. */
function makeCollector(code) {
  const edits = [];
  const add = (kind, expect, names, lines, start, end, by) => {
    // Later lines keep their numbers.
    const gone = code.slice(start, end).split("\n").length - by.split("\n").length;
    const changed = code.slice(0, start) + by + "\n".repeat(Math.max(0, gone)) + code.slice(end);
    try {
      Parser.parse(changed, { ecmaVersion: "latest", sourceType: "module" });
    } catch {
      return;
    }
    edits.push({ kind, expect, names, line: lines[0], lines, code: changed });
  };
  return { edits, add };
}

/**
 * Returns the edits of a program that concern messages, timers of a race, and equal steps.
 * @param {string} code JavaScript
 * @returns {{ kind: string, expect: string[], names: string[], line: number, lines: number[], code: string }[]}
 */
export function messageEditsOf(code) {
  const tree = Parser.parse(code, { ecmaVersion: "latest", sourceType: "module", locations: true });
  const calls = [...nodesOf(tree)].filter(({ node }) => node.type === "CallExpression");
  const { edits, add } = makeCollector(code);
  const defined = editDefinitions(tree, code, add);
  for (const { node } of calls) {
    const called = calleeName(node);
    editHandler(node, called, defined, add);
    const list = node.arguments.find(({ type }) => type === "ArrayExpression");
    if (list === undefined || !(GROUPS.has(called) || called === "receive")) continue;
    list.elements.forEach((element, i) => {
      editElement(list.elements, i, element, defined, code, add);
    });
  }
  for (const { node } of calls) {
    if (calleeName(node) !== "condition" || node.arguments.length !== 2) continue;
    const [test, limit] = node.arguments;
    const { line } = node.loc.start;
    add("drop timer", ["removed", "endedEarly"], ["timer"], [line], test.end, limit.end, "");
  }
  return edits;
}

/** Returns the declared messages by variable: their name, line and defining call. */
function editDefinitions(tree, code, add) {
  const defined = new Map();
  for (const { node: declared } of nodesOf(tree)) {
    if (declared.type !== "VariableDeclarator" || declared.init?.type !== "CallExpression") {
      continue;
    }
    const [first] = declared.init.arguments;
    if (!DEFINES.has(calleeName(declared.init)) || first?.type !== "Literal") continue;
    const { line } = declared.loc.start;
    defined.set(declared.id.name, {
      name: first.value,
      line,
      define: code.slice(declared.init.callee.start, declared.init.callee.end),
    });
    const by = JSON.stringify(`${first.value}-2`);
    add("rename definition", ["handlerMissing"], [first.value], [line], first.start, first.end, by);
  }
  return defined;
}

function editHandler(node, called, defined, add) {
  const [first] = node.arguments;
  const message = first?.type === "Identifier" ? defined.get(first.name) : undefined;
  if (message === undefined || !["on", "setHandler", "waitForSignal"].includes(called)) return;
  const { line } = node.loc.start;
  const expect = ["handlerMissing"];
  const by = `${message.define}("${message.name}-2")`;
  add("rename handler", expect, [message.name], [line], first.start, first.end, by);
  if (called !== "setHandler") return;
  const lines = [line, message.line];
  add("remove handler", expect, [message.name], lines, node.start, node.end, "0");
}

/** Edits one element of a list of handlers, arms or promises. */
function editElement(elements, i, element, defined, code, add) {
  const next = elements[i + 1];
  // A comma without an element would be a hole.
  const [from, to] = next !== undefined || i === 0
    ? [element.start, next?.start ?? element.end]
    : [elements[i - 1].end, element.end];
  const inner = element.type === "CallExpression" ? element.arguments[0] : undefined;
  const handled = inner?.type === "Identifier" ? defined.get(inner.name) : undefined;
  const { line } = element.loc.start;
  if (handled !== undefined) {
    const lines = [line, handled.line];
    return add("remove handler", ["handlerMissing"], [handled.name], lines, from, to, "");
  }
  const text = code.slice(element.start, element.end);
  if (/^(?:timer|sleep|on\(timer)/.test(text)) {
    return add("drop timer", ["removed", "endedEarly"], ["timer"], [line], from, to, "");
  }
  const activities = [...text.matchAll(/acts\.(\w+)/g)].map(([, name]) => name);
  const timers = /sleep\(/.test(text) ? ["timer"] : [];
  const names = /executeChild\((\w+)/.test(text)
    ? ["Pack", "Piece", "child"]
    : [...activities, ...timers];
  // A report may name any line of a removed element, and either copy of an added one.
  const last = element.loc.end.line;
  add("drop equal", ["removed", "endedEarly"], names, [line, last], from, to, "");
  const copies = [line, line + text.split("\n").length - 1];
  const { start } = element;
  add("add equal", ["inserted", "endedLate"], names, copies, start, start, `${text}, `);
}
