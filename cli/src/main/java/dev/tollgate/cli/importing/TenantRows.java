package dev.tollgate.cli.importing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import com.fasterxml.jackson.dataformat.csv.CsvParser;
import dev.tollgate.cli.apply.DesiredState;
import dev.tollgate.cli.apply.DesiredState.WantedTenant;
import dev.tollgate.cli.apply.FileErrors;
import dev.tollgate.cli.command.Tiers;
import dev.tollgate.cli.http.Failure;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Tenants as the rows of a CSV file (RFC 4180) with a header: {@code tenantId}, {@code tier}, and
 * any limit's name for overrides. The header is row 1, as a spreadsheet counts.
 *
 * @param rows those that can be so
 * @param mistakes what cannot be in the others
 */
public record TenantRows(List<Row> rows, FileErrors mistakes) {
  private static final String TENANT_ID = "tenantId";
  private static final String TIER = "tier";

  /** Eighteen digits always fit. */
  private static final Pattern WHOLE_NUMBER = Pattern.compile("0*[1-9][0-9]{0,17}");

  private static final CsvMapper CSV =
      CsvMapper.builder()
          .enable(CsvParser.Feature.WRAP_AS_ARRAY)
          .enable(CsvParser.Feature.TRIM_SPACES)
          .build();

  /** A tenant, and where it stands in the file. */
  public record Row(long number, String tenantId, WantedTenant tenant) {}

  /**
   * Reads rows.
   *
   * @param name of the file as it is told
   * @throws Failure if it is no CSV, or its header is not such a one
   */
  public static TenantRows of(String name, String text) {
    List<List<String>> cells = cells(name, text.startsWith("\uFEFF") ? text.substring(1) : text);
    FileErrors mistakes = new FileErrors(name, "row");
    List<String> header = cells.isEmpty() ? List.of() : cells.get(0);
    checkHeader(header, mistakes);
    mistakes.orFail();
    List<Row> rows = new ArrayList<>();
    Map<String, Long> seen = new HashMap<>();
    for (int index = 1; index < cells.size(); index++) {
      List<String> row = cells.get(index);
      if (!row.stream().allMatch(String::isEmpty)) {
        row(index + 1, header, row, seen, mistakes).ifPresent(rows::add);
      }
    }
    return new TenantRows(rows, mistakes);
  }

  private static List<List<String>> cells(String name, String text) {
    List<List<String>> rows = new ArrayList<>();
    try (MappingIterator<String[]> iterator = CSV.readerFor(String[].class).readValues(text)) {
      while (iterator.hasNextValue()) {
        rows.add(Arrays.stream(iterator.nextValue()).map(String::strip).toList());
      }
    } catch (JsonProcessingException e) {
      throw Failure.usage(
          name + ": row " + (rows.size() + 1) + " is not CSV: " + e.getOriginalMessage());
    } catch (IOException e) {
      throw Failure.unreadable(name, e);
    }
    return rows;
  }

  private static void checkHeader(List<String> header, FileErrors mistakes) {
    for (String needed : List.of(TENANT_ID, TIER)) {
      if (!header.contains(needed)) {
        mistakes.add(1, needed, "missing", "a header with tenantId,tier");
      }
    }
    Set<String> seen = new HashSet<>();
    for (String column : header) {
      boolean known =
          column.equals(TENANT_ID) || column.equals(TIER) || Tiers.LIMITS.contains(column);
      if (!known) {
        mistakes.add(1, "column", column, "tenantId, tier, " + String.join(", ", Tiers.LIMITS));
      } else if (!seen.add(column)) {
        mistakes.add(1, "column", column, "once");
      }
    }
  }

  private static Optional<Row> row(
      long number,
      List<String> header,
      List<String> cells,
      Map<String, Long> seen,
      FileErrors mistakes) {
    if (cells.size() != header.size()) {
      mistakes.add(
          number, "row", cells.size() + " cells", header.size() + ", as many as the header has");
      return Optional.empty();
    }
    String tenantId = cells.get(header.indexOf(TENANT_ID));
    String tier = cells.get(header.indexOf(TIER));
    if (!DesiredState.TENANT_ID.matcher(tenantId).matches()) {
      mistakes.add(number, TENANT_ID, tenantId, DesiredState.TENANT_ID.pattern());
    }
    Long before = seen.putIfAbsent(tenantId, number);
    if (before != null) {
      mistakes.add(number, TENANT_ID, tenantId, "once; it is in row " + before + " already");
    }
    SortedMap<String, Long> overrides = new TreeMap<>();
    for (int column = 0; column < header.size(); column++) {
      String limit = header.get(column);
      String value = cells.get(column);
      if (!Tiers.LIMITS.contains(limit) || value.isEmpty()) {
        continue;
      }
      if (WHOLE_NUMBER.matcher(value).matches()) {
        overrides.put(limit, Long.parseLong(value));
      } else {
        mistakes.add(number, limit, value, "a whole number, 1 or more; blank for the tier's");
      }
    }
    return Optional.of(
        new Row(number, tenantId, new WantedTenant(tier, overrides, Optional.empty())));
  }
}
