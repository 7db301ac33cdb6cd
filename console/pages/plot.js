// Loads uPlot, which draws the charts, with its style sheet. Only views with a chart import this module.

import { byId } from "./dom.js";

// The elements are in the page, because a script element that a script makes needs a policy of trusted types.
const library = byId("uplot").content.cloneNode(true);
const script = library.querySelector("script");
await new Promise((resolve, reject) => {
  script.addEventListener("load", resolve);
  script.addEventListener("error", () => reject(new Error("The charts cannot be loaded.")));
  document.head.append(library);
});

export const { uPlot } = globalThis;
