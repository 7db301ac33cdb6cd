package dev.tollgate.lawbook.process;

import dev.tollgate.lawbook.Claim;
import dev.tollgate.lawbook.Law;
import dev.tollgate.lawbook.LawBook;
import dev.tollgate.lawbook.LawViolation;
import dev.tollgate.lawbook.Lease;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.LimiterLaws;
import dev.tollgate.lawbook.Rate;
import dev.tollgate.lawbook.Setting;
import dev.tollgate.lawbook.Terms;
import dev.tollgate.lawbook.TokenCounts;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A limiter in any language, judged through a child process: one JSON line a request on its
 * standard input, one JSON line an answer on its standard output. The README of the law book
 * specifies the lines.
 *
 * <pre>{@code
 * try (LimiterProcess limiter = LimiterProcess.start(List.of("node", "bucket.mjs"))) {
 *   limiter.lawBook().hold(200);
 * }
 * }</pre>
 *
 * <p>A process that breaks the protocol, ends or does not answer fails the check by an {@link
 * AssertionError} that shows the request, the answer and what the process printed on its standard
 * error. No law counts as broken then.
 */
public final class LimiterProcess implements Limiter.Maker, AutoCloseable {
  /** The version of the protocol. */
  public static final int PROTOCOL = 1;

  private static final Duration ANSWERS_WITHIN = Duration.ofSeconds(30);
  private static final int HISTORIES = 200;

  private final LineExchange lines;
  private final Map<Law<Limiter.Maker>, String> notApplied;
  private final boolean claimsSeveral;
  private final boolean claimsTogether;
  private final boolean retunes;
  private final boolean counts;

  private LimiterProcess(LineExchange lines) {
    this.lines = lines;
    LineExchange.Answer hello =
        lines.ask(
            request("hello", Map.of("protocol", PROTOCOL)),
            Set.of("protocol", "clock", "retryAfter", "several", "together", "retune", "counts"));
    hello.unless(hello.number("protocol") == PROTOCOL, "\"protocol\":" + PROTOCOL);
    String clock = hello.text("clock").orElse("");
    hello.unless(
        clock.equals("moved") || clock.equals("system"),
        "\"clock\":\"moved\" or \"clock\":\"system\"");
    claimsSeveral = hello.isTrue("several");
    claimsTogether = hello.isTrue("together");
    retunes = hello.isTrue("retune");
    counts = hello.isTrue("counts");
    Map<Law<Limiter.Maker>, String> reasons = new LinkedHashMap<>();
    if (clock.equals("system")) {
      LimiterLaws.ALL.forEach(law -> reasons.put(law, "its clock cannot be moved"));
    }
    boolean several = claimsSeveral || claimsTogether;
    lacks(reasons, hello.isTrue("retryAfter"), LimiterLaws.RETRY_AFTER, "it states no retry time");
    lacks(reasons, several, LimiterLaws.ALL_OR_NONE, "it has no claims for several tokens");
    lacks(reasons, retunes, LimiterLaws.RETUNE_CONSERVES, "its terms cannot change");
    lacks(reasons, counts, LimiterLaws.CONSERVATION, "it does not show its counts");
    notApplied = Collections.unmodifiableMap(reasons);
  }

  private static void lacks(
      Map<Law<Limiter.Maker>, String> reasons, boolean has, Law<Limiter.Maker> law, String why) {
    if (!has) {
      reasons.putIfAbsent(law, why);
    }
  }

  /**
   * Starts a limiter in the current directory.
   *
   * @param command the program and its arguments
   * @throws IOException if the program cannot be started
   */
  public static LimiterProcess start(List<String> command) throws IOException {
    return start(command, Path.of(""), ANSWERS_WITHIN);
  }

  /**
   * Starts a limiter.
   *
   * @param command the program and its arguments
   * @param directory where the program runs
   * @param answersWithin how long to wait for an answer before the check fails
   * @throws IOException if the program cannot be started
   */
  public static LimiterProcess start(List<String> command, Path directory, Duration answersWithin)
      throws IOException {
    return new LimiterProcess(LineExchange.start(command, directory, answersWithin));
  }

