package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.e2e.local.ClaimingProcess.Granted;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Processes with prefetched tokens, processes without, and handshakes claim from one bucket while
 * its terms change. Their sum stays within the bound of the bucket.
 *
 * <p>The bound is exact: a bucket that a fill found full has its capacity at that instant, and
 * accrues tokens at its rate from then on. A new rate applies after the last token that the last
 * fill minted.
 */
final class ProcessesIT {
  private static final String TENANT = "shared-by-processes";
  private static final String ACTION = "connect";
  private static final String SPEND = "DeleteMessageBatch";
  private static final int CAPACITY = 100;
  private static final int RATE = 100;
  private static final int LOWER_RATE = 50;
  private static final int NARROW_CAPACITY = 80;
  private static final int NARROW_RATE = 50;

  /** More claims than any bucket has tokens. */
  private static final int ALL = 1_000;

  /** How late tokens may be, see the guarantees. */
  private static final Duration DELAY = Duration.ofSeconds(2);

  /** After this many claims at once, a client spends as many tokens as it may take ahead. */
  private static final int BURST = 12;

  /** A client stops at its first refusal, although another one may hold leased tokens. */
  private static final int LEASED = 10;

  /** A row may be used for a second, and a prefetched token for two seconds. */
  private static final Duration LONGEST_AFTER_SUSPENSION = Duration.ofSeconds(3);

  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();
  private static final List<ClaimingProcess> PROCESSES = new ArrayList<>();
  private final Bound bound = new Bound();
  private String session = "";

  private static String tier(int rate, int capacity) {
    return """
        {"isolation": "POOL", "line": false, "buckets": {"connect": {"capacity": %d}},
         "limits": {"tenantPerMinute": %d, "sessionPerMinute": 1000, "connectionsPerSession": 1000,
                    "tenantConnections": 1000, "sessionTTL": 3600, "messagesPerMinute": 1}}"""
        .formatted(capacity, rate);
  }

  @BeforeAll
  static void start() throws Exception {
    assertThat(DEPLOYMENT.control("PUT", "/tiers/wide", tier(RATE, CAPACITY)).status())
        .isLessThan(300);
    assertThat(
            DEPLOYMENT.control("PUT", "/tiers/narrow", tier(NARROW_RATE, NARROW_CAPACITY)).status())
        .isLessThan(300);
    for (int i = 0; i < 2; i++) {
      PROCESSES.add(ClaimingProcess.start(TENANT, ACTION, environment(), now()));
    }
    assertThat(DEPLOYMENT.onboard(TENANT, "wide", "{}").status()).isEqualTo(201);
    PROCESSES.forEach(ClaimingProcess::awaitReady);
  }

  @AfterAll
  static void close() {
    PROCESSES.forEach(ClaimingProcess::close);
  }

  private static Map<String, String> environment() throws IOException {
    String role = output("ApplicationRole");
    Map<String, String> environment =
        new HashMap<>(DEPLOYMENT.cloud().environmentOf(role.substring(role.lastIndexOf('/') + 1)));
    output("ApplicationVariables")
        .lines()
        .map(line -> line.split("=", 2))
        .forEach(variable -> environment.put(variable[0], variable[1]));
    return environment;
  }

  private static String output(String name) {
    return Optional.ofNullable(DEPLOYMENT.cloud().outputs().get(name)).orElseThrow();
  }

  private static Instant now() {
    return DEPLOYMENT.clock().instant();
  }

  private static void advanceTo(Instant instant) throws InterruptedException {
    DEPLOYMENT.advance(Duration.between(now(), instant));
  }

  /** Moves to the next full minute, when the bucket is filled. */
  private static Instant nextFill() throws InterruptedException {
    advanceTo(now().truncatedTo(ChronoUnit.MINUTES).plusSeconds(60));
    return now();
  }

  @Test
  @Tag("nightly")
  void the_sum_of_all_processes_stays_within_the_bound_while_terms_change() throws Exception {
    session = DEPLOYMENT.open(TENANT);
    hands_are_in_use_while_the_bucket_is_full();
    a_storm_gets_the_capacity_and_the_rate();
    a_lower_rate_applies_after_the_minted_tokens();
    a_smaller_tier_applies_at_the_next_fill();
    a_suspended_tenants_hands_end();
  }

