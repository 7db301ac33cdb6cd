package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The limits that a tier sets and a tenant may override, named as in the control plane's API. */
public final class Limits {
  /** The largest values, by name, in the order in which tables show the limits. */
  private static final List<Map.Entry<String, Long>> LARGEST =
      List.of(
          Map.entry("tenantPerMinute", 30_000L),
          Map.entry("sessionPerMinute", 60_000L),
          Map.entry("connectionsPerSession", 1_000L),
          Map.entry("tenantConnections", 1_000_000L),
          Map.entry("sessionTTL", 86_400L),
          Map.entry("messagesPerMinute", 60_000L),
          Map.entry("sessionLifetime", 2_592_000L),
          Map.entry("sessionsPerSubject", 100L));

  public static final List<String> NAMES = LARGEST.stream().map(Map.Entry::getKey).toList();

  /** The switch of the line, which a tier sets and a tenant may override, too. */
  public static final String LINE = "line";

  private static final List<String> ALL_MODES = List.of("ENFORCE", "OBSERVE", "OFF");

  /** The modes of limits, by name. */
  static final Map<String, List<String>> MODES =
      Map.of(
          "tenantPerMinute", ALL_MODES,
          "sessionPerMinute", ALL_MODES,
          "connectionsPerSession", ALL_MODES,
          "tenantConnections", ALL_MODES,
          "messagesPerMinute", ALL_MODES,
          "sessionsPerSubject", List.of("ENFORCE", "OFF"));

  /** The field of modes, and with a dot the beginning of their names among overrides. */
  static final String MODE_FIELD = "modes";

  public static final String MODE = MODE_FIELD + ".";

  /** What a tenant may override: the limits, their modes, and the switch of the line. */
  public static final List<String> OVERRIDES =
      Stream.of(NAMES.stream(), MODES.keySet().stream().sorted().map(MODE::concat), Stream.of(LINE))
          .flatMap(names -> names)
          .toList();

  /** The limits that have a default value in the control plane, so that a tier may omit them. */
  static final Set<String> OPTIONAL = Set.of("sessionLifetime", "sessionsPerSubject");

  private Limits() {}

  /** The mode of a limit in a document of a tier or a tenant; empty if a limit can have none. */
  public static String mode(JsonNode document, String limit) {
    return MODES.containsKey(limit) ? document.path(MODE_FIELD).path(limit).asText("ENFORCE") : "";
  }

  /** The modes other than {@code ENFORCE} in a document of a tier or a tenant, for a table. */
  public static String modes(JsonNode document) {
    return document.path(MODE_FIELD).properties().stream()
        .map(mode -> mode.getKey() + "=" + mode.getValue().asText())
        .collect(Collectors.joining(" "));
  }

  /** The largest value of a limit; unlimited for an unknown name, which is an error of its own. */
  static long max(String name) {
    return LARGEST.stream()
        .filter(limit -> limit.getKey().equals(name))
        .mapToLong(Map.Entry::getValue)
        .findFirst()
        .orElse(Long.MAX_VALUE);
  }
}
