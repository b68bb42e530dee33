// Edits of definitions, handlers, canceled timers and equal steps. `lines`: lines that a report may
// name, because the changed line is gone or two lines belong to the edit.
import { Parser } from "acorn";
import { nodesOf } from "./edits.mjs";

const DEFINES = new Set(["signal", "update", "defineSignal", "defineUpdate"]);
const GROUPS = new Set(["parallel", "all", "race", "select"]);

const calleeName = ({ callee }) =>
  callee.type === "MemberExpression" ? callee.property.name : callee.name;

/**
 * Returns the edits of a program that concern messages, timers of a race, and equal steps.
 * @param {string} code JavaScript
 * @returns {{ kind: string, expect: string[], names: string[], line: number, lines: number[], code: string }[]}
 */
export function messageEditsOf(code) {
  const tree = Parser.parse(code, { ecmaVersion: "latest", sourceType: "module", locations: true });
  const calls = [...nodesOf(tree)].filter(({ node }) => node.type === "CallExpression");
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
  for (const { node } of calls) {
    const called = calleeName(node);
    const [first] = node.arguments;
    const message = first?.type === "Identifier" ? defined.get(first.name) : undefined;
    const { line } = node.loc.start;
    if (message !== undefined && ["on", "setHandler", "waitForSignal"].includes(called)) {
      const by = `${message.define}("${message.name}-2")`;
      add("rename handler", ["handlerMissing"], [message.name], [line], first.start, first.end, by);
      if (called === "setHandler") {
        add(
          "remove handler",
          ["handlerMissing"],
          [message.name],
          [line, message.line],
          node.start,
          node.end,
          "0",
        );
      }
    }
    const list = node.arguments.find(({ type }) => type === "ArrayExpression");
    if (list === undefined || !(GROUPS.has(called) || called === "receive")) continue;
    list.elements.forEach((element, i) => {
      const next = list.elements[i + 1];
      // A comma without an element would be a hole.
      const [from, to] = next !== undefined || i === 0
        ? [element.start, next?.start ?? element.end]
        : [list.elements[i - 1].end, element.end];
      const inner = element.type === "CallExpression" ? element.arguments[0] : undefined;
      const handled = inner?.type === "Identifier" ? defined.get(inner.name) : undefined;
      const at = element.loc.start.line;
      if (handled !== undefined) {
        return add(
          "remove handler",
          ["handlerMissing"],
          [handled.name],
          [at, handled.line],
          from,
          to,
          "",
        );
      }
      const text = code.slice(element.start, element.end);
      const names = /timer|sleep/.test(text)
        ? ["timer"]
        : /executeChild\((\w+)/.test(text)
        ? ["Pack", "Piece", "child"]
        : ["score"];
      const isTimer = names[0] === "timer";
      add(
        isTimer ? "drop timer" : "drop equal",
        ["removed", "endedEarly"],
        names,
        [at],
        from,
        to,
        "",
      );
      if (!isTimer) {
        add(
          "add equal",
          ["inserted", "endedLate"],
          names,
          [at],
          element.start,
          element.start,
          `${text}, `,
        );
      }
    });
  }
  for (const { node } of calls) {
    if (calleeName(node) !== "condition" || node.arguments.length !== 2) continue;
    const [test, limit] = node.arguments;
    add(
      "drop timer",
      ["removed", "endedEarly"],
      ["timer"],
      [node.loc.start.line],
      test.end,
      limit.end,
      "",
    );
  }
  return edits;
}
