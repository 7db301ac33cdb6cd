package dev.tollgate.local.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.LocalDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CronTest {
  /** A Friday. */
  private static final LocalDateTime START = LocalDateTime.parse("2026-01-30T22:07:30");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          * * * * ? *                  | 2026-01-30T22:08 2026-01-30T22:09 2026-01-30T22:10
          0/20 * * * ? *               | 2026-01-30T22:20 2026-01-30T22:40 2026-01-30T23:00
          1/10 23 * * ? *              | 2026-01-30T23:01 2026-01-30T23:11 2026-01-30T23:21
          */30 * * * ? *               | 2026-01-30T22:30 2026-01-30T23:00 2026-01-30T23:30
          10-20/5 0 * * ? *            | 2026-01-31T00:10 2026-01-31T00:15 2026-01-31T00:20
          0 22-1 * * ? *               | 2026-01-30T23:00 2026-01-31T00:00 2026-01-31T01:00
          15 10 ? * 6L 2022-2027       | 2026-02-27T10:15 2026-03-27T10:15 2026-04-24T10:15
          0 0 ? * FRIL *               | 2026-02-27T00:00 2026-03-27T00:00 2026-04-24T00:00
          0 0 ? * L *                  | 2026-01-31T00:00 2026-02-07T00:00 2026-02-14T00:00
          0 0 L * ? *                  | 2026-01-31T00:00 2026-02-28T00:00 2026-03-31T00:00
          0 0 LW * ? *                 | 2026-02-27T00:00 2026-03-31T00:00 2026-04-30T00:00
          0 0 1W * ? *                 | 2026-02-02T00:00 2026-03-02T00:00 2026-04-01T00:00
          0 0 15W * ? *                | 2026-02-16T00:00 2026-03-16T00:00 2026-04-15T00:00
          0 0 28W * ? *                | 2026-02-27T00:00 2026-03-27T00:00 2026-04-28T00:00
          0 0 ? * 3#2 *                | 2026-02-10T00:00 2026-03-10T00:00 2026-04-14T00:00
          0 0 ? * TUE#2 *              | 2026-02-10T00:00 2026-03-10T00:00 2026-04-14T00:00
          0 0 ? * 1#5 *                | 2026-03-29T00:00 2026-05-31T00:00 2026-08-30T00:00
          0 0 ? * 1 *                  | 2026-02-01T00:00 2026-02-08T00:00 2026-02-15T00:00
          0 0 ? * SUN *                | 2026-02-01T00:00 2026-02-08T00:00 2026-02-15T00:00
          0 0 ? * 7 *                  | 2026-01-31T00:00 2026-02-07T00:00 2026-02-14T00:00
          0 0 ? * MON-FRI *            | 2026-02-02T00:00 2026-02-03T00:00 2026-02-04T00:00
          0 0 ? * 2-6 *                | 2026-02-02T00:00 2026-02-03T00:00 2026-02-04T00:00
          0 0 ? * FRI-SUN *            | 2026-01-31T00:00 2026-02-01T00:00 2026-02-06T00:00
          0 0 ? * mon,WED *            | 2026-02-02T00:00 2026-02-04T00:00 2026-02-09T00:00
          0-15/1 8-8 ? * 2,3,4,5,6,7 * | 2026-01-31T08:00 2026-01-31T08:01 2026-01-31T08:02
          1-31/30 1-1 ? * 1,7 *        | 2026-01-31T01:01 2026-01-31T01:31 2026-02-01T01:01
          0 0 1 JAN-MAR ? *            | 2026-02-01T00:00 2026-03-01T00:00 2027-01-01T00:00
          0 0 1 NOV-FEB ? *            | 2026-02-01T00:00 2026-11-01T00:00 2026-12-01T00:00
          0 0 29 2 ? *                 | 2028-02-29T00:00 2032-02-29T00:00 2036-02-29T00:00
          0 0 1 1 ? 2027/2             | 2027-01-01T00:00 2029-01-01T00:00 2031-01-01T00:00
          0 0 1 1 ? 2027,2030          | 2027-01-01T00:00 2030-01-01T00:00
          0 0 1 1 ? 2020               |
          0 0 31 2 ? *                 |
          """)
  void next_follows_the_dialect(String fields, String expected) {
    Cron cron = Cron.parse("cron(" + fields.trim() + ")");
    List<LocalDateTime> times = new ArrayList<>();
    Optional<LocalDateTime> next = cron.next(START);
    while (next.isPresent() && times.size() < 3) {
      times.add(next.get());
      next = cron.next(next.get());
    }
    assertThat(times)
        .isEqualTo(
            Stream.of(Optional.ofNullable(expected).orElse("").split(" ", -1))
                .filter(text -> !text.isEmpty())
                .map(LocalDateTime::parse)
                .toList());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cron()",
        "cron(INVALID)",
        "cron(* * * * ?)",
        "cron(* * * * ? * *)",
        " cron(* * * * ? *)",
        "cron(* * * * ? *) ",
        "cron( * * * * ? *)",
        "CRON(* * * * ? *)",
        "cron(0 1 * * * *)",
        "cron(0 1 ? * ? *)",
        "cron(0 1 1 * 2 *)",
        "cron(0 1 * * MON *)",
        "cron(? * * * ? *)",
        "cron(71 8 1 * ? *)",
        "cron(0 24 * * ? *)",
        "cron(0 0 0 * ? *)",
        "cron(0 0 32 * ? *)",
        "cron(0 0 1 13 ? *)",
        "cron(0 0 1 FOO ? *)",
        "cron(0 0 ? * 0 *)",
        "cron(0 0 ? * 8 *)",
        "cron(7 20 * * NOT *)",
        "cron(0 dummy ? * MON-FRI *)",
        "cron(0 0 ? * 3#6 *)",
        "cron(0 0 ? * 3#0 *)",
        "cron(0 0 ? * 3#1,6#3 *)",
        "cron(0 0 ? * 6L,2 *)",
        "cron(0 0 1,L * ? *)",
        "cron(0 0 1W,15W * ? *)",
        "cron(0 0 29W * ? *)",
        "cron(0 0 31W * ? *)",
        "cron(0 0 L-3 * ? *)",
        "cron(0 0 ? * 1W *)",
        "cron(0 0 ? * * 1969)",
        "cron(0 0 ? * * 2200)",
        "cron(0 0 ? * * 2030-2020)",
        "cron(0/0 * * * ? *)",
        "cron(0/60 * * * ? *)",
        "cron(/5 * * * ? *)",
        "cron(1, * * * ? *)",
        "cron(-1 * * * ? *)",
        "cron(1-2-3 * * * ? *)",
        "cron(50-10/5 * * * ? *)",
      })
  void parse_outside_the_dialect_is_refused(String expression) {
    assertThatThrownBy(() -> Cron.parse(expression)).isInstanceOf(IllegalArgumentException.class);
  }

  /** Compares with a reading of the fields that looks at every minute of some weeks. */
  @Test
  void next_agrees_with_looking_at_every_minute() {
    Random random = new Random(7);
    for (int i = 0; i < 150; i++) {
      boolean byWeekday = random.nextBoolean();
      String[] fields = {
        field(random, 0, 59),
        field(random, 0, 23),
        byWeekday ? "?" : field(random, 1, 31),
        field(random, 1, 12),
        byWeekday ? field(random, 1, 7) : "?",
        "*"
      };
      Cron cron = Cron.parse("cron(" + String.join(" ", fields) + ")");
      IntPredicate minute = reading(fields[0], 0, 59);
      IntPredicate hour = reading(fields[1], 0, 23);
      IntPredicate day = byWeekday ? any -> true : reading(fields[2], 1, 31);
      IntPredicate month = reading(fields[3], 1, 12);
      IntPredicate weekday = byWeekday ? reading(fields[4], 1, 7) : any -> true;
      LocalDateTime start = START.plusMinutes(random.nextInt(600_000));
      List<LocalDateTime> expected =
          Stream.iterate(
                  start.truncatedTo(ChronoUnit.MINUTES).plusMinutes(1), t -> t.plusMinutes(1))
              .limit(40 * 24 * 60)
              .filter(
                  t ->
                      minute.test(t.getMinute())
                          && hour.test(t.getHour())
                          && day.test(t.getDayOfMonth())
                          && month.test(t.getMonthValue())
                          && weekday.test(t.getDayOfWeek().getValue() % 7 + 1))
              .limit(50)
              .toList();
      LocalDateTime time = start;
      for (LocalDateTime next : expected) {
        time = cron.next(time).orElseThrow();
        assertThat(time).as("%s after %s", String.join(" ", fields), start).isEqualTo(next);
      }
      if (expected.isEmpty()) {
        assertThat(cron.next(start).map(t -> t.isAfter(start.plusDays(40))).orElse(true))
            .as("%s after %s", String.join(" ", fields), start)
            .isTrue();
      }
    }
  }

  private static String field(Random random, int min, int max) {
    if (random.nextInt(3) == 0) {
      return "*";
    }
    return random
        .ints(1 + random.nextInt(3), 0, 4)
        .mapToObj(
            kind -> {
              int a = min + random.nextInt(max - min + 1);
              int b = min + random.nextInt(max - min + 1);
              int step = 1 + random.nextInt(max);
              return switch (kind) {
                case 0 -> "" + a;
                case 1 -> a + "-" + b;
                case 2 -> a + "/" + step;
                default -> Math.min(a, b) + "-" + Math.max(a, b) + "/" + step;
              };
            })
        .collect(Collectors.joining(","));
  }

  private static IntPredicate reading(String field, int min, int max) {
    BitSet values = new BitSet();
    for (int value = min; value <= max; value++) {
      values.set(value, includes(field, value, min, max));
    }
    return values::get;
  }

  private static boolean includes(String field, int value, int min, int max) {
    return Stream.of(field.split(",", -1))
        .anyMatch(
            item -> {
              String[] stepped = item.split("/", -1);
              int step = stepped.length == 2 ? Integer.parseInt(stepped[1]) : 1;
              if (stepped[0].equals("*")) {
                return (value - min) % step == 0;
              }
              String[] range = stepped[0].split("-", -1);
              int from = Integer.parseInt(range[0]);
              int to =
                  range.length == 2 ? Integer.parseInt(range[1]) : stepped.length == 2 ? max : from;
              return from <= to
                  ? value >= from && value <= to && (value - from) % step == 0
                  : value >= from || value <= to;
            });
  }
}
