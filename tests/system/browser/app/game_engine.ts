// The engine worker's entry of an application with reducers and tables.
import { serveEngine } from "../../../../ts/browser/mod.ts";
import * as reducers from "../../../unit/app/game/reducers.ts";

serveEngine({ reducers, migrations: reducers.migrations });
