// Assigns files of cases to test files. There are several test files so that they run in parallel
// and short ones run on every change.

/**
 * Files of cases by the test file that runs them, the first that fits; all others are of
 * `language.test.ts`.
 */
const PARTS = {
  official_programs: /^(temporal_program|compat_recorded|packages|examples_in_realms)/,
  divergences:
    /^(divergences|handler_divergences|side_effect_divergences|equal_step_divergences|canceled_step_divergences|caught_error_divergences|replaced_step_divergences|not_in_history|repairs|open_run_repairs|failing_code)\b/,
  realms: /^(realm_(builtins|escapes|guard|host|isolation|lines)|line_probes|dynamic_imports)\b/,
  broken_realms: /^realm_/,
  replays: /^(debug_|ended_findings|hostile_|partial_results_random|properties|random_constructs)/,
};
export type Part = keyof typeof PARTS | "language";

export function partOf(file: string): Part {
  return (Object.keys(PARTS) as (keyof typeof PARTS)[]).find((part) => PARTS[part].test(file)) ??
    "language";
}
