// The activity of tenants in the last minutes, kept in memory.

/** The time span of the charts. */
export const WINDOW_MS = 5 * 60_000;
/** Rates are averages over this time, because refusals are reported up to five seconds late, all at once. */
const RATE_MS = 10_000;
/** A tenant with a refusal within this time counts as throttled. */
const NOW_MS = 12_000;

export class History {
  #samples = [];

  /** Adds a sample of the time `t` (ms) with any numbers; `admitted` and `refused` are totals. */
  add(t, sample) {
    // The browser's clock went back.
    while (this.last?.t > t) {
      this.#samples.pop();
    }
    this.#samples.push({ t, ...sample });
    while (this.#samples[0].t < t - WINDOW_MS - RATE_MS) {
      this.#samples.shift();
    }
  }

  get last() {
    return this.#samples.at(-1);
  }

  /** The samples, with the rates per second of the totals. */
  samples() {
    return this.#samples.map((sample, i) => {
      const before = this.#before(i, RATE_MS);
      return { ...sample, admittedRate: rate("admitted", before, sample), refusedRate: rate("refused", before, sample) };
    });
  }

  /** The growth of a total in the last seconds. */
  grown(name, ms = NOW_MS) {
    const last = this.last;
    return last ? Math.max(0, (last[name] ?? 0) - (this.#before(this.#samples.length - 1, ms)[name] ?? 0)) : 0;
  }

  get latestRates() {
    const before = this.last && this.#before(this.#samples.length - 1, RATE_MS);
    return { admitted: rate("admitted", before, this.last), refused: rate("refused", before, this.last) };
  }

  get throttled() {
    return this.grown("refused") > 0;
  }

  /** The first sample that is at most `ms` older than the one at `i`. */
  #before(i, ms) {
    let j = i;
    while (j > 0 && this.#samples[j - 1].t >= this.#samples[i].t - ms) {
      j--;
    }
    return this.#samples[j];
  }
}

/** Growth per second; undefined without totals, and never negative: totals restart at 0 when a tenant is onboarded again. */
function rate(name, before, after) {
  if (after?.[name] === undefined || before?.[name] === undefined) {
    return undefined;
  }
  const ms = after.t - before.t;
  return ms === 0 ? 0 : Math.max(0, after[name] - before[name]) * 1000 / ms;
}
