// The view of one tenant: the panel of the page's document, which `tenant.js` fills.

import { byId, notice } from "./dom.js";
import { Sessions } from "./api.js";

let panel;
let loading;

/** The panel's module needs the library of charts, so it is loaded with the first tenant. */
function load(app) {
  loading ??= import("./tenant.js").then((module) => {
    panel = module;
    panel.wire({
      control: app.control,
      changed: (gone) => gone ? app.router.go({ view: "tenants" }) : app.store.refresh(),
      sessions: new Sessions(app.settings.sessionUrl),
      webSocketUrl: app.settings.webSocketUrl,
      sessionAccess: app.settings.sessionAccess,
    });
    app.draw();
  });
}

export const tenantPanel = {
  title: ({ id }) => id,
  tasks: ({ id }, { sources }) =>
    [sources.tenant(id), sources.activity(() => [id]), sources.tiers(), sources.tenants()],
  /** Fills the panel; there is no template. */
  show({ id }, app) {
    load(app);
    const { store, sources } = app;
    const failure = store.failures.find(({ status }) => status === 404);
    if (failure && store.value(`tenant/${id}`) === undefined) {
      app.router.go({ view: "tenants" });
      notice("info", `Tenant ${id} does not exist.`);
      return "";
    }
    const report = store.value(`tenant/${id}`);
    byId("detail").hidden = !panel || !report;
    if (panel && report) {
      panel.offerTiers(store.value("tiers", { tiers: [] }).tiers.map(({ tier }) => tier));
      panel.showTenant(report, sources.histories.get(id), sources.now);
      panel.offerNeighbours(store.value("tenants", { tenants: [] }).tenants
        .filter(({ status }) => status === "ACTIVE").slice(0, 100).map(({ tenantId }) => tenantId));
    }
    return "";
  },
};
