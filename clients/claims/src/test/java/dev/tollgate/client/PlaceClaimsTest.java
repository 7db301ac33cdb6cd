package dev.tollgate.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.TokenQueue.Search;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** The places of callers with keys, when their claims meet. */
final class PlaceClaimsTest {
  private static final BucketId ID = new BucketId(new TenantId("acme"), Action.CONNECT);

  private final AdmissionFixture ports = new AdmissionFixture();
  private final Claims claims = ports.claims();
  private final PlaceClaims places = new PlaceClaims(ports.clock());

  private Bucket row() {
    return ports.buckets().find(ID).orElseThrow();
  }

  private ClaimResult claim(String key, Runnable meanwhile) {
    return places.claim(
        row(),
        key,
        waiting -> {
          meanwhile.run();
          return claims.spend(row(), waiting, claims.firstTry(ID));
        });
  }

  @Test
  void second_claim_while_the_first_redeems_the_place_keeps_that_place() {
    ports.open(ID, new BucketSpec(Rate.perMinute(30), 30));
    while (claims.spend(row(), 1, new Attempt()) instanceof ClaimResult.Granted) {
      ports.clock().advance(Duration.ofMillis(1));
    }
    claim("ann", () -> {});
    Place place = places.heldBy(ID, "ann").orElseThrow();
    for (int i = 0; i < 20; i++) {
      claim("other " + i, () -> {});
    }
    Instant slot = row().line().orElseThrow().slot(place.number());
    ports.clock().set(slot);
    // The token of the slot is late: somebody else holds it.
    ports.queue().reserve(ID, 10, Duration.ofSeconds(30), Search.SHORT);
    AtomicReference<Optional<ClaimResult>> second = new AtomicReference<>(Optional.empty());

    ClaimResult first = claim("ann", () -> second.set(Optional.of(claim("ann", () -> {}))));

    assertThat(first).isInstanceOf(ClaimResult.Denied.class);
    assertThat(second.get())
        .contains(new ClaimResult.Denied(slot.plusSeconds(1), Optional.of(place)));
    assertThat(places.heldBy(ID, "ann")).contains(place);
  }
}
