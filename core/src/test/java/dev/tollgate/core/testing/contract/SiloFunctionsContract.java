package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.provisioning.FunctionQuotas;
import dev.tollgate.core.provisioning.Progress;
import dev.tollgate.core.provisioning.SiloFunctions;
import dev.tollgate.core.tenant.Release;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** The contract of {@link SiloFunctions}. */
public abstract class SiloFunctionsContract {
  private static final int MAX_ATTEMPTS = 20;

  /** The functions under test. */
  protected abstract SiloFunctions functions();

  /** An existing release. */
  protected abstract Release first();

  /** The next release. */
  protected abstract Release second();

  /** A tenant with a queue and without a function. */
  protected abstract TenantId tenant();

  /** The release of the tenant's function, if it has one. */
  protected abstract Optional<Release> release(TenantId tenant);

  /** Whether the tenant's queue is attached to its function. */
  protected abstract boolean isAttached(TenantId tenant);

  /** Sets the account's quotas, and the size of the code of silo functions. */
  protected abstract void allow(FunctionQuotas account);

  private static void untilDone(Supplier<Progress> attempt) {
    for (int i = 0; i < MAX_ATTEMPTS; i++) {
      if (attempt.get() == Progress.DONE) {
        return;
      }
    }
    throw new AssertionError("not done after " + MAX_ATTEMPTS + " attempts");
  }

  @Test
  void function_is_created_and_attached() {
    TenantId tenant = tenant();
    assertThat(release(tenant)).isEmpty();

    untilDone(() -> functions().ensure(tenant, first()));
    assertThat(release(tenant)).contains(first());
    assertThat(isAttached(tenant)).isFalse();

    untilDone(() -> functions().attach(tenant));
    assertThat(isAttached(tenant)).isTrue();
  }

  @Test
  void create_of_an_existing_function_changes_nothing() {
    TenantId tenant = tenant();
    untilDone(() -> functions().ensure(tenant, first()));
    untilDone(() -> functions().attach(tenant));

    assertThat(functions().ensure(tenant, first())).isEqualTo(Progress.DONE);
    assertThat(functions().attach(tenant)).isEqualTo(Progress.DONE);

    assertThat(release(tenant)).contains(first());
    assertThat(isAttached(tenant)).isTrue();
  }

  @Test
  void existing_function_is_updated_to_another_release_and_stays_attached() {
    TenantId tenant = tenant();
    untilDone(() -> functions().ensure(tenant, first()));
    untilDone(() -> functions().attach(tenant));

    Release next = second();
    untilDone(() -> functions().ensure(tenant, next));

    assertThat(release(tenant)).contains(next);
    assertThat(isAttached(tenant)).isTrue();
  }

  @Test
  void missing_function_cannot_be_attached() {
    TenantId tenant = tenant();

    assertThatThrownBy(() -> functions().attach(tenant)).isInstanceOf(Unavailable.class);
  }

  @Test
  void detach_and_delete_are_idempotent() {
    TenantId tenant = tenant();
    untilDone(() -> functions().ensure(tenant, first()));
    untilDone(() -> functions().attach(tenant));

    untilDone(() -> functions().detach(tenant));
    untilDone(() -> functions().detach(tenant));
    assertThat(isAttached(tenant)).isFalse();
    assertThat(release(tenant)).contains(first());

    untilDone(() -> functions().delete(tenant));
    untilDone(() -> functions().delete(tenant));
    untilDone(() -> functions().detach(tenant));
    assertThat(release(tenant)).isEmpty();
  }

  @Test
  void quotas_are_those_of_the_account() {
    FunctionQuotas small = new FunctionQuotas(10, 40_000_000, 16_000_000);
    allow(small);

    assertThat(functions().quotas(first())).isEqualTo(small);
    assertThat(small.moreSilos()).isEqualTo(2);
  }

  @Test
  void used_up_storage_has_room_for_no_silo() {
    FunctionQuotas full = new FunctionQuotas(0, 0, 16_000_000);
    allow(full);

    assertThat(functions().quotas(first())).isEqualTo(full);
    assertThat(full.moreSilos()).isZero();
  }
}
