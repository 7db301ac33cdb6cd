// A browser for the modules of the operator's page: no rendering, one element for each id.

import { register } from "node:module";

/** Stands for lit-html and its directives, which the console's function serves. */
const LIT = `data:text/javascript,${encodeURIComponent(`
  export const html = (strings, ...values) => ({ strings, values });
  export const svg = html;
  export const nothing = "";
  export const render = () => {};
  export const live = (value) => value;
  export const repeat = (items, key, template) => [...items].map(template);`)}`;
register(`data:text/javascript,${encodeURIComponent(`
  export const resolve = (name, context, next) =>
    /lit-html|directives/.test(name) ? { url: ${JSON.stringify(LIT)}, shortCircuit: true } : next(name, context);`)}`);

/** The listeners of the page, by the names of their events. */
export const listeners = {};
const listen = (name, run) => { (listeners[name] ??= []).push(run); };
const elements = new Map();

function element(id) {
  return { id, style: {}, hidden: false, textContent: "", disabled: false, setAttribute() {}, addEventListener() {}, append() {}, replaceChildren() {}, focus() {}, querySelector: () => null };
}

export const byId = (id) => {
  elements.set(id, elements.get(id) ?? element(id));
  return elements.get(id);
};

export const document = {
  hidden: false,
  getElementById: byId,
  createElement: (tag) => ({ ...element(tag), addEventListener: (name, run) => name === "load" && setImmediate(run) }),
  head: { append() {} },
  addEventListener: listen,
  querySelector: () => null,
  querySelectorAll: () => [],
};

Object.assign(globalThis, {
  document,
  location: { hash: "", search: "", origin: "http://localhost", pathname: "/operator" },
  history: { replaceState(state, title, hash) { globalThis.location.hash = hash; } },
  sessionStorage: { getItem: () => null, setItem() {}, removeItem() {} },
  addEventListener: listen,
  requestAnimationFrame: (run) => setImmediate(run),
  scrollTo() {},
  innerHeight: 800,
});

// Timers of the page must not keep the test alive.
for (const name of ["setTimeout", "setInterval"]) {
  const start = globalThis[name];
  globalThis[name] = (...some) => start(...some).unref();
}

/** Text of a template with all its parts. */
export const textOf = (part) => Array.isArray(part) ? part.map(textOf).join("")
  : part?.strings ? part.strings.map((text, i) => text + (i < part.values.length ? textOf(part.values[i]) : "")).join("")
    : String(part ?? "");

/** Waits until a condition holds, while promises and loads of modules go on. */
export async function until(condition) {
  for (const end = performance.now() + 5_000; !condition(); await new Promise(setImmediate)) {
    if (performance.now() > end) {
      throw new Error(`Never true: ${condition}`);
    }
  }
}

/** Lets all go on that needs no more answers. */
export async function settled() {
  for (let i = 0; i < 20; i++) {
    await new Promise(setImmediate);
  }
}
