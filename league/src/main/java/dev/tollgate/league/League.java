package dev.tollgate.league;

import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.lawbook.Law;
import dev.tollgate.lawbook.LawBook;
import dev.tollgate.lawbook.LawViolation;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.LimiterLaws;
import dev.tollgate.league.adapters.Bucket4j;
import dev.tollgate.league.adapters.ExpiringItem;
import dev.tollgate.league.adapters.FixedWindow;
import dev.tollgate.league.adapters.GatewayScript;
import dev.tollgate.league.adapters.Guava;
import dev.tollgate.league.adapters.RateLimiterFlexible;
import dev.tollgate.league.adapters.Resilience4j;
import dev.tollgate.league.adapters.Sentinel;
import dev.tollgate.league.adapters.SlidingLog;
import dev.tollgate.league.adapters.Stored;
import dev.tollgate.league.adapters.Tollgate;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Prints the league table. Without arguments: all limiters. With the id of a limiter and a seed:
 * which laws it breaks in that history, each with the shortest history found; with {@code exact} as
 * a third argument, as if it promised an exact bucket.
 */
public final class League {
  /** The number of histories that each limiter plays. */
  static final int HISTORIES = 120;

  private static final Map<Law<Limiter.Maker>, String> NO_RETRY_TIME =
      Map.of(LimiterLaws.RETRY_AFTER, "it states no retry time");

  private static final Map<Law<Limiter.Maker>, String> OTHER_ROW_RETUNES =
      Map.of(LimiterLaws.RETUNE_CONSERVES, "`bucket4j-as-is` judges it, in memory");

  private static final String ONE_PERIOD = "slack: one period's tokens; lateness: a period";

  /** All limiters, in the order of the table. */
  static final List<Entry> ENTRIES =
      List.of(
          Entry.of("bucket4j", "bucket4j 8.20.0, in memory", "an exact bucket", Bucket4j.maker())
              .notApplying(OTHER_ROW_RETUNES),
          Entry.of(
              "bucket4j-as-is",
              "the same with replaceConfiguration, AS_IS",
              "an exact bucket",
              Bucket4j.replacingConfigurations()),
          Entry.of(
                  "bucket4j-redis",
                  "bucket4j-redis 8.8.0 (Jedis), on Redis",
                  "an exact bucket",
                  Stored.bucket4jOnRedis())
              .notApplying(OTHER_ROW_RETUNES),
          Entry.of(
                  "bucket4j-dynamodb",
                  "bucket4j-dynamodb-sdk-v1 8.6.0, on DynamoDB Local",
                  "an exact bucket",
                  Stored.bucket4jOnDynamoDb())
              .notApplying(OTHER_ROW_RETUNES),
          Entry.of(
                  "resilience4j",
                  "resilience4j 2.3.0, AtomicRateLimiter",
                  ONE_PERIOD,
                  Resilience4j.maker())
              .notApplying(NO_RETRY_TIME),
          Entry.of("guava", "Guava 33.7.2, RateLimiter", "slack: 1; lateness: 2 µs", Guava.maker())
              .notApplying(NO_RETRY_TIME),
          Entry.of(
                  "sentinel",
                  "Sentinel 1.8.8, DefaultController",
                  "slack: half a second's tokens; lateness: 1 s",
                  Sentinel.maker())
              .notApplying(NO_RETRY_TIME),
          Entry.of(
                  "gateway",
                  "Spring Cloud Gateway's script, in Java",
                  "slack: a second's tokens; lateness: 1 s",
                  GatewayScript.maker())
              .notApplying(NO_RETRY_TIME),
          Entry.of(
              "gcra",
              "redis-gcra's arithmetic in a script, on Redis",
              "slack: 1; lateness: half a token's time",
              Stored.gcra()),
          Entry.of(
              "window", "fixed window, as in Envoy's service", ONE_PERIOD, FixedWindow.maker()),
          Entry.of("log", "sliding window log", "lateness: a period", SlidingLog.maker()),
          Entry.of(
                  "item",
                  "DynamoDB item, UpdateItem, expiry of 100 s",
                  "slack: 1; lateness: 2 ms",
                  ExpiringItem.maker())
              .notApplying(NO_RETRY_TIME),
          Entry.of(
                  "item-kept",
                  "the same without expiry",
                  "slack: 1; lateness: 2 ms",
                  ExpiringItem.withoutExpiry())
              .notApplying(NO_RETRY_TIME),
          Entry.of(
                  "rate-limiter-flexible",
                  "rate-limiter-flexible 11.4.0 (npm), RateLimiterMemory",
                  ONE_PERIOD,
                  RateLimiterFlexible.maker())
              .notApplying(
                  Map.of(
                      LimiterLaws.RETUNE_CONSERVES,
                      "its options can change, but it promises nothing of the tokens then")),
          Entry.notApplicable(
              "concurrency-limits",
              "Netflix concurrency-limits",
              "it limits calls in flight and has no rate"),
          Entry.of(
              "tollgate",
              "Tollgate, PRODUCER",
              "slack: a minute's tokens; lateness: 2 s; grain: 3 min",
              Tollgate.maker(FillMode.PRODUCER)),
          Entry.of(
              "tollgate-direct",
              "Tollgate, DIRECT",
              "slack: a minute's tokens; lateness: 67 s; grain: 3 min",
              Tollgate.maker(FillMode.DIRECT)),
          Entry.of(
              "tollgate-prefetch",
              "Tollgate, PRODUCER, three processes that prefetch",
              "as PRODUCER",
              Tollgate.prefetching(FillMode.PRODUCER)),
          Entry.of(
              "tollgate-faults",
              "Tollgate, PRODUCER, with faults",
              "as PRODUCER, plus the effects of each fault",
              Tollgate.withFaults(FillMode.PRODUCER)));

