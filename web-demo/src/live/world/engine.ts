// The world's engine worker: its tables and reducers live beside the store.
import { serveEngine } from "temporalex/browser";
import * as reducers from "../../../../examples/world/reducers.ts";

serveEngine({ reducers, migrations: reducers.migrations });
