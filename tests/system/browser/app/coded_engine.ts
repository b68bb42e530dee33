// The engine worker's entry of an application with reducers and a payload codec.
import { serveEngine } from "../../../../ts/browser/mod.ts";
import * as reducers from "../../../unit/app/game/reducers.ts";
import { turningCodec as codec } from "./codec.ts";

serveEngine({ reducers, migrations: reducers.migrations, codec });
