// The engine worker's entry of an application with reducers, functions and tables.
import { serveEngine } from "../../../../ts/browser/mod.ts";
import * as functions from "./game_functions.ts";
import * as reducers from "../../../unit/app/game/reducers.ts";

serveEngine({ reducers, functions, migrations: reducers.migrations });