  /**
   * Judges a limiter by each law, and prints the results. Ends with status 1 if it breaks a law,
   * and with status 2 if no law could be checked.
   *
   * @param command the program and its arguments
   */
  public static void main(String... command) throws IOException {
    if (command.length == 0) {
      System.err.println("Name the command that starts the limiter, such as: node bucket.mjs");
      System.exit(2);
    }
    List<LawViolation> violations = new ArrayList<>();
    int kept = 0;
    try (LimiterProcess limiter = start(List.of(command))) {
      for (Law<Limiter.Maker> law : LimiterLaws.ALL) {
        String result = "not applicable: " + limiter.notApplied.getOrDefault(law, "");
        if (!limiter.notApplied.containsKey(law)) {
          try {
            int histories = limiter.lawBook().only(List.of(law)).hold(HISTORIES).judged(law);
            kept += histories;
            result = histories == 0 ? "not checked" : "kept in " + histories + " histories";
          } catch (LawViolation violation) {
            violations.add(violation);
            result = "BROKEN, seed " + violation.seed();
          }
        }
        System.out.println(law.name() + ": " + result);
      }
    } catch (LineExchange.Failure failure) {
      System.err.println(failure.getMessage());
      System.exit(2);
    }
    violations.forEach(violation -> System.out.println("\n" + violation.getMessage()));
    if (kept == 0 || !violations.isEmpty()) {
      System.exit(violations.isEmpty() ? 2 : 1);
    }
  }

  /** The laws that apply to what the limiter can do, as a law book. */
  public LawBook<Limiter.Maker> lawBook() {
    List<Law<Limiter.Maker>> laws = new ArrayList<>(LimiterLaws.ALL);
    laws.removeAll(notApplied.keySet());
    return LawBook.<Limiter.Maker>ofLimiter(this).only(laws);
  }

  /** The laws that do not apply, each with the reason. */
  public Map<Law<Limiter.Maker>, String> notApplied() {
    return notApplied;
  }

  @Override
  public Limiter make(Setting setting) {
    if (notApplied.size() == LimiterLaws.ALL.size()) {
      throw lines.failure("Its clock cannot be moved, so no law applies.");
    }
    Remote limiter = new Remote(setting);
    limiter.ask("reset", Map.of("start", Setting.START.toString()));
    return limiter;
  }

  /** The terms that the limiter promises for drawn ones. */
  @Override
  public Terms terms(Random random) {
    Terms drawn = Terms.any(random);
    LineExchange.Answer promised =
        lines.ask(
            request("terms", fields(drawn)),
            Set.of("tokens", "per", "capacity", "slack", "lateness", "onDemand", "grain"));
    try {
      return new Terms(
          new Rate(
              promised.number("tokens", drawn.rate().tokens()),
              Duration.ofNanos(promised.number("per", drawn.rate().per().toNanos()))),
          promised.number("capacity", drawn.capacity()),
          promised.number("slack", 0),
          Duration.ofNanos(promised.number("lateness", 0)),
          promised.isTrue("onDemand"),
          Duration.ofNanos(promised.number("grain", 0)));
    } catch (IllegalArgumentException invalid) {
      throw promised.bad("" + invalid.getMessage());
    }
  }

  /** Ends the process. */
  @Override
  public void close() {
    lines.close();
  }

