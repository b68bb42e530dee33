// `temporalex lint`.
import { existsSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isBundle } from "../../../modules/bundle/format.ts";
import { type LintFinding, lintWorkflows } from "../../../modules/lint/lint.ts";
import {
  isRuleId,
  type Rule,
  type RuleId,
  RULES,
  type Severity,
} from "../../../modules/lint/rules.ts";
import { Exit } from "../../frame/exit.ts";
import { UsageError } from "../../frame/errors.ts";
import { printable } from "../../frame/printable.ts";
import { configuredWorkflows } from "../../modules/workflow_modules.ts";
import { counted } from "../store/sizes.ts";
import type { LintCall } from "./options.ts";

export async function lintCommand(call: LintCall): Promise<number> {
  const { options, args, io, print } = call;
  if (options.rules) return showRules(call);
  const rules = severities(options.rule);
  const paths = args.length > 0
    ? args.map((path) => resolve(io.cwd, path))
    : configuredWorkflows(io.cwd);
  for (const path of paths) {
    if (!existsSync(path)) throw new UsageError(`module not found: ${path}`);
    if (statSync(path).isFile() && isBundle(readFileSync(path, "utf8"))) {
      throw new UsageError(
        `${path} is a bundle of \`temporalex build\`: lint the modules that it was made from`,
      );
    }
  }
  const { findings, files } = await lintWorkflows(paths.map((path) => pathToFileURL(path)), {
    rules,
  });
  // A result without any checked file would be misleading.
  if (files.length === 0) {
    throw new UsageError(
      `${paths.join(", ")}: no module (.ts, .js, ...), so nothing was looked at`,
    );
  }
  const count = (severity: Severity) =>
    findings.filter((finding) => finding.severity === severity).length;
  const [errors, warnings] = [count("error"), count("warning")];
  const ok = errors === 0 && warnings <= (options.maxWarnings ?? Infinity);
  print.result({ ok, errors, warnings, files: files.length, findings }, () => {
    const text = findings.map((finding) => textOf(finding, call)).join("");
    const summary = findings.length === 0
      ? "nothing found"
      : `${counted(errors, "error")}, ${counted(warnings, "warning")}`;
    return `${text}${print.paint(summary, ok ? "green" : "red")} in ${
      counted(files.length, "module")
    }\n`;
  });
  return ok ? Exit.ok : Exit.failed;
}

function severities(given: readonly string[]): { [rule in RuleId]?: Severity | "off" } {
  const rules: { [rule in RuleId]?: Severity | "off" } = {};
  for (const setting of given) {
    const [rule = "", severity = ""] = setting.split("=");
    if (!isRuleId(rule)) {
      throw new UsageError(`unknown rule "${rule}"; temporalex lint --rules lists them`);
    }
    if (severity !== "off" && severity !== "warning" && severity !== "error") {
      throw new UsageError(
        `--rule ${setting}: write ${rule}=off, ${rule}=warning or ${rule}=error`,
      );
    }
    // The module would not load.
    if ((RULES[rule] as Rule).loader === true && rule !== "module-state" && severity !== "error") {
      throw new UsageError(`--rule ${setting}: what the loader refuses cannot be switched off`);
    }
    rules[rule] = severity;
  }
  return rules;
}

/** In the form `file:line:column`, which terminals turn into links. */
function textOf(
  { file, line, column, rule, severity, message, why, advice }: LintFinding,
  { io, print }: LintCall,
): string {
  const short = file.startsWith(`${resolve(io.cwd)}/`)
    ? file.slice(resolve(io.cwd).length + 1)
    : file;
  const at = line === 0 ? short : `${short}:${line}${column === 0 ? "" : `:${column}`}`;
  const word = severity === "error"
    ? print.paint("error", "red")
    : print.paint("warning", "yellow");
  return `${at}: ${word} ${printable(message)} ${
    print.paint(`[${rule}]`, "dim")
  }\n    why: ${why}\n    do:  ${advice}\n`;
}

function showRules({ print }: LintCall): number {
  const rules = Object.entries(RULES as { readonly [id: string]: Rule }).map((
    [rule, described],
  ) => ({ rule, ...described }));
  print.result(
    rules,
    () =>
      rules.map(({ rule, severity, finds, why, advice }) =>
        `${
          print.paint(rule, "bold")
        } (${severity}): ${finds}\n    why: ${why}\n    do:  ${advice}\n`
      ).join(""),
  );
  return Exit.ok;
}
