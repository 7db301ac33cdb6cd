package dev.tollgate.core.bucket.fill;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.testing.RateBound;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Buckets whose tier and fill mode change at random times, under varying load. */
final class FillModeChangesTest {
  private static final int FLIPS = 1_000;
  private static final Action MAIL = new Action("send-email");

  private static BucketSpec any(Random random) {
    FillMode mode = List.of(FillMode.values()).get(random.nextInt(3));
    long rate = random.nextBoolean() ? 3 : 10;
    return new BucketSpec(
        Rate.perMinute(rate),
        rate * (1 + random.nextInt(3)),
        new FillPolicy(mode, random.nextInt(20)));
  }

  private static long changeTiers(long seed) {
    Random random = new Random(seed);
    AdmissionFixture ports = new AdmissionFixture();
    BucketId id = new BucketId(new TenantId("acme"), MAIL);
    Claims claims = ports.claims();
    ports.open(id, any(random));
    RateBound larger =
        new RateBound(new BucketSpec(Rate.perMinute(10), 30), ports.clock().instant());
    long admitted = 0;
    for (int flip = 0; flip < FLIPS; flip++) {
      boolean busy = random.nextInt(3) > 0;
      int pauses = 1 + random.nextInt(busy ? 60 : 3);
      for (int i = 0; i < pauses; i++) {
        Instant then =
            ports.clock().instant().plusMillis(1 + random.nextInt(busy ? 20_000 : 1_200_000));
        ports.passUntil(then);
        int tokens =
            claims.spendUpTo(id, ports.buckets().find(id), 1 + random.nextInt(12)).tokens();
        admitted += tokens;
        assertThat(larger.allows(tokens, ports.clock().instant()))
            .as("seed %d, flip %d: %s", seed, flip, larger)
            .isTrue();
      }
      ports.retune(id, any(random));
    }
    Instant drained = ports.clock().instant().plus(Duration.ofMinutes(40));
    ports.passUntil(drained);
    assertThat(claims.spendUpTo(id, ports.buckets().find(id), 1).tokens())
        .as("seed " + seed)
        .isEqualTo(1);
    return admitted;
  }

  @Test
  void tier_changes_at_any_time_admit_no_more_than_the_larger_tier() {
    for (long seed = 1; seed <= 8; seed++) {
      assertThat(changeTiers(seed)).as("admitted, seed " + seed).isGreaterThan(FLIPS);
    }
  }
}
