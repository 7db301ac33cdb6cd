package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.client.Claim;
import dev.tollgate.client.TokenBucket;
import dev.tollgate.client.TollgateClient;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** A daily quota on the engines, in a week in which the clocks change. */
final class QuotaIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();

  @AutoClose
  private static final TollgateClient TOLLGATE =
      TollgateClient.builder()
          .environment(ClientClaimsIT.environment(DEPLOYMENT))
          .clock(DEPLOYMENT.clock())
          .build();

  private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
  private static final int CAPACITY = 30;
  private static final String TIER =
      """
      {"isolation": "POOL",
       "buckets": {"send-email": {"refill": {"every": "DAY", "at": "00:00", "zone": "Europe/Berlin"},
                                  "capacity": %d}},
       "limits": {"tenantPerMinute": 60, "sessionPerMinute": 60, "connectionsPerSession": 10,
                  "tenantConnections": 10, "sessionTTL": 200, "messagesPerMinute": 60}}"""
          .formatted(CAPACITY);

  private static Instant now() {
    return DEPLOYMENT.clock().instant();
  }

  private static Instant midnight(LocalDate day) {
    return day.atStartOfDay(BERLIN).toInstant();
  }

  /** Moves the clock to an instant at once, and lets the schedules of that minute fire. */
  private static void jump(Instant then) throws InterruptedException {
    DEPLOYMENT.clock().set(then.minusSeconds(1));
    DEPLOYMENT.advance(Duration.ofSeconds(1));
    DEPLOYMENT.cloud().settle();
  }

  /** Claims from several threads at the same time; returns how many claims were granted. */
  private static long storm(TokenBucket bucket, int claims) {
    List<CompletableFuture<Claim>> all =
        Stream.generate(() -> bucket.tryClaimAsync(1).toCompletableFuture()).limit(claims).toList();
    return all.stream()
        .map(CompletableFuture::join)
        .filter(Claim.Granted.class::isInstance)
        .count();
  }

  @Test
  void each_day_of_a_week_gives_its_quota_once_also_when_the_clocks_change() throws Exception {
    assertThat(DEPLOYMENT.control("PUT", "/tiers/daily", TIER).status()).isEqualTo(201);
    Instant change = BERLIN.getRules().nextTransition(now()).getInstant();
    LocalDate first = change.atZone(BERLIN).toLocalDate().minusDays(3);
    jump(midnight(first).plus(Duration.ofHours(9)));
    assertThat(DEPLOYMENT.onboard("globex", "daily", "{}").status()).isEqualTo(201);
    DEPLOYMENT.cloud().settle();
    TokenBucket bucket = TOLLGATE.bucket("globex", "send-email");

    for (LocalDate day = first; day.isBefore(first.plusDays(7)); day = day.plusDays(1)) {
      boolean leavesSome = day.getDayOfMonth() % 2 == 0;
      long granted = storm(bucket, leavesSome ? CAPACITY / 3 : 2 * CAPACITY);
      assertThat(granted).as("granted on %s", day).isEqualTo(leavesSome ? CAPACITY / 3 : CAPACITY);
      Instant next = midnight(day.plusDays(1));
      if (!leavesSome) {
        jump(next.minusSeconds(7));
        assertThat(bucket.tryClaim())
            .as("seven seconds before the end of %s", day)
            .isEqualTo(new Claim.Denied(next.plusSeconds(1)));
      }
      DEPLOYMENT.cloud().requests().clear();
      jump(next);
      assertThat(
              DEPLOYMENT.cloud().requests().of("TokenProducer").stream()
                  .filter(request -> request.operation().equals("SendMessageBatch"))
                  .filter(request -> request.body().contains("send-email"))
                  .count())
          .as("requests that fill the bucket at the beginning of %s", day.plusDays(1))
          .isEqualTo(CAPACITY / 10);
    }
    assertThat(storm(bucket, 2 * CAPACITY)).isEqualTo(CAPACITY);
  }
}
