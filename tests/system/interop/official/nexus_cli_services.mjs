// The services of nexus_service.mjs as a module for `temporalex worker --nexus-services`.
import * as common from "@temporalio/common";
import * as temporal from "@temporalio/nexus";
import * as nexus from "nexus-rpc";
import { services } from "./nexus_service.mjs";

export const handlers = services(nexus, temporal, common);
