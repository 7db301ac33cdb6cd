package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.client.Claim;
import dev.tollgate.client.Place;
import dev.tollgate.client.Reservation;
import dev.tollgate.client.Settlement;
import dev.tollgate.client.TokenBucket;
import dev.tollgate.client.TollgateClient;
import dev.tollgate.client.UnknownBucket;
import dev.tollgate.local.endpoint.RecordedRequests.Request;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Programs that claim tokens as the stack's role {@code Application}, restricted to its policies.
 */
final class ClientClaimsIT {
  private static final LocalDeployment DEPLOYMENT = LocalDeployment.shared();
  private static final String TIER =
      """
      {"isolation": "POOL", "buckets": {"send-email": {"ratePerMinute": 60, "capacity": 30}},
       "limits": {"tenantPerMinute": 60, "sessionPerMinute": 60, "connectionsPerSession": 10,
                  "tenantConnections": 10, "sessionTTL": 200, "messagesPerMinute": 60}}""";
  private static final TollgateClient TOLLGATE =
      TollgateClient.builder().environment(environment()).clock(DEPLOYMENT.clock()).build();

  @BeforeAll
  static void tier() {
    assertThat(DEPLOYMENT.control("PUT", "/tiers/mailing", TIER).status()).isLessThan(300);
  }

  @AfterAll
  static void close() {
    TOLLGATE.close();
  }

