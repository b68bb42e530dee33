// A workflow module with a package of somebody else's, which looks at the process while it is loaded.
import { label } from "a-package";
import { workflow } from "temporalex/workflow";

export const packaged = workflow("Packaged", () => Promise.resolve(label("done")));
