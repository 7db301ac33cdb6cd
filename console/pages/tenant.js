// One tenant: its state in a sentence, and a tab for each question about it.

import { html } from "./lit-html.js";
import { notice } from "./dom.js";
import { rowOf, sentence, stateOf } from "./fleet.js";
import { format } from "./router.js";
import { rankedOf } from "./history-steps.js";
import { audit } from "./tenant-audit.js";
import { danger } from "./tenant-danger.js";
import { dead } from "./tenant-dead.js";
import { history } from "./tenant-history.js";
import { limits } from "./tenant-limits.js";
import { line } from "./tenant-line.js";
import { note, now } from "./tenant-now.js";
import { sessions } from "./tenant-sessions.js";

/**
 * The tabs by their names in the URL. A tab has `text` and `show(tenant, route, app)`, a template; optional are
 * `tasks(route, app)`, beyond those of the header, and `drawn(tenant, route, app)`.
 */
const TABS = { __proto__: null, now, history, limits, line, sessions, dead, audit, danger };

const tabOf = ({ tab }) => TABS[tab] ?? now;
const tabs = () => Object.keys(TABS);
/** The failures for which the page has left the tenant. A later visit asks again. */
const left = new WeakSet();

function rowFor(report, { store, sources }) {
  const recent = store.value(`recent/${report.tenantId}`);
  return rowOf(report, recent && rankedOf(report.tenantId, recent), sources.histories.get(report.tenantId));
}

function header(report, { tab }, app) {
  const row = rowFor(report, app);
  const [word, kind] = stateOf(row);
  const { tenantId: id, tier } = report;
  const current = TABS[tab] ? tab : "now";
  return html`
    <div class="tenant-head">
      <div class="between">
        <h1 id="detail-title">${id}</h1>
        <p id="detail-badges"><a class="badge accent" href=${format({ view: "tier", id: tier })}>${tier}</a> <span class="badge ${kind}">${word}</span></p>
        <a class="back" id="close" href="#/tenants">All tenants</a>
      </div>
      <p class="headline" id="tenant-sentence" role="status">${sentence(row)}</p>
      <nav class="tabs" aria-label="Tenant ${id}">
        ${tabs().map((name) => html`<a href=${format({ view: "tenant", id, tab: name })} data-tab=${name} aria-current=${name === current ? "page" : "false"}>${TABS[name].text}</a>`)}
      </nav>
    </div>`;
}

/** Whether the page leaves a tenant that does not exist. */
function isGone(id, { store, router }) {
  const failure = store.failure(`tenant/${id}`);
  if (failure?.status !== 404 || left.has(failure)) {
    return false;
  }
  left.add(failure);
  failure.shown = true;
  router.go({ view: "tenants" });
  notice("info", `Tenant ${id} does not exist.`);
  return true;
}

export const tenant = {
  title: ({ id }) => id,
  tasks: (route, app) => [
    app.sources.tenant(route.id), app.sources.recent(route.id), app.sources.activity(() => [route.id]),
    ...(tabOf(route).tasks?.(route, app) ?? []),
  ],
  show(route, app) {
    const report = app.store.value(`tenant/${route.id}`);
    if (isGone(route.id, app) || !report) {
      return html`<p class="empty">Loading …</p>`;
    }
    note(report);
    return html`
      <div class="tenant">
        ${header(report, route, app)}
        <div class="tab">${tabOf(route).show(report, route, app)}</div>
      </div>`;
  },
  drawn(route, app) {
    const report = app.store.value(`tenant/${route.id}`);
    if (report) {
      tabOf(route).drawn?.(report, route, app);
    }
  },
  key(event, { id, tab }, { router }) {
    if (event.target.closest?.("input, select")) {
      return;
    }
    const at = Math.max(0, tabs().indexOf(tab));
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step && tabs()[at + step]) {
      event.preventDefault();
      router.go({ view: "tenant", id, tab: tabs()[at + step] });
    } else if (event.key === "Escape") {
      router.go({ view: "tenants" });
    }
  },
};
