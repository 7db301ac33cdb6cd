package dev.tollgate.cli.importing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import com.fasterxml.jackson.dataformat.csv.CsvParser;
import dev.tollgate.cli.apply.DesiredState;
import dev.tollgate.cli.apply.DesiredState.DesiredTenant;
import dev.tollgate.cli.apply.FileErrors;
import dev.tollgate.cli.apply.Limits;
import dev.tollgate.cli.apply.OverrideValue;
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
 * The tenants in a CSV file (RFC 4180). The header has {@code tenantId}, {@code tier} and the names
 * of limits to override. Rows are numbered as in a spreadsheet: the header is row 1.
 *
 * @param rows the valid rows
 * @param errors the invalid values of the other rows
 */
record TenantRows(List<Row> rows, FileErrors errors) {
  private static final String TENANT_ID = "tenantId";
  private static final String TIER = "tier";

  /** At most 18 digits, which always fit into a {@code long}. */
  private static final Pattern WHOLE_NUMBER = Pattern.compile("0*[1-9][0-9]{0,17}");

  private static final Pattern FLAG = Pattern.compile("true|false");

  private static final CsvMapper CSV =
      CsvMapper.builder()
          .enable(CsvParser.Feature.WRAP_AS_ARRAY)
          .enable(CsvParser.Feature.TRIM_SPACES)
          .build();

  /** A tenant and the number of its row. */
  record Row(long number, String tenantId, DesiredTenant tenant) {}

  /**
   * Reads rows.
   *
   * @param name the file's name in messages
   * @throws Failure if the text is not CSV or the header is invalid
   */
  static TenantRows of(String name, String text) {
    List<List<String>> cells = cells(name, text.startsWith("\uFEFF") ? text.substring(1) : text);
    FileErrors errors = new FileErrors(name, "row");
    List<String> header = cells.isEmpty() ? List.of() : cells.get(0);
    checkHeader(header, errors);
    errors.throwIfAny();
    List<Row> rows = new ArrayList<>();
    Map<String, Long> seen = new HashMap<>();
    for (int index = 1; index < cells.size(); index++) {
      List<String> row = cells.get(index);
      if (!row.stream().allMatch(String::isEmpty)) {
        row(index + 1, header, row, seen, errors).ifPresent(rows::add);
      }
    }
    return new TenantRows(rows, errors);
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

  private static void checkHeader(List<String> header, FileErrors errors) {
    for (String needed : List.of(TENANT_ID, TIER)) {
      if (!header.contains(needed)) {
        errors.add(1, needed, "missing", "a header with tenantId,tier");
      }
    }
    Set<String> seen = new HashSet<>();
    for (String column : header) {
      boolean known =
          column.equals(TENANT_ID) || column.equals(TIER) || Limits.OVERRIDES.contains(column);
      if (!known) {
        errors.add(1, "column", column, "tenantId, tier, " + String.join(", ", Limits.OVERRIDES));
      } else if (!seen.add(column)) {
        errors.add(1, "column", column, "once");
      }
    }
  }

  private static Optional<Row> row(
      long number,
      List<String> header,
      List<String> cells,
      Map<String, Long> seen,
      FileErrors errors) {
    if (cells.size() != header.size()) {
      errors.add(number, "row", cells.size() + " cells", header.size() + ", as in the header");
      return Optional.empty();
    }
    String tenantId = cells.get(header.indexOf(TENANT_ID));
    String tier = cells.get(header.indexOf(TIER));
    if (!DesiredState.TENANT_ID.matcher(tenantId).matches()) {
      errors.add(number, TENANT_ID, tenantId, DesiredState.VALID_TENANT_ID);
    }
    Long before = seen.putIfAbsent(tenantId, number);
    if (before != null) {
      errors.add(number, TENANT_ID, tenantId, "once; also in row " + before);
    }
    SortedMap<String, OverrideValue> overrides = new TreeMap<>();
    for (int column = 0; column < header.size(); column++) {
      String name = header.get(column);
      String value = cells.get(column);
      if (!Limits.OVERRIDES.contains(name) || value.isEmpty()) {
        continue;
      }
      boolean isLine = name.equals(Limits.LINE);
      Pattern valid = isLine ? FLAG : WHOLE_NUMBER;
      if (valid.matcher(value).matches()) {
        overrides.put(name, OverrideValue.parse(value));
      } else {
        String expected = isLine ? "true or false" : "a whole number, at least 1";
        errors.add(number, name, value, expected + "; blank for the tier's value");
      }
    }
    return Optional.of(
        new Row(number, tenantId, new DesiredTenant(tier, overrides, Optional.empty())));
  }
}