  private League() {}

  /** Prints the table, or replays a history. Ends with status 2 if the arguments are invalid. */
  public static void main(String[] args) {
    try {
      System.out.print(output(args));
    } catch (IllegalArgumentException invalid) {
      System.err.println("league/run: " + invalid.getMessage());
      System.exit(2);
    }
  }

  /**
   * What the command prints.
   *
   * @throws IllegalArgumentException if the arguments are invalid; the message says which
   */
  static String output(String... args) {
    if (args.length == 0) {
      return table(verdicts(ENTRIES, HISTORIES));
    } else if (args.length == 1 || args.length > 3) {
      throw new IllegalArgumentException(
          "%d arguments (expected: none, or LIMITER SEED [exact])".formatted(args.length));
    } else if (args.length == 3 && !args[2].equals("exact")) {
      throw new IllegalArgumentException("%s (expected: exact)".formatted(args[2]));
    } else if (!args[1].matches("[1-9]\\d{0,17}")) {
      throw new IllegalArgumentException(
          "seed: %s (expected: a whole number above 0)".formatted(args[1]));
    }
    return replay(entry(args[0]), Long.parseLong(args[1]), args.length == 3);
  }

  /** The verdicts about these limiters, in their order. */
  static Map<Entry, Map<Law<Limiter.Maker>, Verdict>> verdicts(List<Entry> entries, int histories) {
    Judge judge = new Judge(histories);
    List<Map<Law<Limiter.Maker>, Verdict>> rows =
        entries.parallelStream().map(judge::judge).toList();
    Map<Entry, Map<Law<Limiter.Maker>, Verdict>> verdicts = new LinkedHashMap<>();
    for (int row = 0; row < rows.size(); row++) {
      verdicts.put(entries.get(row), rows.get(row));
    }
    return verdicts;
  }

  private static Entry entry(String id) {
    return ENTRIES.stream()
        .filter(entry -> entry.id().equals(id))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "limiter: %s (expected: one of %s)"
                        .formatted(
                            id,
                            ENTRIES.stream().map(Entry::id).collect(Collectors.joining(", ")))));
  }

  /** The table in Markdown: laws by limiters, and below it why laws do not apply. */
  static String table(Map<Entry, Map<Law<Limiter.Maker>, Verdict>> verdicts) {
    StringBuilder text = new StringBuilder("| limiter | its terms |");
    for (int number = 1; number <= LimiterLaws.ALL.size(); number++) {
      text.append(" ").append(number).append(" |");
    }
    text.append("\n|").append(" --- |".repeat(LimiterLaws.ALL.size() + 2)).append('\n');
    verdicts.forEach(
        (entry, row) -> {
          text.append("| `%s`: %s | %s |".formatted(entry.id(), entry.name(), entry.terms()));
          row.values().forEach(verdict -> text.append(" ").append(verdict).append(" |"));
          text.append('\n');
        });
    text.append("\n| law | |\n| --- | --- |\n");
    for (int at = 0; at < LimiterLaws.ALL.size(); at++) {
      text.append("| %d | %s |\n".formatted(at + 1, LimiterLaws.ALL.get(at).name()));
    }
    text.append("\n| not applicable | limiters: laws |\n| --- | --- |\n");
    reasons(verdicts)
        .forEach((why, who) -> text.append("| %s | %s |\n".formatted(why, String.join("; ", who))));
    return text.toString();
  }

  private static Map<String, Set<String>> reasons(
      Map<Entry, Map<Law<Limiter.Maker>, Verdict>> verdicts) {
    Map<String, Set<String>> reasons = new LinkedHashMap<>();
    verdicts.forEach(
        (entry, row) ->
            row.forEach(
                (law, verdict) -> {
                  if (verdict instanceof Verdict.NotApplicable not) {
                    String laws =
                        entry.limiter().isEmpty() ? "all" : "" + (LimiterLaws.ALL.indexOf(law) + 1);
                    reasons
                        .computeIfAbsent(not.why(), any -> new TreeSet<>())
                        .add("`" + entry.id() + "`: " + laws);
                  }
                }));
    return reasons;
  }

  /** The broken laws of one history, each with the shortest history found. */
  static String replay(Entry entry, long seed, boolean exact) {
    Limiter.Maker limiter =
        entry
            .limiter()
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "limiter: %s has no histories: %s".formatted(entry.id(), entry.why())));
    StringBuilder text = new StringBuilder();
    for (Law<Limiter.Maker> law : LimiterLaws.ALL) {
      if (entry.notApplied().containsKey(law)) {
        continue;
      }
      try {
        LawBook.ofLimiter(exact ? Judge.exactly(limiter) : limiter).only(List.of(law)).replay(seed);
      } catch (LawViolation violation) {
        text.append(violation.getMessage()).append('\n');
      }
    }
    return text.isEmpty() ? "No law is broken in history " + seed + ".\n" : text.toString();
  }
}