  private void hands_are_in_use_while_the_bucket_is_full() throws Exception {
    bound.full(nextFill(), CAPACITY, RATE);
    advanceTo(now().plusSeconds(30));
    DEPLOYMENT.cloud().requests().clear();
    int granted = claim(0, 15, 0).prefetched() + claim(1, 15, 0).prefetched();
    assertThat(granted).isEqualTo(30);
    assertThat(requests(SPEND)).as("requests that spend tokens").isLessThan(granted);
  }

  private void a_storm_gets_the_capacity_and_the_rate() throws Exception {
    Instant full = nextFill();
    bound.full(full, CAPACITY, RATE);
    advanceTo(full.plusMillis(59_900));
    DEPLOYMENT.cloud().requests().clear();
    // Tokens that are spent now could admit callers after the next fill has replaced them.
    int oneByOne = claim(0, 12, 0).prefetched();
    assertThat(requests(SPEND)).as("requests that spend tokens").isEqualTo(oneByOne);
    storm();
    for (int second : List.of(60, 66, 72)) {
      advanceTo(full.plusSeconds(second));
      storm();
    }
    assertTight(RATE);
  }

  private void a_lower_rate_applies_after_the_minted_tokens() throws Exception {
    Instant filled = now().truncatedTo(ChronoUnit.MINUTES);
    change("{\"overrides\":{\"tenantPerMinute\":%d}}".formatted(LOWER_RATE));
    bound.rateFrom(filled.plusSeconds(60), LOWER_RATE);
    for (int second : List.of(50, 110, 126)) {
      advanceTo(filled.plusSeconds(second));
      storm();
    }
    assertTight(LOWER_RATE);
  }

  private void a_smaller_tier_applies_at_the_next_fill() throws Exception {
    advanceTo(now().plusSeconds(60L * CAPACITY / LOWER_RATE));
    Instant full = nextFill();
    bound.full(full, CAPACITY, LOWER_RATE);
    advanceTo(full.plusSeconds(10));
    change("{\"tier\":\"narrow\",\"overrides\":{}}");
    bound.rateFrom(now(), NARROW_RATE);
    claim(0, 5, 5);
    bound.full(nextFill(), NARROW_CAPACITY, NARROW_RATE);
    advanceTo(now().plusSeconds(30));
    storm();
    advanceTo(now().plusSeconds(6));
    storm();
    advanceTo(nextFill().plusSeconds(6));
    storm();
    assertTight(NARROW_RATE);
  }

  private void a_suspended_tenants_hands_end() throws Exception {
    advanceTo(now().plusSeconds(60L * NARROW_CAPACITY / NARROW_RATE));
    Instant full = nextFill();
    bound.full(full, NARROW_CAPACITY, NARROW_RATE);
    // A suspended bucket gets no further fill.
    bound.rateFrom(full, 0);
    Instant suspension = full.plusSeconds(10);
    Duration rowRead = Duration.ofMillis(50);
    advanceTo(suspension.minus(rowRead));
    claimUntilRefill(0);
    claimUntilRefill(1);
    advanceTo(suspension);
    change("{\"status\":\"SUSPENDED\"}");
    assertThat(handshakes(2)).isZero();

    // The row that was read before the suspension is almost a second old.
    Duration lastRefill = Duration.ofMillis(999).minus(rowRead);
    advanceTo(suspension.plus(lastRefill));
    int burst = claimUntilRefill(0);
    advanceTo(suspension.plus(lastRefill).plusMillis(1_999));
    Duration last = Duration.between(suspension, now());
    // The client may not take further tokens ahead, so these claims use up what it has prefetched.
    long fromHand = claimsWithoutRequest(0, 12);
    long fromOlderHand = claimsWithoutRequest(1, 2);
    int drained = claim(1, 0, ALL).direct();
    advanceTo(suspension.plus(LONGEST_AFTER_SUSPENSION));
    int after = claim(0, ALL, ALL).sum() + claim(1, ALL, ALL).sum();
    DEPLOYMENT.advance(Duration.ofMinutes(2));
    int muchLater = claim(0, ALL, ALL).sum() + claim(1, ALL, ALL).sum();
    System.out.printf(
        "After a suspension: %d claims in a burst, %d prefetched until %s, %d of the older ones, %d by"
            + " draining, %d and %d later%n",
        burst, fromHand, last, fromOlderHand, drained, after, muchLater);

    assertThat(fromHand).as("prefetched tokens").isBetween(1L, 9L);
    assertThat(fromOlderHand).as("prefetched tokens for two seconds").isZero();
    assertThat(drained).as("last tokens of the suspended bucket").isPositive();
    assertThat(after).as("claims three seconds after the suspension").isZero();
    assertThat(muchLater).as("claims two minutes after the suspension").isZero();
  }

