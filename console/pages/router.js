// The state of the operator's page, in the URL's fragment: `#/tenants?find=ac&sort=refused`.

const TENANT_ID = /^[a-z0-9][a-z0-9-]{0,35}$/;
const TIER = /^[a-z][a-z0-9-]{0,31}$/;

/**
 * Reads a fragment: `{view, id, tab, query}`. `id` exists only below `tenants` and `tiers`, `tab` only below a tenant; `query` has the
 * parameters as text. The view of an empty fragment is `overview`.
 */
export function parse(hash) {
  const text = hash.replace(/^#/, "");
  if (!text.startsWith("/")) {
    // Bookmarks of earlier releases: `#tenant=acme`.
    const id = new URLSearchParams(text).get("tenant") ?? "";
    return TENANT_ID.test(id) ? { view: "tenant", id, tab: "now", query: {} } : { view: "overview", query: {} };
  }
  const [path, search = ""] = text.slice(1).split("?", 2);
  const query = Object.fromEntries(new URLSearchParams(search));
  const [name, id, tab = "now"] = path.split("/");
  if (name === "tenants" && id) {
    return TENANT_ID.test(id) ? { view: "tenant", id, tab, query } : { view: "tenants", query };
  }
  if (name === "tiers" && id) {
    return TIER.test(id) ? { view: "tier", id, query } : { view: "tiers", query };
  }
  return { view: name || "overview", query };
}

/** The fragment of a route, the inverse of `parse`. Empty parameters are left out. */
export function format({ view, id, tab, query = {} }) {
  const path = view === "tenant" ? `tenants/${id}/${tab ?? "now"}` : view === "tier" ? `tiers/${id}` : view;
  const kept = Object.entries(query).filter(([, value]) => value !== undefined && value !== "" && value !== false);
  return `#/${path}${kept.length > 0 ? `?${new URLSearchParams(kept)}` : ""}`;
}

/** Follows the fragment. `onchange` is called with the new route and the one before. */
export class Router {
  #route;

  constructor(onchange, page = globalThis) {
    this.page = page;
    this.onchange = onchange;
    this.#route = parse(page.location.hash);
    page.addEventListener("hashchange", () => this.follow());
  }

  get route() {
    return this.#route;
  }

  /** Goes to a route, in a new entry of the browser's history. */
  go(route) {
    this.page.location.hash = format(route);
  }

  /** Changes parameters of this route. Each key stroke in a field would be too many entries: they replace the current one. */
  change(query, { replace = true } = {}) {
    const hash = format({ ...this.#route, query: { ...this.#route.query, ...query } });
    if (replace) {
      this.page.history.replaceState(null, "", hash);
    } else {
      this.page.location.hash = hash;
    }
    // The browser's event comes later; another change until then must not undo this one.
    this.follow();
  }

  /** Reads the fragment again; needed only after it was replaced without an event. */
  follow() {
    const before = this.#route;
    this.#route = parse(this.page.location.hash);
    this.onchange(this.#route, before);
  }
}
