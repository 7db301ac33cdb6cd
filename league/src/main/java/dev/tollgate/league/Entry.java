package dev.tollgate.league;

import dev.tollgate.lawbook.Law;
import dev.tollgate.lawbook.Limiter;
import java.util.Map;
import java.util.Optional;

/**
 * A limiter in the table.
 *
 * @param id the name on the command line
 * @param name the limiter, with its version
 * @param terms what its documentation promises, in a few words
 * @param limiter the limiter; empty if no law applies
 * @param notApplied by law, why it does not apply although it could be checked
 * @param why why no law applies; blank if some do
 */
public record Entry(
    String id,
    String name,
    String terms,
    Optional<Limiter.Maker> limiter,
    Map<Law<Limiter.Maker>, String> notApplied,
    String why) {

  /** Copies the reasons. */
  public Entry {
    notApplied = Map.copyOf(notApplied);
  }

  static Entry of(String id, String name, String terms, Limiter.Maker limiter) {
    return new Entry(id, name, terms, Optional.of(limiter), Map.of(), "");
  }

  Entry notApplying(Map<Law<Limiter.Maker>, String> reasons) {
    return new Entry(id, name, terms, limiter, reasons, why);
  }

  static Entry notApplicable(String id, String name, String why) {
    return new Entry(id, name, "none", Optional.empty(), Map.of(), why);
  }
}