  private static Map<String, Object> fields(Terms terms) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("tokens", terms.rate().tokens());
    fields.put("per", terms.rate().per().toNanos());
    fields.put("capacity", terms.capacity());
    return fields;
  }

  /** A request with its fields in the same order in each run. */
  private static Map<String, Object> request(String op, Map<String, Object> fields) {
    Map<String, Object> request = new LinkedHashMap<>();
    request.put("op", op);
    request.putAll(new TreeMap<>(fields));
    return request;
  }

  /** The limiter of one history. All histories share the process, one after the other. */
  private final class Remote implements Limiter {
    private final Setting setting;

    Remote(Setting setting) {
      this.setting = setting;
    }

    private LineExchange.Answer ask(String op, Map<String, Object> fields, String... answered) {
      Map<String, Object> request = request(op, fields);
      request.put("now", Duration.between(Setting.START, setting.clock().instant()).toNanos());
      return lines.ask(request, Set.of(answered));
    }

    @Override
    public void open(String tenant, Terms terms) {
      Map<String, Object> fields = fields(terms);
      fields.put("tenant", tenant);
      ask("open", fields);
    }

    @Override
    public boolean retune(String tenant, Terms terms) {
      if (retunes) {
        Map<String, Object> fields = fields(terms);
        fields.put("tenant", tenant);
        ask("retune", fields);
      }
      return retunes;
    }

    @Override
    public Claim claim(String tenant) {
      return claimed(tenant, 1);
    }

    @Override
    public Optional<Claim> claim(String tenant, long tokens) {
      return claimsSeveral ? Optional.of(claimed(tenant, tokens)) : Optional.empty();
    }

    private Claim claimed(String tenant, long count) {
      LineExchange.Answer answer =
          ask(
              "claim",
              Map.of("tenant", tenant, "count", count),
              "admitted",
              "retryAfter",
              "lease",
              "endsAt",
              "undecided");
      Optional<String> undecided = answer.text("undecided");
      if (undecided.isPresent()) {
        return new Claim.Undecided(undecided.get());
      } else if (!answer.truth("admitted")) {
        return refused(answer);
      }
      return answer
          .text("lease")
          .map(id -> Claim.admitted(lease(id, count, Setting.START.plus(answer.nanos("endsAt")))))
          .orElseGet(Claim::admitted);
    }

    /** A refusal without a retry time has zero; the law about it does not apply then. */
    private Claim refused(LineExchange.Answer answer) {
      return Claim.refused(
          Duration.ofNanos(
              notApplied.containsKey(LimiterLaws.RETRY_AFTER)
                  ? answer.number("retryAfter", 0)
                  : answer.number("retryAfter")));
    }

    @Override
    public Optional<List<Claim>> claimTogether(String tenant, int callers, long tokens) {
      if (!claimsTogether) {
        return Optional.empty();
      }
      LineExchange.Answer answer =
          ask(
              "together",
              Map.of("tenant", tenant, "callers", callers, "count", tokens),
              "admitted",
              "retryAfter");
      long admitted = answer.number("admitted");
      answer.unless(admitted >= 0 && admitted <= callers, "\"admitted\":0 to " + callers);
      List<Claim> claims = new ArrayList<>(Collections.nCopies((int) admitted, Claim.admitted()));
      while (claims.size() < callers) {
        claims.add(refused(answer));
      }
      return Optional.of(claims);
    }

    @Override
    public Optional<TokenCounts> tokenCounts(String tenant) {
      if (!counts) {
        return Optional.empty();
      }
      String[] names = {"minted", "spent", "expired", "held", "inFlight"};
      LineExchange.Answer answer = ask("counts", Map.of("tenant", tenant), names);
      long[] count = Stream.of(names).mapToLong(answer::number).toArray();
      return Optional.of(new TokenCounts(count[0], count[1], count[2], count[3], count[4]));
    }

    private Lease lease(String id, long count, Instant end) {
      return new Lease() {
        @Override
        public long tokens() {
          return count;
        }

        @Override
        public Instant endsAt() {
          return end;
        }

        @Override
        public Spending spend() {
          boolean isSpent = ask("spend", Map.of("lease", id), "spent").truth("spent");
          return isSpent ? Spending.SPENT : Spending.REFUSED;
        }

        @Override
        public void giveBack() {
          ask("giveBack", Map.of("lease", id));
        }
      };
    }
  }
}
