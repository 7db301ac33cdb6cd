package dev.tollgate.core.bucket.fill;

import static dev.tollgate.core.bucket.fill.AdaptiveExecutor.FAILING;
import static dev.tollgate.core.bucket.fill.AdaptiveExecutor.SAMPLE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.testing.fixture.SameThreadExecutor;
import org.junit.jupiter.api.Test;

class AdaptiveExecutorTest {
  private final SameThreadExecutor threads = new SameThreadExecutor();
  private final AdaptiveExecutor executor = new AdaptiveExecutor(threads);

  private void succeed(int buckets) {
    for (int i = 0; i < buckets; i++) {
      executor.succeeded();
    }
  }

  /** A bucket of each of so many tenants fails. */
  private void fail(int tenants) {
    for (int i = 0; i < tenants; i++) {
      executor.failed(new TenantId("t" + i));
    }
  }

  @Test
  void without_failures_it_keeps_its_most_threads() {
    succeed(10 * SAMPLE);

    assertThat(threads.sizes()).isEmpty();
  }

  @Test
  void failures_of_five_tenants_among_a_thousand_buckets_halve_the_threads() {
    fail(FAILING - 1);
    succeed(SAMPLE - FAILING);
    assertThat(threads.sizes()).isEmpty();

    executor.failed(new TenantId("another"));

    assertThat(threads.sizes()).containsExactly(16);
  }

  @Test
  void failures_of_four_tenants_among_each_thousand_change_nothing() {
    for (int i = 0; i < 20; i++) {
      fail(FAILING - 1);
      succeed(SAMPLE - FAILING + 1);
    }

    assertThat(threads.sizes()).isEmpty();
  }

  @Test
  void one_tenant_can_fail_without_end() {
    for (int i = 0; i < 10 * SAMPLE; i++) {
      fail(1);
    }

    assertThat(threads.sizes()).isEmpty();
  }

  @Test
  void failures_of_buckets_that_were_under_way_do_not_halve_again() {
    fail(FAILING);
    fail(31);
    assertThat(threads.sizes()).containsExactly(16);

    fail(FAILING - 1);
    assertThat(threads.sizes()).containsExactly(16);
    executor.failed(new TenantId("another"));
    assertThat(threads.sizes()).containsExactly(16, 8);
  }

  @Test
  void it_keeps_at_least_eight_threads() {
    fail(SAMPLE);

    assertThat(threads.sizes()).containsExactly(16, 8);
  }

  @Test
  void it_grows_by_one_after_each_thousand_buckets_beside_those_that_were_under_way() {
    fail(FAILING);
    succeed(31 + SAMPLE - 1);
    assertThat(threads.sizes()).containsExactly(16);

    succeed(1);
    assertThat(threads.sizes()).containsExactly(16, 17);
    succeed(SAMPLE - 1);
    assertThat(threads.sizes()).containsExactly(16, 17);
    succeed(30 * SAMPLE);

    assertThat(threads.sizes()).endsWith(30, 31, 32).hasSize(17);
  }

  @Test
  void tasks_run_in_its_threads() {
    boolean[] ran = new boolean[1];

    executor.execute(() -> ran[0] = true);

    assertThat(ran[0]).isTrue();
  }
}
