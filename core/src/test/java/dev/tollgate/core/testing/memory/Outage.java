package dev.tollgate.core.testing.memory;

import dev.tollgate.core.NoCredentials;
import dev.tollgate.core.Unavailable;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Makes all or some methods of an in-memory port fail until it ends. */
public final class Outage {
  private final Set<String> methods = ConcurrentHashMap.newKeySet();
  private volatile boolean allMethods;
  private volatile boolean lacksCredentials;

  public Outage() {}

  /** Makes all methods fail. */
  public void begin() {
    allMethods = true;
  }

  /** Makes the methods with these names fail. */
  public void begin(String... names) {
    methods.addAll(Set.of(names));
  }

  /** Makes all methods fail before they send a request. */
  public void beginWithoutCredentials() {
    lacksCredentials = true;
    allMethods = true;
  }

  /** Ends the outage. */
  public void end() {
    lacksCredentials = false;
    allMethods = false;
    methods.clear();
  }

  public void check(String method) {
    if (allMethods || methods.contains(method)) {
      Unavailable failure = new Unavailable(method + ": out of order");
      throw lacksCredentials ? new NoCredentials(failure) : failure;
    }
  }
}
