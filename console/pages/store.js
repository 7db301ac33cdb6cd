// The answers that the current view needs, polled while the tab is visible.

/** After a failure, the next attempt follows at the latest after this time. */
const RETRY_MS = 5_000;
/** The delay of an answer, beyond the time of its poll, from which the page warns. */
const AMBER_MS = 8_000;
const RED_MS = 28_000;

/**
 * Polls tasks `{key, everyMs, load}` and keeps their answers by key. `load(publish)` resolves to the answer; it may
 * publish parts before. `onchange` is called after each answer and each failure.
 */
export class Store {
  #tasks = new Map();
  #answers = new Map();
  #paused = false;
  /** Counts the changes of answers. */
  version = 0;

  constructor({ onchange, now = () => performance.now(), after = (run, ms) => setTimeout(run, ms), cancel = (timer) => clearTimeout(timer) }) {
    this.onchange = (key) => {
      this.version++;
      onchange(key);
    };
    this.now = now;
    this.after = after;
    this.cancel = cancel;
  }

  /** Polls these tasks, and no others. Those that go on keep their times. */
  need(tasks) {
    const wanted = new Map(tasks.map((task) => [task.key, task]));
    for (const [key, entry] of this.#tasks) {
      if (!wanted.has(key)) {
        this.cancel(entry.timer);
        this.#tasks.delete(key);
      }
    }
    for (const [key, task] of wanted) {
      const entry = this.#tasks.get(key);
      if (entry) {
        entry.task = task;
      } else {
        this.#tasks.set(key, { task, since: this.now() });
        this.#schedule(key);
      }
    }
  }

  /** The latest answer, or `otherwise`. */
  value(key, otherwise) {
    return this.#answers.get(key)?.value ?? otherwise;
  }

  /** The time of the latest complete answer on the store's clock; undefined before the first. */
  at(key) {
    return this.#answers.get(key)?.at;
  }

  /** The failures of the polled tasks since their last answers. */
  get failures() {
    return [...this.#tasks.keys()].map((key) => this.#answers.get(key)?.failure).filter(Boolean);
  }

  /** How old the most frequent answer is, in seconds, and how late any is: `good`, `amber` or `red`. */
  get freshness() {
    const ages = [...this.#tasks.values()].map(({ task, since }) => {
      const at = this.at(task.key);
      return { everyMs: task.everyMs, age: this.now() - (at ?? since), answered: at !== undefined };
    });
    const late = Math.max(0, ...ages.map(({ everyMs, age }) => age - everyMs));
    const [first] = ages.filter(({ answered }) => answered).sort((a, b) => a.everyMs - b.everyMs);
    return {
      seconds: first && Math.floor(first.age / 1000),
      level: late > RED_MS ? "red" : late > AMBER_MS ? "amber" : "good",
    };
  }

  /** Loads tasks again at once, such as after a change; all of them without keys. Other answers, when a view needs them. */
  refresh(...keys) {
    for (const [key, answer] of this.#answers) {
      if (!this.#tasks.has(key) && (keys.length === 0 || keys.includes(key))) {
        answer.tried = undefined;
      }
    }
    for (const [key, entry] of this.#tasks) {
      if (keys.length === 0 || keys.includes(key)) {
        entry.again = entry.running;
        this.#run(key);
      }
    }
  }

  /** Stops all requests; `resume` continues, with what is due at once. */
  pause() {
    this.#paused = true;
    this.#tasks.forEach(({ timer }) => this.cancel(timer));
  }

  resume() {
    if (this.#paused) {
      this.#paused = false;
      [...this.#tasks.keys()].forEach((key) => this.#schedule(key));
    }
  }

  #schedule(key) {
    const entry = this.#tasks.get(key);
    if (!entry || this.#paused || entry.running) {
      return;
    }
    const answer = this.#answers.get(key);
    const everyMs = answer?.failure ? Math.min(entry.task.everyMs, RETRY_MS) : entry.task.everyMs;
    const due = answer?.tried === undefined ? 0 : answer.tried + everyMs - this.now();
    this.cancel(entry.timer);
    if (due <= 0) {
      this.#run(key);
    } else {
      entry.timer = this.after(() => this.#run(key), due);
    }
  }

  async #run(key) {
    const entry = this.#tasks.get(key);
    if (!entry || this.#paused || entry.running) {
      return;
    }
    this.cancel(entry.timer);
    entry.running = true;
    entry.again = false;
    const answer = this.#answers.get(key) ?? {};
    this.#answers.set(key, answer);
    try {
      answer.value = await entry.task.load((part) => {
        answer.value = part;
        this.onchange(key);
      });
      answer.at = this.now();
      answer.failure = undefined;
    } catch (failed) {
      answer.failure = failed;
    } finally {
      entry.running = false;
      answer.tried = entry.again ? undefined : this.now();
      this.#schedule(key);
    }
    this.onchange(key);
  }
}
