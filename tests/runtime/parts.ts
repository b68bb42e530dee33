// Assigns files of cases to test files. There are several test files so that they run in parallel and short ones run on
// every change.

/** Files of cases by the test file that runs them, the first that fits; all others are of `language.test.ts`. */
const PARTS = {
  realms:
    /^(realm_(builtins|escapes|guard|host|isolation|lines)|examples_in_realms|compat_recorded|line_probes|divergences|failing_code|not_in_history|open_run_repairs|side_effect_divergences|handler_divergences|repairs|dynamic_imports|temporal_program(s|_sandbox|_interceptors|_unreplayed|_logs|_words|_types|_groups|_nexus)|packages(_of_text)?)\b/,
  broken_realms: /^realm_/,
  replays: /^(debug_|ended_findings|hostile_|properties|random_constructs)/,
};
export type Part = keyof typeof PARTS | "language";

export function partOf(file: string): Part {
  return (Object.keys(PARTS) as (keyof typeof PARTS)[]).find((part) => PARTS[part].test(file)) ?? "language";
}
