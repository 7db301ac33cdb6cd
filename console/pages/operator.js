// The operator's page: starts it, and shows the view that its URL names.

import { html, render } from "./lit-html.js";
import { CallFailed, call, config, forgetToken, hasLab, token } from "./api.js";
import { byId, handling, notice, setText, unexpected } from "./dom.js";
import { Router, format } from "./router.js";
import { Sources } from "./sources.js";
import { Store, inOrder } from "./store.js";
import { duration } from "./words.js";

/**
 * The views by the names of their routes. A view has `title(route)`, `tasks(route, app)`, which the store polls while
 * the view is open, and `show(route, app)`, a template. Optional: `drawn(route, app)`, called after each drawing, and
 * `scrolled(route, app)`, after the page was scrolled or resized, and `key(event, route, app)`, which gets the key
 * strokes outside of fields.
 */
const VIEWS = {
  __proto__: null,
  overview: lazy("overview", () => import("./overview.js")),
  tenants: lazy("tenants", () => import("./tenants.js")),
  tenant: lazy("tenant", () => withViewsStyle(import("./tenant.js"))),
  tiers: lazy("tiers", () => withViewsStyle(import("./tiers.js"))),
  tier: lazy("tier", () => withViewsStyle(import("./tiers.js"))),
  health: lazy("health", () => withViewsStyle(import("./health.js"))),
  audit: lazy("audit", () => withViewsStyle(import("./audit.js"))),
  lab: lazy("lab", () => withViewsStyle(import("./lab.js"))),
};
/** The views in the navigation, and those that belong to them. */
const LINKS = [["overview", "Overview"], ["tenants", "Tenants", "tenant"], ["tiers", "Tiers", "tier"], ["health", "Health"], ["audit", "Audit"]];
const LAB = ["lab", "Lab"];

/** Until when all limits are lifted, from the last answer's header: `until=…`; null while they are enforced. */
let announced = null;
let signedOut = false;
/** Whether the search gets the focus as soon as it is drawn. */
let toSearch = false;
let frame;
/** Why the last drawing failed. */
let drawing;
let viewsStyle;

async function control(path, options) {
  const heard = hearing();
  try {
    const answer = await call(path, { ...options, token: token() });
    heard(answer.headers);
    return answer;
  } catch (failed) {
    if (failed.status === 401) {
      forgetToken();
      askToSignIn();
      failed.shown = true;
    }
    throw failed;
  }
}

/** Notes the deployment's time, and whether all limits are lifted. While they are, their reason is polled, too. */
const hearing = inOrder((headers) => {
  if (sources.setTime(headers.get("date"))) {
    store.refresh();
  }
  const until = headers.get("tollgate-admit-all");
  const isNews = (until === null) !== (announced === null);
  announced = until;
  if (isNews) {
    open(router.route);
  }
});

const sources = new Sources(control);
const store = new Store({ onchange: () => draw() });
const router = new Router((route, before) => {
  open(route);
  if (route.view !== before.view || route.id !== before.id) {
    scrollTo(0, 0);
    byId("main").focus({ preventScroll: true });
  }
});
/** What views use. */
const app = { control, sources, store, router, draw, settings: {} };

function askToSignIn() {
  signedOut = true;
  store.pause();
  byId("sign-in-panel").hidden = false;
  byId("workplace").hidden = true;
  byId("views").hidden = true;
  byId("sign-out").hidden = true;
  byId("sign-in").disabled = !app.settings.signIn;
  if (app.settings.sessionUrl && !app.settings.signIn) {
    notice("bad", "The control plane requires a sign-in, but this deployment has no user pool to sign in to.");
  }
}

/** The module of a view once the style sheet is there that all views but the first two need. */
async function withViewsStyle(module) {
  viewsStyle ??= new Promise((resolve, reject) => {
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "views.css" });
    link.addEventListener("load", resolve);
    link.addEventListener("error", () => reject(new Error("The style sheet cannot be loaded.")));
    document.head.append(link);
  });
  await viewsStyle;
  return module;
}

