// Making and finding elements. Text gets into a page as text only, never as markup.

import { CallFailed } from "./api.js";

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== undefined) {
      element.setAttribute(name, value);
    }
  }
  element.append(...children);
  return element;
}

/** An element with attributes, listeners (`onclick`) and children, which are elements or texts. */
export const el = (tag, attributes = {}, ...children) =>
  filled(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, tag), attributes, children);

/** Sets a text only if it is another: a screen reader hears of changes, and only of these. */
export function say(element, text) {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

/** Sets a bar that is not drawn if there is nothing to tell yet. */
export function fill(meter, value, max) {
  meter.max = Math.max(max, 1);
  meter.value = Math.min(value, max);
}

/** A message that stays until it is closed or replaced; `kind` is good, bad or info. */
export function notice(kind, text) {
  const region = byId("notices");
  if (region.querySelector(`.notice.${kind} span`)?.textContent === text) {
    return;
  }
  const close = el("button", {
    type: "button",
    class: "close",
    "aria-label": "Close this message",
    onclick: () => region.replaceChildren(),
  }, "×");
  region.replaceChildren(el("p", { class: `notice ${kind}` }, el("span", {}, text), close));
}

// What nobody thought of is told on the page as well, not only on the browser's console.
const astray = (error) =>
  notice("bad", `${error?.message ?? "Something went wrong in this page."} Reload the page to go on.`);
addEventListener("error", (event) => astray(event.error));
addEventListener("unhandledrejection", (event) => astray(event.reason));

/** Tells of a call that failed, unless somebody has; any other error is one of this page. */
export function complain(failed) {
  if (!(failed instanceof CallFailed)) {
    throw failed;
  }
  if (!failed.told) {
    notice("bad", failed.message);
  }
}

/** A listener that does what a person asked for; what goes wrong is told on the page. */
export const doing = (action) => async (event) => {
  event.preventDefault();
  try {
    await action(event);
  } catch (failed) {
    complain(failed);
  }
};

/** Asks in a dialog; resolves to whether it was confirmed. */
export function confirmed(title, text, action) {
  const dialog = byId("confirm");
  say(byId("confirm-title"), title);
  say(byId("confirm-text"), text);
  say(byId("confirm-yes"), action);
  dialog.returnValue = "";
  byId("confirm-no").onclick = () => dialog.close();
  byId("confirm-yes").onclick = () => dialog.close("yes");
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

/** Runs `look` every two seconds while the page can be seen, and at once when it can be again. */
export function poll(look, everyMs = 2000) {
  let timer;
  let running = false;
  const turn = async () => {
    clearTimeout(timer);
    if (document.hidden || running) {
      return;
    }
    running = true;
    try {
      await look();
    } finally {
      running = false;
      clearTimeout(timer);
      timer = setTimeout(turn, everyMs);
    }
  };
  document.addEventListener("visibilitychange", turn);
  turn();
  return turn;
}
