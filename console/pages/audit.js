// All changes of the deployment, its tenants and its tiers.

import { html } from "./lit-html.js";
import { auditPage, auditTask } from "./audit-page.js";

/** The API filters by one of both. */
const subjectOf = ({ query: { tenant, tier } }) => (tenant ? { tenantId: tenant } : tier ? { tier } : {});

export const audit = {
  title: () => "Audit",
  tasks: (route, { sources }) => [auditTask(route, sources, subjectOf(route)), sources.tiers()],
  show(route, app) {
    const { query } = route;
    const go = (change) => app.router.change({ cursor: "", from: "", to: "", ...change }, { replace: false });
    return html`
      <div class="intro"><h1>Audit</h1><p>Who changed what. Entries are kept for 400 days.</p></div>
      <section class="card" aria-label="Changes">
        <div class="tools">
          <div class="find">
            <label for="audit-tenant">Tenant id</label>
            <input id="audit-tenant" type="search" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="36" pattern="[a-z0-9][a-z0-9\\-]*" placeholder="all"
              .value=${query.tenant ?? ""} @change=${({ target }) => target.reportValidity() && go({ tenant: target.value, tier: "" })}>
          </div>
          <div class="narrow">
            <label for="audit-tier">Tier</label>
            <select id="audit-tier" @change=${({ target }) => go({ tier: target.value, tenant: "" })}>
              <option value="" .selected=${!query.tier}>–</option>
              ${app.store.value("tiers", { tiers: [] }).tiers.map(({ tier }) => html`<option value=${tier} .selected=${tier === query.tier}>${tier}</option>`)}
            </select>
          </div>
        </div>
        ${auditPage(route, app, subjectOf(route))}
      </section>`;
  },
};
