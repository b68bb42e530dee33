// The realm's entry of an application that is bundled: it brings its workflows, and a converter of its own.
import { serveRealm } from "../../../ts/realm/mod.ts";
import { markedConverter } from "./marked_converter.ts";

serveRealm(() => import("./flows.ts"), { payloadConverter: markedConverter });
