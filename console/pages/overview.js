// The first view: who is refused now, and why.

import { html } from "./lit-html.js";

export const overview = {
  title: () => "Overview",
  tasks: (route, { sources }) => [sources.refused(), sources.tenants()],
  show: (route, { store }) => html`<h1>Overview</h1><p>${store.value("tenants", { tenants: [] }).tenants.length} tenants</p>`,
};
