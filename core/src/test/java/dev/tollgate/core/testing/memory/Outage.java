package dev.tollgate.core.testing.memory;

import dev.tollgate.core.Unavailable;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Makes a stand-in unable to answer, wholly or for some of its methods, until it is over. */
public final class Outage {
  private final Set<String> methods = ConcurrentHashMap.newKeySet();
  private volatile boolean whole;

  public Outage() {}

  /** No method answers from now on. */
  public void begin() {
    whole = true;
  }

  /** The methods of these names do not answer from now on. */
  public void begin(String... names) {
    methods.addAll(Set.of(names));
  }

  /** Everything answers again. */
  public void end() {
    whole = false;
    methods.clear();
  }

  public void check(String method) {
    if (whole || methods.contains(method)) {
      throw new Unavailable(method + ": out of order");
    }
  }
}
