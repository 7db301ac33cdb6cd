// Where each view's answers come from: tasks for the store, by what they load.

import { History } from "./history.js";

/** `GET /activity` accepts this many ids. */
const IDS = 25;
/** Histories of tenants that were not asked for this long are dropped. */
const FORGET_MS = 6 * 60_000;
const MINUTE = 60_000;
/** So many pages of the audit are read until one has an entry. */
const EMPTY_PAGES = 20;

/** The spans of time to choose from: minutes, and the step of `GET /fleet`. More than 7 days would have hours only. */
export const RANGES = {
  __proto__: null,
  "15m": { minutes: 15, step: "1m", words: "15 minutes" },
  "1h": { minutes: 60, step: "1m", words: "hour" },
  "6h": { minutes: 6 * 60, step: "5m", words: "6 hours" },
  "24h": { minutes: 24 * 60, step: "15m", words: "24 hours" },
  "7d": { minutes: 7 * 24 * 60, step: "1h", words: "7 days" },
};
export const RANGE = "1h";
/** Longer spans, of a tenant's history and of the audit. */
export const LONG_RANGES = {
  __proto__: null,
  ...RANGES,
  "31d": { minutes: 31 * 24 * 60, step: "4h", words: "31 days" },
  "400d": { minutes: 400 * 24 * 60, step: "1d", words: "400 days" },
};

/** The parameters of a span that ends with the current minute, on the deployment's clock. */
export function span(range, now) {
  const { minutes, step } = LONG_RANGES[range] ?? RANGES[RANGE];
  return minutesTo(now, minutes, step);
}

function minutesTo(now, minutes, step) {
  const to = Math.ceil((now + 1) / MINUTE) * MINUTE;
  const instant = (ms) => new Date(ms).toISOString().replace(".000Z", "Z");
  return new URLSearchParams({ from: instant(to - minutes * MINUTE), to: instant(to), step });
}

/** A step in which nothing happened. */
const NOTHING = { admitted: 0, refused: 0, refusedFor: {}, wouldRefuse: 0, wouldRefuseFor: {}, peakConnections: 0, tokens: [] };

/** A history with all its steps: the API leaves out those in which nothing happened. */
export function filled(history) {
  const { from, to, stepSeconds, steps } = history;
  const known = new Map(steps.map((step) => [Date.parse(step.at), step]));
  const ms = stepSeconds * 1000;
  const all = [];
  for (let t = Math.floor(Date.parse(from) / ms) * ms; t < Date.parse(to); t += ms) {
    all.push(known.get(t) ?? { ...NOTHING, at: new Date(t).toISOString() });
  }
  return { ...history, steps: all };
}

/** Loads answers with `control(path, options)`, which resolves to `{body, headers}`. */
export class Sources {
  /** The activity of each tenant in the last minutes, by id. */
  histories = new Map();
  #missing = new Set();
  #listed = false;
  /** Where lists stopped that failed: `{found, cursor}` by path. */
  #stopped = new Map();
  /** The deployment's clock minus this browser's clock, in ms. */
  ahead = 0;

  constructor(control, now = () => Date.now()) {
    this.control = control;
    this.clock = now;
  }

  /** Now, on the deployment's clock, in ms since 1970. */
  get now() {
    return this.clock() + this.ahead;
  }

  /** Sets the deployment's clock by the header `Date` of an answer that just came; returns whether it was wrong by a minute or more. */
  setTime(date) {
    const wrongBy = Date.parse(date) - this.now;
    this.ahead += wrongBy || 0;
    return Math.abs(wrongBy) >= MINUTE;
  }

