package dev.tollgate.core.audit;

import dev.tollgate.core.InvalidValue;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * One change.
 *
 * @param id names the change: if it is read again, it has the same id. Of two changes of a subject,
 *     the later one has the greater id
 * @param at when it was made, in whole milliseconds
 * @param from the fields that changed, with their values before; without those that were not set
 * @param to the fields that changed, with their values after; without those that are not set
 */
public record AuditEntry(
    String id,
    Instant at,
    Subject subject,
    ChangeType what,
    Author author,
    SortedMap<String, String> from,
    SortedMap<String, String> to) {
  private static final int MAX_BYTES = 100_000;
  private static final int MAX_LENGTH = 250;
  private static final Pattern ID = Pattern.compile("[A-Za-z0-9-]{1,128}");

  /**
   * Checks the id and the time, and copies the maps.
   *
   * @throws InvalidValue if one is not valid
   */
  public AuditEntry {
    InvalidValue.unless(ID.matcher(id).matches(), "id", id, "1 to 128 letters, digits and hyphens");
    InvalidValue.unless(
        at.equals(at.truncatedTo(ChronoUnit.MILLIS)), "at", at, "whole milliseconds");
    from = Collections.unmodifiableSortedMap(new TreeMap<>(from));
    to = Collections.unmodifiableSortedMap(new TreeMap<>(to));
  }

  /**
   * An entry with the fields that differ between two states of a row: the first {@value #MAX_BYTES}
   * bytes, with {@value #MAX_LENGTH} characters of each name and value. Tollgate's rows have fewer;
   * an entry of a row that somebody wrote by hand must not be too large to be stored.
   */
  public static AuditEntry of(
      String id,
      Instant at,
      Subject subject,
      ChangeType what,
      Author author,
      Map<String, String> before,
      Map<String, String> after) {
    return new AuditEntry(
        id,
        at.truncatedTo(ChronoUnit.MILLIS),
        subject,
        what,
        author,
        without(before, after),
        without(after, before));
  }

  private static SortedMap<String, String> without(
      Map<String, String> fields, Map<String, String> others) {
    SortedMap<String, String> rest = new TreeMap<>();
    int bytes = 0;
    for (Map.Entry<String, String> field : new TreeMap<>(fields).entrySet()) {
      String name = cut(field.getKey());
      String value = cut(field.getValue());
      bytes += (name + value).getBytes(StandardCharsets.UTF_8).length;
      if (bytes <= MAX_BYTES && !others.entrySet().contains(field)) {
        rest.put(name, value);
      }
    }
    return rest;
  }

  private static String cut(String text) {
    return text.length() <= MAX_LENGTH ? text : text.substring(0, MAX_LENGTH) + "…";
  }
}
