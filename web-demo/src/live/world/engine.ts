// The engine worker of the world: its tables and reducers are in the store's database.
import { serveEngine } from "temporalex/browser";
import * as reducers from "../../../../examples/world/reducers.ts";

serveEngine({ reducers, migrations: reducers.migrations });
