package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.terminal.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Prints counts: of the steps of a history, or of ranked tenants. */
final class CountTable {
  private static final String WOULD_REFUSE = "wouldRefuse";
  private static final List<String> COUNTS =
      List.of("admitted", "refused", WOULD_REFUSE, "peakConnections");

  private CountTable() {}

  /**
   * A table for a person. Reasons and actions share a column, without zeros. Without a column for
   * what observed limits would have refused if there is nothing.
   *
   * @param heading the heading of the first column
   * @param key the member with the first column's value
   */
  static List<String> text(JsonNode rows, String heading, String key) {
    boolean isObserved = rows.valueStream().anyMatch(row -> row.path(WOULD_REFUSE).asLong() != 0);
    List<String> header =
        new ArrayList<>(
            List.of(
                heading,
                "ADMITTED",
                "REFUSED",
                "PEAK",
                "REFUSED FOR",
                "TOKENS TAKEN",
                "TOKENS MINTED"));
    if (isObserved) {
      header.addAll(List.of("WOULD REFUSE", "WOULD REFUSE FOR"));
    }
    Table table = new Table(header.toArray(String[]::new));
    for (JsonNode row : rows) {
      List<String> cells = cells(row, key);
      String wouldRefuse = cells.remove(COUNTS.indexOf(WOULD_REFUSE) + 1);
      cells.add(joined(members(row.path("refusedFor"))));
      cells.add(joined(tokens(row, "taken")));
      cells.add(joined(tokens(row, "minted")));
      if (isObserved) {
        cells.add(wouldRefuse);
        cells.add(joined(members(row.path("wouldRefuseFor"))));
      }
      table.row(cells.toArray(String[]::new));
    }
    return table.lines();
  }

  /** A table for programs, with a column for each reason and action. */
  static List<String> csv(JsonNode rows, String key) {
    SortedSet<String> reasons = new TreeSet<>();
    SortedSet<String> observed = new TreeSet<>();
    SortedSet<String> actions = new TreeSet<>();
    rows.forEach(row -> reasons.addAll(members(row.path("refusedFor")).keySet()));
    rows.forEach(row -> observed.addAll(members(row.path("wouldRefuseFor")).keySet()));
    rows.forEach(row -> actions.addAll(tokens(row, "taken").keySet()));
    List<String> header = new ArrayList<>(List.of(key));
    header.addAll(COUNTS);
    reasons.forEach(reason -> header.add("refusedFor." + reason));
    observed.forEach(reason -> header.add("wouldRefuseFor." + reason));
    actions.forEach(action -> header.add("tokens." + action));
    actions.forEach(action -> header.add("minted." + action));
    Table table = new Table(header.toArray(String[]::new));
    for (JsonNode row : rows) {
      List<String> cells = cells(row, key);
      Map<String, String> refused = members(row.path("refusedFor"));
      Map<String, String> wouldRefuse = members(row.path("wouldRefuseFor"));
      Map<String, String> taken = tokens(row, "taken");
      Map<String, String> minted = tokens(row, "minted");
      reasons.forEach(reason -> cells.add(refused.getOrDefault(reason, "0")));
      observed.forEach(reason -> cells.add(wouldRefuse.getOrDefault(reason, "0")));
      actions.forEach(action -> cells.add(taken.getOrDefault(action, "0")));
      actions.forEach(action -> cells.add(minted.getOrDefault(action, "0")));
      table.row(cells.toArray(String[]::new));
    }
    return table.csv();
  }

  private static List<String> cells(JsonNode row, String key) {
    List<String> cells = new ArrayList<>(List.of(Json.text(row, key).orElse("")));
    COUNTS.forEach(count -> cells.add(Json.text(row, count).orElse("?")));
    return cells;
  }

  private static Map<String, String> members(JsonNode object) {
    Map<String, String> members = new TreeMap<>();
    object
        .properties()
        .forEach(member -> members.put(member.getKey(), Json.text(member.getValue())));
    return members;
  }

  /**
   * The tokens by action.
   *
   * @param count {@code taken} or {@code minted}
   */
  private static Map<String, String> tokens(JsonNode row, String count) {
    Map<String, String> tokens = new TreeMap<>();
    row.path("tokens")
        .forEach(
            bucket ->
                tokens.put(
                    Json.text(bucket, "action").orElse("?"), Json.text(bucket, count).orElse("?")));
    return tokens;
  }

  private static String joined(Map<String, String> values) {
    return values.entrySet().stream()
        .filter(value -> !value.getValue().equals("0"))
        .map(value -> value.getKey() + " " + value.getValue())
        .collect(Collectors.joining(", "));
  }
}
