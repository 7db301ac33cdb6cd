// The answers that the current view needs, polled while the tab is visible.

/** After a failure, the next attempt follows at the latest after this time, after each further one after twice the time. */
const RETRY_MS = 5_000;
/** Answers that no view needed for so long are dropped. */
const KEEP_MS = 10 * 60_000;
/** The delay of an answer, beyond the time of its poll, from which the page warns. */
const AMBER_MS = 8_000;
const RED_MS = 28_000;

/**
 * Polls tasks `{key, everyMs, load}` and keeps their answers by key, which has one request at a time. `load(publish,
 * goesOn)` resolves to the answer, or to undefined if it had nothing to ask for; it may publish parts before. `goesOn`
 * tells that the last attempt failed: it may go on where that ended. `onchange` is called after each answer and failure.
 */
export class Store {
  #tasks = new Map();
  /** By key: `{value, at, isIdle, tried, failure, failures, running, again, leftAt}`. */
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
        this.#answers.get(key).leftAt = this.now();
      }
    }
    for (const [key, { running, leftAt }] of this.#answers) {
      if (!this.#tasks.has(key) && !running && leftAt < this.now() - KEEP_MS) {
        this.#answers.delete(key);
      }
    }
    for (const [key, task] of wanted) {
      const entry = this.#tasks.get(key);
      if (entry) {
        entry.task = task;
      } else {
        this.#tasks.set(key, { task, since: this.now() });
        this.#answers.set(key, this.#answers.get(key) ?? { failures: 0 });
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

  /** The failure of a task since its last answer. */
  failure(key) {
    return this.#answers.get(key)?.failure;
  }

  /** The failures of the polled tasks since their last answers. */
  get failures() {
    return [...this.#tasks.keys()].map((key) => this.failure(key)).filter(Boolean);
  }

  /** How old the most frequent answer is, in seconds, and how late any is: `good`, `amber` or `red`. */
  get freshness() {
    const ages = [...this.#tasks.values()].filter(({ task }) => !this.#answers.get(task.key).isIdle).map(({ task, since }) => {
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
      if (keys.length === 0 || keys.includes(key)) {
        answer.again = true;
        this.#schedule(key);
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
    const answer = this.#answers.get(key);
    if (!entry || this.#paused || answer.running) {
      return;
    }
    const { everyMs } = entry.task;
    const { failure, failures, tried, again } = answer;
    const waitMs = failure ? Math.max(Math.min(everyMs, RETRY_MS * 2 ** (failures - 1)), (failure.retryAfterSeconds ?? 0) * 1000) : everyMs;
    const due = again || tried === undefined ? 0 : tried + waitMs - this.now();
    this.cancel(entry.timer);
    if (due <= 0) {
      this.#run(key, entry.task, answer);
    } else {
      entry.timer = this.after(() => this.#schedule(key), due);
    }
  }

  async #run(key, { load }, answer) {
    const goesOn = answer.failure !== undefined && !answer.again;
    answer.running = true;
    answer.again = false;
    try {
      const value = await load((part) => {
        answer.value = part;
        this.onchange(key);
      }, goesOn);
      answer.isIdle = value === undefined;
      answer.value = value;
      answer.at = this.now();
      answer.failure = undefined;
      answer.failures = 0;
    } catch (failed) {
      answer.failure = failed;
      answer.failures++;
    }
    answer.running = false;
    answer.tried = this.now();
    this.#schedule(key);
    this.onchange(key);
  }
}

/** Applies answers in the order of their requests: call the result when a request starts, and its result with the answer, which is ignored after that of a later request. */
export function inOrder(apply) {
  let started = 0;
  let applied = 0;
  return () => {
    const mine = ++started;
    return (answer) => {
      if (mine > applied) {
        applied = mine;
        apply(answer);
      }
    };
  };
}
