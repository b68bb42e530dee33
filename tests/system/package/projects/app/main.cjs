// CommonJS, where Node can require ES modules.
const temporalex = require("temporalex");
const { pathToFileURL } = require("node:url");

import("./run.mjs").then(async ({ runCart }) => {
  const workflows = pathToFileURL(`${__dirname}/workflows.ts`);
  const activities = { charge: (customer, items) => `${customer} pays for ${items.join(" and ")}` };
  console.log(
    JSON.stringify(await runCart(temporalex, { path: "cjs.sqlite", workflows, activities })),
  );
});