  #get(key, everyMs, path, of = (body) => body) {
    return { key, everyMs, load: async () => of((await this.control(typeof path === "function" ? path() : path)).body) };
  }

  /** Loads an answer that some deployments do not have: `otherwise` after a 404, which is the last request. */
  #optional(key, everyMs, path, otherwise) {
    const { load } = this.#get(key, everyMs, path);
    return { key, everyMs, load: async () => {
      if (this.#missing.has(key)) {
        return otherwise;
      }
      return load().catch((failed) => {
        if (failed.status !== 404) {
          throw failed;
        }
        this.#missing.add(key);
        return otherwise;
      });
    } };
  }

  /** Follows the cursors of a list to its end; publishes what there is after each page if `publish` is given. With `goesOn`, from where it failed. */
  async #all(path, publish, goesOn) {
    let { found, cursor } = goesOn && this.#stopped.get(path) || { found: [] };
    this.#stopped.delete(path);
    do {
      const { body } = await this.control(`${path}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`).catch((failed) => {
        // A cursor that is not accepted would fail again.
        if (failed.status !== 400) {
          this.#stopped.set(path, { found, cursor });
        }
        throw failed;
      });
      found.push(...body.tenants);
      cursor = body.next;
      // In order, as the API lists them in none; a list that is sorted already is sorted fast.
      found.sort((a, b) => (a.tenantId < b.tenantId ? -1 : 1));
      publish?.({ tenants: found, complete: !cursor });
    } while (cursor);
    return { tenants: found, complete: true };
  }

  /** All tenants: `{tenants, complete}`. Parts are published the first time only, so that no row goes while it is renewed. */
  tenants() {
    return {
      key: "tenants",
      everyMs: MINUTE,
      load: async (publish, goesOn) => {
        const all = await this.#all("tenants?limit=100", this.#listed ? undefined : publish, goesOn);
        this.#listed = true;
        return all;
      },
    };
  }

  /** The ids of tenants with pending changes: `{tenants}`. */
  pending() {
    return { key: "pending", everyMs: 30_000, load: (publish, goesOn) => this.#all("tenants?limit=100&pending=true", undefined, goesOn) };
  }

  tenant(id) {
    return this.#get(`tenant/${id}`, 2_000, `tenants/${id}`);
  }

  /** A page of a tenant's sessions: the first, or the one at a cursor. */
  sessions(id, cursor = "") {
    return this.#get(`sessions/${id}/${cursor}`, 10_000, `tenants/${id}/sessions?${new URLSearchParams({ limit: 50, ...(cursor ? { cursor } : {}) })}`);
  }

  /** The first dead letters of a tenant. Each look counts as a receive and hides them for a moment, so it is rare. */
  deadLetters(id) {
    return this.#get(`dead-letters/${id}`, MINUTE, `tenants/${id}/dead-letters`);
  }

  tiers() {
    return this.#get("tiers", 30_000, "tiers");
  }

  /** The hundred tenants that were refused most in the last five minutes. */
  refused() {
    return this.#get("refused", 10_000, "fleet/tenants?sort=refused&window=5m&limit=100");
  }

  /** The hundred tenants with the most connections in the last five minutes. */
  connections() {
    return this.#get("connections", 30_000, "fleet/tenants?sort=connections&window=5m&limit=100");
  }

  /** What happened to the whole fleet in a span. */
  fleet(range) {
    return this.#get(`fleet/${range}`, range === "7d" ? 5 * MINUTE : 15_000, () => `fleet?${span(range, this.now)}`, filled);
  }

  /** What happened to a tenant in a span. */
  history(id, range) {
    return this.#get(`history/${id}/${range}`, 15_000, () => `tenants/${id}/history?${span(range, this.now)}`, filled);
  }

  /** What happened to a tenant in the last five minutes: why it is refused. */
  recent(id) {
    return this.#get(`recent/${id}`, 10_000, () => `tenants/${id}/history?${minutesTo(this.now, 5, "1m")}`);
  }

  /** The minutes of the last day of a tenant. */
  day(id) {
    return this.#get(`day/${id}`, 5 * MINUTE, () => `tenants/${id}/history?${minutesTo(this.now, 24 * 60, "1m")}`);
  }

  tier(name) {
    return this.#get(`tier/${name}`, 5_000, `tiers/${name}`);
  }

  /** The changes of a tenant in a span. */
  changesOfTenant(tenantId, range) {
    return this.#get(`changes/${tenantId}/${range}`, 15_000, () => this.#changes(range, { tenantId }));
  }

  /** The changes of a tenant's tier in a span. `known()` is the tier, if it is known already. */
  changesOfItsTier(tenantId, range, known) {
    return { key: `changes/${tenantId}/tier/${range}`, everyMs: 15_000, load: async () => {
      const tier = known() ?? (await this.control(`tenants/${tenantId}`)).body.tier;
      return (await this.control(this.#changes(range, { tier }))).body;
    } };
  }

  #changes(range, subject) {
    return `audit?${new URLSearchParams({ ...subject, from: span(range, this.now).get("from"), limit: 100 })}`;
  }

  /**
   * A page of the audit: `wanted` are its parameters. A page with entries follows empty ones, which the API returns
   * when it has looked at many others.
   */
  audit(wanted) {
    const key = `audit/${new URLSearchParams(wanted)}`;
    return { key, everyMs: wanted.cursor || wanted.to ? 5 * MINUTE : 10_000, load: async () => {
      const { range, ...parameters } = wanted;
      const from = parameters.from ?? span(range, this.now).get("from");
      let body;
      let cursor = parameters.cursor;
      for (let i = 0; i < EMPTY_PAGES && (i === 0 || cursor && body.entries.length === 0); i++) {
        const page = new URLSearchParams({ ...parameters, from, limit: 50, ...(cursor ? { cursor } : {}) });
        ({ body } = await this.control(`audit?${page}`));
        cursor = body.next;
      }
      return body;
    } };
  }

  /** The changes of the last hour. */
  changes() {
    return this.#get("changes", 15_000, () => {
      const from = new Date(this.now - 60 * MINUTE).toISOString();
      return `audit?${new URLSearchParams({ from, limit: 100 })}`;
    });
  }

  alarms() {
    return this.#optional("alarms", 15_000, "alarms", { alarms: [] });
  }

  admitAll() {
    return this.#get("admit-all", 10_000, "admit-all");
  }

  /** The activity of tenants, every two seconds. `ids` is called for each request; without any, nothing is asked. */
  activity(ids) {
    return { key: "activity", everyMs: 2_000, load: async () => {
      const wanted = [...new Set(ids())];
      if (wanted.length === 0) {
        return undefined;
      }
      const parts = [];
      for (let from = 0; from < wanted.length; from += IDS) {
        parts.push(wanted.slice(from, from + IDS));
      }
      const answers = await Promise.all(parts.map((part) => this.control(`activity?tenantIds=${part.join()}`)));
      answers.forEach(({ body }) => this.#note(body));
      return answers.flatMap(({ body }) => body.tenants);
    } };
  }

  #note({ tenants }) {
    const t = this.clock();
    for (const { tenantId, connections, admitted, refused, buckets } of tenants) {
      if (!this.histories.has(tenantId)) {
        this.histories.set(tenantId, new History());
      }
      this.histories.get(tenantId).add(t, { connections, admitted, refused, buckets });
    }
    for (const [id, { last }] of this.histories) {
      if (Math.abs(t - last.t) > FORGET_MS) {
        this.histories.delete(id);
      }
    }
  }
}