  private static Map<String, String> environment() {
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

  private static TokenBucket bucketOf(String tenant) {
    assertThat(DEPLOYMENT.onboard(tenant, "mailing", "{}").status()).isEqualTo(201);
    return TOLLGATE.bucket(tenant, "send-email");
  }

  @Test
  void claims_are_granted_at_the_promised_second_for_any_way_of_draining() throws Exception {
    TokenBucket bucket = bucketOf("claims-drain");
    DEPLOYMENT.cloud().requests().clear();
    assertThat(bucket.claimUpTo(40).tokens()).isEqualTo(30);
    assertThat(bucket.tryClaim()).isInstanceOf(Claim.Denied.class);
    awaitFill();

    DEPLOYMENT.advance(Duration.ofSeconds(3));

    assertThat(bucket.claimUpTo(10).tokens()).isBetween(2, 4);
  }

  /**
   * Waits until the fill that a claim requested has ended. A fill that is still sending tokens when
   * the clock moves would delay them from the later time.
   */
  private static void awaitFill() throws InterruptedException {
    Instant deadline = Instant.now().plusSeconds(30);
    while (DEPLOYMENT.cloud().requests().of("TokenProducer").stream()
        .noneMatch(request -> request.operation().equals("SendMessageBatch"))) {
      assertThat(Instant.now()).isBefore(deadline);
      Thread.onSpinWait();
    }
    DEPLOYMENT.cloud().settle();
  }

  @Test
  void a_claim_of_a_rate_and_of_a_daily_quota_is_denied_until_midnight_once_the_day_is_used_up() {
    String tier =
        TIER.replace(
            "\"buckets\": {",
            "\"buckets\": {\"day\": {\"capacity\": 12, \"refill\":"
                + " {\"every\": \"DAY\", \"at\": \"00:00\", \"zone\": \"UTC\"}}, ");
    assertThat(DEPLOYMENT.control("PUT", "/tiers/daily", tier).status()).isEqualTo(201);
    assertThat(DEPLOYMENT.onboard("claims-daily", "daily", "{}").status()).isEqualTo(201);
    List<String> both = List.of("send-email", "day");

    assertThat(TOLLGATE.tryClaimEach("claims-daily", both, 10)).isEqualTo(new Claim.Granted(10));
    Instant midnight =
        DEPLOYMENT.clock().instant().truncatedTo(ChronoUnit.DAYS).plus(1, ChronoUnit.DAYS);
    assertThat(TOLLGATE.tryClaimEach("claims-daily", both, 3))
        .isEqualTo(new Claim.Denied(midnight.plusSeconds(1)));
    assertThat(TOLLGATE.tryClaimEach("claims-daily", both, 2)).isEqualTo(new Claim.Granted(2));
    assertThat(TOLLGATE.bucket("claims-daily", "send-email").claimUpTo(30).tokens())
        .isBetween(18, 20);
  }

  @Test
  void a_reservation_is_spent_or_returned() throws Exception {
    TokenBucket bucket = bucketOf("claims-reserve");
    Reservation spent = (Reservation) bucket.reserve(25);
    Reservation returned = (Reservation) bucket.reserve(5);
    assertThat(bucket.reserve(1)).isInstanceOf(Claim.Denied.class);

    assertThat(spent.spend()).isEqualTo(new Settlement.Spent());
    returned.close();

    DEPLOYMENT.advance(Duration.ofSeconds(1));
    assertThat(bucket.tryClaim(5)).isEqualTo(new Claim.Granted(5));
  }

  @Test
  void a_refused_caller_takes_a_place_and_is_admitted_at_its_slot() throws Exception {
    TokenBucket bucket = bucketOf("claims-line");
    DEPLOYMENT.cloud().requests().clear();
    assertThat(bucket.claimUpTo(30).tokens()).isEqualTo(30);
    Claim.Denied first = (Claim.Denied) bucket.claimInLine();
    awaitFill();
    List<Claim> claims = new ArrayList<>();
    assertThat(operations(() -> claims.add(bucket.claimInLine())))
        .containsExactly("GetItem", "UpdateItem");
    Claim.Denied second = (Claim.Denied) claims.get(0);
    Place place = Place.parse(second.place().orElseThrow().toString());
    assertThat(second.retryAt()).isAfter(first.retryAt());

    assertThat(operations(() -> claims.add(bucket.claim(place)))).containsExactly("GetItem");
    assertThat(claims.get(1)).isEqualTo(second);
    DEPLOYMENT.advance(Duration.between(DEPLOYMENT.clock().instant(), first.retryAt()));
    assertThat(bucket.claim(first.place().orElseThrow())).isEqualTo(new Claim.Granted(1));
    DEPLOYMENT.advance(Duration.between(DEPLOYMENT.clock().instant(), second.retryAt()));
    assertThat(operations(() -> claims.add(bucket.claim(place))))
        .containsExactlyInAnyOrder("GetItem", "ReceiveMessage", "DeleteMessageBatch");
    assertThat(claims.get(2)).isEqualTo(new Claim.Granted(1));
  }

  @Test
  void a_claim_costs_two_requests_while_its_row_is_fresh_and_a_refusal_none() throws Exception {
    TokenBucket bucket = bucketOf("claims-count");
    bucket.tryClaim();
    assertThat(operations(bucket::tryClaim))
        .containsExactly("ReceiveMessage", "DeleteMessageBatch");
    DEPLOYMENT.clock().advance(Duration.ofSeconds(1));
    assertThat(operations(bucket::tryClaim))
        .containsExactlyInAnyOrder("GetItem", "ReceiveMessage", "DeleteMessageBatch");
    bucket.claimUpTo(30);
    assertThat(operations(bucket::tryClaim)).isEmpty();
  }

  private static List<String> operations(LocalDeployment.Action action) throws Exception {
    return DEPLOYMENT.requestsOf(action).stream()
        .filter(request -> request.principal().name().startsWith("Application"))
        .map(Request::operation)
        .toList();
  }

  @Test
  void an_unknown_bucket_is_named_in_the_error() {
    bucketOf("claims-known");
    assertThatThrownBy(() -> TOLLGATE.bucket("claims-known", "nonsense").tryClaim())
        .isInstanceOf(UnknownBucket.class)
        .hasMessageContaining("nonsense");
    assertThatThrownBy(() -> TOLLGATE.bucket("claims-nobody", "send-email").tryClaim())
        .isInstanceOf(UnknownBucket.class)
        .hasMessageContaining("claims-nobody");
  }
}
