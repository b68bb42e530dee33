// Every subpath has types, with nothing but what the package brings.
import * as activity from "temporalex/activity";
import * as browser from "temporalex/browser";
import * as client from "temporalex/client";
import * as compatCommon from "temporalex/compat/common";
import * as compatWorkflow from "temporalex/compat/workflow";
import * as core from "temporalex/core";
import * as debug from "temporalex/debug";
import * as engine from "temporalex/engine";
import * as metrics from "temporalex/metrics";
import * as nexus from "temporalex/nexus";
import * as gateway from "temporalex/gateway";
import * as realm from "temporalex/realm";
import * as slim from "temporalex/slim";
import * as temporal from "temporalex/temporal";
import * as testing from "temporalex/testing";
import * as worker from "temporalex/worker";
import * as workflow from "temporalex/workflow";
import * as temporalex from "temporalex";
import * as whatIf from "temporalex/what-if";

export const names: string[] = [
  activity,
  browser,
  client,
  compatCommon,
  compatWorkflow,
  core,
  debug,
  engine,
  metrics,
  nexus,
  gateway,
  realm,
  slim,
  temporal,
  testing,
  worker,
  workflow,
  temporalex,
  whatIf,
].flatMap(
  Object.keys,
);
export const opened: Promise<temporalex.App> = temporalex.open({});
