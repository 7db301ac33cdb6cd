package dev.tollgate.local.scheduler;

import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A cron expression in the dialect of EventBridge: six fields (minutes, hours, day of month, month,
 * day of week, year), exactly one of the two day fields is {@code ?}, Sunday is 1.
 *
 * <p>cron-utils finds the times. It accepts expressions that EventBridge refuses, and silently
 * ignores a part of others (of {@code 1,15,L} the {@code L}, of the hours {@code 22-2} all but 22),
 * so this class reads the dialect first: names become numbers, and a range that wraps around
 * becomes two. {@code 29W} to {@code 31W}, which cron-utils does not support, are refused. Local
 * times are computed as if in UTC, so that only {@link Timing} handles daylight saving time.
 */
final class Cron {
  private static final Pattern SYNTAX = Pattern.compile("cron\\((\\S+(?: +\\S+){5})\\)");
  private static final Pattern ITEM =
      Pattern.compile("(?:(\\*)|(\\w+)(?:-(\\w+))?)(?:/(\\d{1,4}))?");
  private static final Pattern WEEKDAY_NEAR = Pattern.compile("(?:[1-9]|1\\d|2[0-8])W");
  private static final Pattern LAST_OF_MONTH = Pattern.compile("(\\w+)L");
  private static final Pattern NTH_OF_MONTH = Pattern.compile("(\\w+)#([1-5])");
  private static final List<String> MONTHS =
      List.of("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC");
  private static final List<String> DAYS = List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT");

  private static final CronParser PARSER =
      new CronParser(
          CronDefinitionBuilder.defineCron()
              .withMinutes()
              .and()
              .withHours()
              .and()
              .withDayOfMonth()
              .supportsL()
              .supportsW()
              .supportsLW()
              .supportsQuestionMark()
              .and()
              .withMonth()
              .and()
              .withDayOfWeek()
              .withValidRange(1, 7)
              .withMondayDoWValue(2)
              .supportsHash()
              .supportsL()
              .supportsQuestionMark()
              .and()
              .withYear()
              .withValidRange(1970, 2199)
              .and()
              .instance());

  private final ExecutionTime times;

  private Cron(ExecutionTime times) {
    this.times = times;
  }

  /**
   * Reads {@code cron(…)}.
   *
   * @throws IllegalArgumentException if it is not in the dialect
   */
  static Cron parse(String expression) {
    Matcher matcher = SYNTAX.matcher(expression);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(expression);
    }
    String[] fields = matcher.group(1).toUpperCase(Locale.ROOT).split(" +", -1);
    boolean anyDayOfMonth = fields[2].equals("?");
    if (anyDayOfMonth == fields[4].equals("?")) {
      throw new IllegalArgumentException(expression);
    }
    String translated =
        String.join(
            " ",
            list(fields[0], 0, 59, List.of()),
            list(fields[1], 0, 23, List.of()),
            anyDayOfMonth ? "?" : dayOfMonth(fields[2]),
            list(fields[3], 1, 12, MONTHS),
            anyDayOfMonth ? dayOfWeek(fields[4]) : "?",
            list(fields[5], 1970, 2199, List.of()));
    return new Cron(ExecutionTime.forCron(PARSER.parse(translated)));
  }

  /** The first local time after the given one; absent when the years are over. */
  Optional<LocalDateTime> next(LocalDateTime after) {
    return times.nextExecution(after.atZone(ZoneOffset.UTC)).map(ZonedDateTime::toLocalDateTime);
  }

  private static String dayOfMonth(String field) {
    return field.equals("L") || field.equals("LW") || WEEKDAY_NEAR.matcher(field).matches()
        ? field
        : list(field, 1, 31, List.of());
  }

  private static String dayOfWeek(String field) {
    if (field.equals("L")) {
      return "7";
    }
    Matcher last = LAST_OF_MONTH.matcher(field);
    if (last.matches()) {
      return value(last.group(1), 1, 7, DAYS) + "L";
    }
    Matcher nth = NTH_OF_MONTH.matcher(field);
    if (nth.matches()) {
      return value(nth.group(1), 1, 7, DAYS) + "#" + nth.group(2);
    }
    return list(field, 1, 7, DAYS);
  }

  private static String list(String field, int min, int max, List<String> names) {
    return Arrays.stream(field.split(",", -1))
        .map(item -> item(item, min, max, names))
        .collect(Collectors.joining(","));
  }

  private static String item(String item, int min, int max, List<String> names) {
    Matcher matcher = ITEM.matcher(item);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(item);
    }
    String step = matcher.group(4) == null ? "" : "/" + value(matcher.group(4), 1, max, List.of());
    if (matcher.group(1) != null) {
      return "*" + step;
    }
    int from = value(matcher.group(2), min, max, names);
    if (matcher.group(3) == null) {
      return from + step;
    }
    int to = value(matcher.group(3), min, max, names);
    if (from <= to) {
      return from + "-" + to + step;
    }
    if (!step.isEmpty() || min == 1970) {
      throw new IllegalArgumentException(item);
    }
    return from + "-" + max + "," + min + "-" + to;
  }

  private static int value(String text, int min, int max, List<String> names) {
    int value =
        names.contains(text)
            ? names.indexOf(text) + 1
            : text.matches("\\d{1,4}") ? Integer.parseInt(text) : -1;
    if (value < min || value > max) {
      throw new IllegalArgumentException(text);
    }
    return value;
  }
}