/** A view whose module, which exports it by its name, is loaded when it is first opened. */
function lazy(name, load) {
  let loading;
  return {
    title: () => "Loading",
    tasks() {
      loading ??= load().then((module) => {
        VIEWS[name] = module[name];
        open(router.route);
      });
      return [];
    },
    show: () => html`<p class="empty">Loading …</p>`,
  };
}

const viewOf = (route) => VIEWS[route.view] ?? VIEWS.overview;

/** Opens a route: polls what its view needs, and draws it. */
function open(route) {
  store.need([...viewOf(route).tasks(route, app), ...(announced === null ? [] : [sources.admitAll()])]);
  draw();
}

/** Draws the view before the next frame, once for all changes until then. */
function draw() {
  frame ??= requestAnimationFrame(() => {
    frame = undefined;
    try {
      drawNow();
      drawing = undefined;
    } catch (failed) {
      drawing = failed;
      console.error(failed);
    }
    drawState();
  });
}

function drawNow() {
  const { route } = router;
  const view = viewOf(route);
  document.title = `${view.title(route)} · Tollgate`;
  const links = hasLab(app.settings) ? [...LINKS, LAB] : LINKS;
  render(links.map(([name, text, below]) => html`
    <a href=${format({ view: name })} aria-current=${route.view === name ? "page" : route.view === below ? "true" : "false"}>${text}</a>`), byId("views"));
  render(view.show(route, app), byId("view"));
  view.drawn?.(route, app);
  if (toSearch && byId("find")) {
    toSearch = false;
    byId("find").focus();
  }
}

/** Shows failures for as long as they last, how old the answers are, and that limits are lifted. */
function drawState() {
  const failed = [...store.failures, drawing].filter((error) => error && !error.shown);
  const lines = [...new Set(failed.map((error) => (error instanceof CallFailed ? error.message : unexpected(error))))];
  render(lines.map((text) => html`<p class="notice bad"><span>${text}</span></p>`), byId("failures"));
  const { seconds, level } = store.freshness;
  byId("fresh").hidden = signedOut;
  byId("fresh").className = `fresh ${lines.length > 0 && level === "good" ? "amber" : level}`;
  setText(byId("fresh"), seconds === undefined ? "Loading …" : `Updated ${duration(seconds)} ago`);
  const { reason } = store.value("admit-all", {});
  setText(byId("lifted"), announced === null ? "" : `All limits are lifted until ${announced.replace("until=", "")}${reason ? `: ${reason}` : ""}`);
  byId("lifted").hidden = announced === null;
}

const signInModule = () => import("./sign-in.js");
byId("sign-in").addEventListener("click", handling(async () => (await signInModule()).signIn(app.settings.signIn)));
byId("sign-out").addEventListener("click", async () => (await signInModule()).signOut(app.settings.signIn));
for (const name of ["scroll", "resize"]) {
  addEventListener(name, () => viewOf(router.route).scrolled?.(router.route, app), { passive: true });
}
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    store.pause();
  } else if (!signedOut) {
    store.resume();
  }
});
setInterval(() => document.hidden || drawState(), 1_000);

const keys = {
  current: () => {
    const { route } = router;
    const view = viewOf(route);
    return view.key && ((event) => view.key(event, route, app));
  },
  toSearch: () => {
    if (router.route.view !== "tenants") {
      router.go({ view: "tenants" });
    }
    toSearch = true;
    draw();
  },
};

byId("view").replaceChildren();
if (document.hidden) {
  store.pause();
}
// The first rows do not wait for the settings, except after the return from a sign-in.
if (!location.search) {
  open(router.route);
}
import("./keys.js").then(({ wireKeys }) => wireKeys(keys));
app.settings = await config();
if (location.search) {
  try {
    await (await signInModule()).completeSignIn(app.settings.signIn);
  } catch (failed) {
    notice("bad", failed.message);
  }
}
byId("sign-out").hidden = !(token() && app.settings.signIn);
if (signedOut) {
  askToSignIn();
}
// The sign-in has restored the fragment.
router.follow();
