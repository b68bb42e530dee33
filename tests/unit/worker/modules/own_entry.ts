// The realm's entry of a bundled application: it contains its workflows and a custom converter.
import { serveRealm } from "../../../../ts/realm/mod.ts";
import { markedConverter } from "./marked_converter.ts";

serveRealm(() => import("./flows.ts"), { payloadConverter: markedConverter });
