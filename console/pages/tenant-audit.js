// Who changed a tenant.

import { html } from "./lit-html.js";
import { auditPage, auditTask } from "./audit-page.js";

export const audit = {
  text: "Audit",
  tasks: (route, { sources }) => [auditTask(route, sources, { tenantId: route.id })],
  show: ({ tenantId }, route, app) => html`
    <section class="card" aria-labelledby="audit-title">
      <h2 id="audit-title">Changes</h2>
      ${auditPage(route, app, { tenantId })}
    </section>`,
};
