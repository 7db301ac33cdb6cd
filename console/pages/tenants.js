// The list of all tenants.

import { html } from "./lit-html.js";

export const tenants = {
  title: () => "Tenants",
  tasks: (route, { sources }) => [sources.tenants(), sources.refused()],
  show: (route, { store }) => html`<h1>Tenants</h1>
    <ul>${store.value("tenants", { tenants: [] }).tenants.map(({ tenantId }) => html`<li><a href="#/tenants/${tenantId}/now">${tenantId}</a></li>`)}</ul>`,
};
