package dev.tollgate.local.gateway.jwt;

import java.net.URI;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The configured locations of the key sets of token issuers. */
public final class KeySets {
  private final Map<String, URI> locations;
  private final InstantSource clock;
  private final Set<String> used = new TreeSet<>();

  /**
   * Key sets that no authorizer uses yet.
   *
   * @param locations URLs by issuer; the discovery document of any other issuer names the location
   * @param clock the clock for the age of keys
   */
  public KeySets(Map<String, URI> locations, InstantSource clock) {
    this.locations = Map.copyOf(locations);
    this.clock = clock;
  }

  /** The keys of an issuer that an authorizer names. */
  public IssuerKeys keys(String issuer) {
    used.add(issuer);
    return new IssuerKeys(issuer, Optional.ofNullable(locations.get(issuer)), clock);
  }

  /**
   * Refuses locations that no authorizer uses.
   *
   * @throws IllegalStateException if there is one
   */
  public void refuseUnused() {
    for (String issuer : locations.keySet()) {
      if (!used.contains(issuer)) {
        throw new IllegalStateException(
            "keys of issuer %s (expected: an issuer that an authorizer of the template names: %s)"
                .formatted(issuer, used));
      }
    }
  }
}
