// Output of the command, as text and as JSON lines.
import { resolve } from "node:path";
import {
  describeChange,
  describeProblem,
  type ReplacementProgress,
  type Worker,
} from "../../../worker/mod.ts";
import { printable, printableLine } from "../../frame/printable.ts";
import type { WorkerCall } from "./options.ts";
import type { ReloadEvent } from "./reload.ts";

/** Reports a wait for the cluster. `why`: the reason; "" at first. */
export function printWaiting(
  { print }: WorkerCall,
  where: string,
  namespace: string,
  why: string,
): void {
  print.result(
    { event: "waiting", address: where, namespace, ...(why !== "" && { why }) },
    () =>
      `waiting for the Temporal cluster at ${where}, namespace "${namespace}"${
        why === "" ? "" : `: ${printableLine(why)}`
      }; Ctrl-C ends\n`,
  );
}

/** Addresses of a worker; undefined fields do not apply. */
export interface Places {
  readonly namespace: string;
  readonly where: string | undefined;
  readonly store: string | undefined;
  /** Address of the store for other processes. */
  readonly served: string | undefined;
  /** Address of the probes. */
  readonly listening: string | undefined;
  /** Number of watched files. */
  readonly watched: number | undefined;
}

/** Reports that the worker polls. */
export function printStarted({ print, options }: WorkerCall, worker: Worker, places: Places): void {
  const { workflowTypes, activityTypes, nexusServices: nexus, taskQueue } = worker;
  const { where, store, namespace, served, listening, watched } = places;
  // The embedded engine has one version at a time.
  const deployment = where === undefined ? undefined : options.deployment;
  const at = where === undefined ? ` of store ${store}` : ` of ${where}, namespace "${namespace}"`;
  print.result(
    {
      ...{ event: "started", taskQueue, workflowTypes, activityTypes, watching: watched ?? 0 },
      ...(where === undefined ? { store } : { address: where, namespace }),
      ...(deployment !== undefined && { deployment }),
      ...(nexus.length > 0 && { nexusServices: nexus }),
      ...(served !== undefined && { served }),
      ...(listening !== undefined && { listening }),
    },
    () =>
      `working on task queue "${taskQueue}"${at}${
        watched === undefined ? "" : `, watching ${watched} files`
      }\n` +
      (workflowTypes.length > 0 ? `  workflows:  ${workflowTypes.join(", ")}\n` : "") +
      (activityTypes.length > 0
        ? `  activities: ${activityTypes.join(", ")}\n`
        : "  activities: none; what workflows call waits for a worker with --activities\n") +
      (deployment === undefined ? "" : versionLine(deployment)) +
      (nexus.length > 0 ? `  Nexus:      ${nexus.join(", ")}\n` : "") +
      (listening === undefined
        ? ""
        : `  probes:     http://${listening}/healthz, /readyz, /metrics\n`),
  );
}

/** Hint for "shop.v7": such a worker may wait for tasks that the cluster does not route to it. */
function versionLine(deployment: string): string {
  const [name, ...build] = deployment.split(".");
  return `  version:    ${
    build.join(".")
  } of deployment ${name}; it gets tasks once it is current or ramping ` +
    "(temporal worker deployment set-current-version)\n";
}

export function progressText({ phase, checked, total }: ReplacementProgress): string {
  if (phase === "load") return "loading the changed workflows ...";
  return phase === "check"
    ? `replaying open runs: ${checked} of ${total}`
    : `switching over (${checked} of ${total} that moved on)`;
}

export function reloadText(event: ReloadEvent, { print, io }: WorkerCall): string {
  const at = print.paint(new Date().toISOString().slice(11, 19), "dim");
  const folder = `${resolve(io.cwd)}/`;
  // Engines name methods differently: "Object.eval [as run]" is run.
  const short = (text: string) =>
    printable(text).replaceAll(`file://${folder}`, "").replaceAll(folder, "")
      .replace(/\b(?:Object\.)?eval \[as (\w+)\]/g, "$1")
      // A line feed in a message cannot forge an event of the worker.
      .replaceAll("\n", "\n  ");
  switch (event.event) {
    case "replaced": {
      const { checkedRuns, pausedMs, broken, changed, ms, workflowTypes } = event;
      const runs = checkedRuns === 1
        ? "1 open run agreed"
        : `${checkedRuns} replays of open runs agreed`;
      const head = `${at} ${print.paint("live", "green")}: the changed workflows (${
        workflowTypes.join(", ")
      }); ${runs}, ${ms} ms, tasks waited ${pausedMs} ms\n`;
      const list = (what: string, runs: readonly string[]) =>
        runs.length === 0 ? "" : `  ${what}:\n${short(runs.join("\n"))}\n`;
      return head +
        list("runs that the old code does not replay either", broken.map(describeProblem)) +
        list("open runs that replay with other values", changed.map(describeChange));
    }
    case "activitiesReplaced":
      return `${at} ${print.paint("live", "green")}: the changed activities (${
        event.activities.join(", ")
      }), ${event.ms} ms\n`;
    case "nexusServicesReplaced":
      return `${at} ${print.paint("live", "green")}: the changed Nexus services (${
        event.nexusServices.join(", ")
      }), ${event.ms} ms\n`;
    case "refused":
      return `${at} ${print.paint("refused", "red")}: ${short(event.message)}\n`;
  }
}