  private static void change(String body) throws InterruptedException {
    assertThat(DEPLOYMENT.control("PATCH", "/tenants/" + TENANT, body).status()).isEqualTo(200);
    DEPLOYMENT.cloud().settle();
  }

  private Granted claim(int process, int prefetched, int direct) {
    PROCESSES.get(process).order(now(), prefetched, direct);
    Granted granted = PROCESSES.get(process).granted();
    bound.grant(granted.sum(), now());
    return granted;
  }

  /** Claims in a burst until a claim has just received and spent tokens for the next ones. */
  private int claimUntilRefill(int process) {
    int claims = 0;
    boolean refilled = false;
    while (claims < BURST || !refilled) {
      long before = requests("ReceiveMessage");
      assertThat(claim(process, 1, 0).prefetched()).isEqualTo(1);
      claims++;
      refilled = requests("ReceiveMessage") > before;
    }
    return claims;
  }

  /** Claims tokens of a suspended tenant; returns how many were granted without a request. */
  private long claimsWithoutRequest(int process, int claims) {
    long before = requests(SPEND);
    assertThat(claim(process, claims, 0).prefetched()).isEqualTo(claims);
    return claims - (requests(SPEND) - before);
  }

  /** All clients of all processes claim until they are refused, during some handshakes. */
  private void storm() throws InterruptedException {
    PROCESSES.forEach(process -> process.order(now(), ALL, ALL));
    long admitted = handshakes(2);
    long claimed = PROCESSES.stream().mapToLong(process -> process.granted().sum()).sum();
    DEPLOYMENT.cloud().settle();
    bound.grant(admitted + claimed, now());
    System.out.printf("%s: %d handshakes and %d claims, %s%n", now(), admitted, claimed, bound);
  }

  private long handshakes(int count) {
    return DEPLOYMENT.connectAll(count, TENANT, List.of(session)).stream()
        .filter(handshake -> handshake.status() == 101)
        .count();
  }

  /** How many requests of this operation the processes have sent. */
  private static long requests(String operation) {
    return DEPLOYMENT
        .cloud()
        .requests()
        .count(
            request ->
                request.principal().name().startsWith("Application")
                    && request.operation().equals(operation));
  }

  /** Fails if much more could have been granted: then the bound would not notice a fault. */
  private void assertTight(int rate) {
    long late = rate * DELAY.toSeconds() / 60 + 1;
    assertThat(bound.tokens()).as("%s", bound).isLessThanOrEqualTo(late + LEASED);
  }

  /** What may still be granted, in units of which {@link #UNIT} make a token. */
  private static final class Bound {
    /** The milliseconds of a minute: a rate adds as many units in a millisecond as its number. */
    private static final long UNIT = 60_000;

    private long left;
    private Instant at = Instant.MIN;
    private long rate;
    private Instant changesAt = Instant.MAX;
    private long nextRate;

    /**
     * A fill found the bucket full, or removed its surplus, and no process holds prefetched tokens.
     */
    private void full(Instant filled, long capacity, long perMinute) {
      left = capacity * UNIT;
      at = filled;
      rate = perMinute;
      changesAt = Instant.MAX;
    }

    private void rateFrom(Instant instant, long perMinute) {
      changesAt = instant;
      nextRate = perMinute;
    }

    private void grant(long tokens, Instant now) {
      if (!changesAt.isAfter(now)) {
        accrueUntil(changesAt);
        rate = nextRate;
        changesAt = Instant.MAX;
      }
      accrueUntil(now);
      left -= tokens * UNIT;
      assertThat(left).as("%s at %s", this, now).isNotNegative();
    }

    private void accrueUntil(Instant instant) {
      left += rate * Duration.between(at, instant).toMillis();
      at = instant;
    }

    private long tokens() {
      return left / UNIT;
    }

    @Override
    public String toString() {
      return "%d tokens and %d of %d parts left".formatted(left / UNIT, left % UNIT, UNIT);
    }
  }
}
