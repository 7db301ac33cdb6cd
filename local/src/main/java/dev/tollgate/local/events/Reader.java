package dev.tollgate.local.events;

/** Brings what one source holds to one function. Costs nothing while there is nothing. */
interface Reader {

  /** Looks at the source now: something may have come. */
  void wake();

  /** Looks at the source if, when it was last looked at, it held what may yet come. */
  void look();

  /** From now on, by this definition. */
  void change(Mapping definition);

  /** Takes nothing more from the source. What was taken is finished. */
  void stop();

  /** Whether nothing is under way. */
  boolean isIdle();
}
