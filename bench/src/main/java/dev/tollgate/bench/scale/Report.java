package dev.tollgate.bench.scale;

import dev.tollgate.bench.scale.Aws.Service;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** Prints the results as Markdown. */
final class Report {
  private static final double MINUTES_A_MONTH = 43_800;
  private static final double QUIET_MINUTES = 4;
  private static final double SECOND = SimulatedTime.SECOND;

  private final PrintStream out;
  private final Map<String, Double> prices;

  Report(PrintStream out, Map<String, Double> prices) {
    this.out = out;
    this.prices = prices;
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }

  private void row(String first, List<Hour> hours, Function<Hour, String> value) {
    StringBuilder line = new StringBuilder("| ").append(first);
    hours.forEach(hour -> line.append(" | ").append(value.apply(hour)));
    out.println(line.append(" |"));
  }

  /** The results of hours that differ in what fills buckets and how credentials are kept. */
  void print(int tenants, List<Hour> hours) {
    Hour first = hours.get(0);
    out.printf(
        Locale.ROOT,
        "%n## %,d tenants%n%n%,d in use, %,d buckets that are filled, %,d sockets, %d storms.%n%n",
        tenants,
        first.buckets() / 2,
        first.buckets(),
        first.sockets(),
        first.storms().size());
    row("", hours, hour -> hour.plan().label());
    row("---", hours, hour -> "---");
    for (Service service : Service.values()) {
      Quota of = first.world().aws().quota(service);
      String quota = of.perSecond() == 0 ? "" : text(" (quota %,d a second)", of.perSecond());
      row(of.name() + quota, hours, hour -> used(hour.world().aws().quota(service)));
    }
    row(
        "DynamoDB: writes of one row (quota 1,000 a second)",
        hours,
        hour -> text("%,d", hour.world().aws().peakRowWrites()));
    row(
        text("Lambda: executions at once (quota %,d)", Functions.CONCURRENCY),
        hours,
        hour -> text("%,d", hour.world().functions().peak()));
    for (String name : first.world().functions().names()) {
      row("of these, " + name, hours, hour -> used(hour.world().functions().usage(name)));
    }
    row(
        "fills, a minute",
        hours,
        hour -> text("%,d", hour.fills().fired() / hour.plan().minutes()));
    row("lag of fills: p50, p99, most", hours, hour -> seconds(hour.fills().lags()));
    row(
        "fills that were dropped, that failed",
        hours,
        hour -> text("%,d, %,d", hour.fills().dropped(), hour.fills().failed()));
    row(
        "storms: clients refused at least once, for each storm",
        hours,
        hour -> list(hour, storm -> text("%,d", storm.refusedOnce())));
    row(
        "attempts of such a client after its first refusal",
        hours,
        hour -> list(hour, storm -> text("%.2f", storm.attemptsAfterRefusal())));
    row(
        "clients not yet in at the end",
        hours,
        hour -> list(hour, storm -> text("%,d", storm.clients() - storm.admitted())));
    row(
        "seconds until the last client was in",
        hours,
        hour -> list(hour, storm -> text("%.1f", storm.lastSeconds())));
    row(
        "the same, against an ideal bucket and gateway",
        hours,
        hour -> list(hour, storm -> text("%.2f", storm.lastSeconds() / storm.idealSeconds())));
    row(
        "not counted in these: clients that ghosts kept out, and seconds until the last of them was in",
        hours,
        hour -> list(hour, s -> text("%,d: %.0f", s.keptOut(), s.lastKeptOutSeconds())));
    row(
        "handshakes that API Gateway refused",
        hours,
        hour -> list(hour, storm -> text("%,d", storm.refusedByGateway())));
    row("handshakes that failed", hours, hour -> list(hour, storm -> text("%,d", storm.errors())));
    row("neighbours outside of storms: p50, p99, most", hours, hour -> seconds(hour.calm()));
    row("neighbours in storms: p50, p99, most", hours, hour -> seconds(hour.stormy()));
    row("neighbours' p99 in storms, against outside", hours, hour -> text("%.2f", ratio(hour)));
    row(
        "neighbours' handshakes that API Gateway refused",
        hours,
        hour -> text("%,d of %,d", hour.neighboursRefusedByGateway(), hour.neighbourHandshakes()));
    row(
        "ghosts that were removed: after p50, p99, most",
        hours,
        hour -> text("%,d: %s", hour.heals().size(), seconds(hour.heals())));
    row("ghosts that were left", hours, hour -> text("%,d", hour.ghosts()));
    Map<String, Double> months = month(first);
    for (String price : months.keySet()) {
      row(
          "dollars a month: `" + price + "`",
          hours,
          hour -> text("%,.0f", month(hour).getOrDefault(price, 0.0)));
    }
    row(
        "dollars a month",
        hours,
        hour -> text("%,.0f", month(hour).values().stream().mapToDouble(each -> each).sum()));
    out.flush();
  }

  /** Neighbours' p99 in storms, against theirs outside. */
  static double ratio(Hour hour) {
    return (double) hour.stormy().percentile(99) / Math.max(1, hour.calm().percentile(99));
  }

  /** What a month like the minutes before the first storm costs. */
  private Map<String, Double> month(Hour hour) {
    Map<String, Double> month = new TreeMap<>();
    hour.quietBill()
        .forEach((price, dollars) -> month.put(price, dollars / QUIET_MINUTES * MINUTES_A_MONTH));
    month.put(
        "connection-minute",
        hour.sockets() * MINUTES_A_MONTH * prices.getOrDefault("connection-minute", Double.NaN));
    return month;
  }

  private static String used(Quota quota) {
    return quota.refused() == 0
        ? text("%,d", quota.peak())
        : text("**%,d**, refused %,d", quota.peak(), quota.refused());
  }

  private static String used(Functions.Usage usage) {
    return usage.throttled() == 0
        ? text("%,d", usage.peak())
        : text("**%,d**, throttled %,d", usage.peak(), usage.throttled());
  }

  private static String seconds(Samples samples) {
    return samples.size() == 0
        ? "none"
        : text(
            "%.1f, %.1f, %.1f s",
            samples.percentile(50) / SECOND,
            samples.percentile(99) / SECOND,
            samples.max() / SECOND);
  }

  private static String list(Hour hour, Function<Hour.Storm, String> value) {
    List<String> values = new ArrayList<>();
    hour.storms().forEach(storm -> values.add(value.apply(storm)));
    return String.join(", ", values);
  }

  /** What suspected situations take. */
  void print(Suspects suspects) {
    out.printf("%n## Large buckets%n%n");
    out.println(
        "| | a fill without a limit, which no function makes | first fill of the token producer | its fills until the end |");
    out.println("| --- | --- | --- | --- |");
    for (long rate : new long[] {1, 10, 600}) {
      fill(text("a new bucket of 20,000, %,d a minute", rate), suspects.newBucket(rate));
    }
    fill("from 100,000 tokens to 10", suspects.trim());
    out.println();
    out.println("| a request that onboards a tenant with | takes | tokens at its end |");
    out.println("| --- | --- | --- |");
    for (int buckets : new int[] {1, 3}) {
      for (long rate : new long[] {10, 600, 20_000}) {
        Suspects.Onboarding onboarding = suspects.onboarding(buckets, rate);
        out.println(
            text(
                "| %d %s of 20,000, %,d a minute | %,d s | %,d of %,d |",
                buckets,
                buckets == 1 ? "bucket" : "buckets",
                rate,
                onboarding.seconds(),
                onboarding.tokens(),
                buckets * 20_000));
      }
    }
    out.printf("%n## A shard of 1,250 buckets%n%n");
    out.println(
        "| new buckets of 20,000 in it | lag of fills: p50, p99, most | turns not finished |");
    out.println("| --- | --- | --- |");
    for (int large : new int[] {0, 1, 32, 60}) {
      Fills fills = suspects.shard(large);
      out.println(text("| %d | %s | %d |", large, seconds(fills.lags()), fills.dropped()));
    }
    out.printf("%n## Ended sessions of many tenants in one batch%n%n");
    out.println("| tenants | counts are right | counts have drifted |");
    out.println("| --- | --- | --- |");
    for (int count : new int[] {1, 100, 1_000}) {
      out.println(
          text(
              "| %,d | %d s | %d s |",
              count, suspects.recount(count, true), suspects.recount(count, false)));
    }
    out.printf("%n## An outage of SQS of two minutes, with a schedule for each bucket%n%n");
    out.println(
        "| tenants in use | executions before | executions in it | throttled | fills lost |");
    out.println("| --- | --- | --- | --- | --- |");
    for (int count : new int[] {100, 250, 500, 1_000, 2_000}) {
      Suspects.Outage outage = suspects.outage(count);
      out.println(
          text(
              "| %,d | %,d | %,d | %,d | %,d |",
              count, outage.before(), outage.during(), outage.throttled(), outage.lost()));
    }
    out.flush();
  }

  /** What a change of the tier of all tenants takes. */
  void printRollOut(int tenants) {
    RollOut rollOut = new RollOut(tenants, 1, prices);
    long took = rollOut.run();
    Quota writes = rollOut.world().aws().quota(Service.TENANT_WRITES);
    out.println(
        text(
            "| %,d | %s | %s | %s | %,d |",
            tenants,
            took < 0 ? "not finished" : text("%,d s", took),
            used(writes),
            used(rollOut.world().aws().quota(Service.LIMIT_WRITES)),
            rollOut.world().functions().peak()));
    out.flush();
  }

  /** The header of the rows of {@link #printRollOut}. */
  void printRollOuts() {
    out.printf("%n## A change of the tier of all tenants%n%n");
    out.println(
        "| tenants | rolled out after | writes of `Tenant` a second | writes of `Limit` a second | executions |");
    out.println("| --- | --- | --- | --- | --- |");
  }

  private void fill(String what, Suspects.Fill fill) {
    out.println(
        text(
            "| %s | %,d s | %,d tokens | %d |",
            what, fill.withoutEnd(), fill.inMinute(), fill.minutes()));
  }

  /** Where quotas and latencies come from. */
  void printSources() {
    out.printf("%n## Sources%n%n");
    out.println("| quota | a second | source |");
    out.println("| --- | --- | --- |");
    Aws aws = new Aws(new SimulatedTime(), new java.util.Random(1), prices);
    for (Service service : Service.values()) {
      Quota quota = aws.quota(service);
      out.println(
          text(
              "| %s | %s | %s |",
              quota.name(),
              quota.perSecond() == 0 ? "none" : text("%,d", quota.perSecond()),
              quota.source()));
    }
    out.printf("%n| latency | p50 | p90 | p99 | p99.9 | source |%n");
    out.println("| --- | --- | --- | --- | --- | --- |");
    for (Latency latency : Latency.values()) {
      out.println(
          text(
              "| %s | %.0f ms | %.0f ms | %.0f ms | %.0f ms | %s |",
              latency.label(),
              latency.millisAt(0.5),
              latency.millisAt(0.9),
              latency.millisAt(0.99),
              latency.millisAt(0.999),
              latency.source()));
    }
  }
}
