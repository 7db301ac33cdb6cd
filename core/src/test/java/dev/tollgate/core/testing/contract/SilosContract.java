package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.provisioning.Silo;
import dev.tollgate.core.provisioning.Silo.State;
import dev.tollgate.core.provisioning.Silos;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.Samples;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The contract of {@link Silos}. */
public abstract class SilosContract {
  private static final Release FIRST = new Release("processor:1");
  private static final Release SECOND = new Release("processor:2");

  /** The silos under test; they may contain rows of other tests. */
  protected abstract Silos silos();

  private Silo opened() {
    Silo silo = Silo.opened(Samples.tenantId(), FIRST, Samples.NOW);
    assertThat(silos().open(silo)).isEqualTo(WriteResult.DONE);
    return silo;
  }

  @Test
  void find_of_an_unknown_silo_is_empty() {
    assertThat(silos().find(Samples.tenantId())).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void written_silo_is_read_unchanged(State state) {
    Silo silo = new Silo(Samples.tenantId(), state, Samples.NOW, FIRST, 0);

    silos().open(silo);

    assertThat(silos().find(silo.tenant())).contains(silo);
  }

  @Test
  void open_of_an_existing_silo_changes_nothing() {
    Silo silo = opened();

    assertThat(silos().open(Silo.opened(silo.tenant(), SECOND, Samples.NOW)))
        .isEqualTo(WriteResult.CONFLICT);

    assertThat(silos().find(silo.tenant())).contains(silo);
  }

  @Test
  void replace_of_the_current_version_succeeds() {
    Silo silo = opened();
    Silo closing = silo.withState(State.CLOSING, Samples.NOW.plusSeconds(1));
    Silo reopened = closing.reopened(SECOND, Samples.NOW.plusSeconds(2));

    assertThat(silos().replace(reopened)).isEqualTo(WriteResult.CONFLICT);
    assertThat(silos().replace(closing)).isEqualTo(WriteResult.DONE);
    assertThat(silos().replace(closing)).isEqualTo(WriteResult.CONFLICT);
    assertThat(silos().replace(reopened)).isEqualTo(WriteResult.DONE);

    assertThat(silos().find(silo.tenant())).contains(reopened);
  }

  @Test
  void one_of_many_concurrent_writes_of_a_version_succeeds() {
    Silo silo = opened();

    List<WriteResult> answers =
        Race.of(8, i -> silos().replace(silo.withState(State.CLOSING, Samples.NOW.plusSeconds(i))));

    assertThat(Collections.frequency(answers, WriteResult.DONE)).isEqualTo(1);
  }

  @Test
  void replace_creates_no_silo() {
    TenantId unknown = Samples.tenantId();

    assertThat(
            silos().replace(Silo.opened(unknown, FIRST, Samples.NOW).reopened(SECOND, Samples.NOW)))
        .isEqualTo(WriteResult.CONFLICT);

    assertThat(silos().find(unknown)).isEmpty();
  }

  @Test
  void remove_requires_the_current_version_and_is_idempotent() {
    Silo silo = opened();
    silos().replace(silo.withState(State.LEAVING, Samples.NOW));

    assertThat(silos().remove(silo.tenant(), 0)).isEqualTo(WriteResult.CONFLICT);
    assertThat(silos().find(silo.tenant())).isPresent();
    assertThat(silos().remove(silo.tenant(), 1)).isEqualTo(WriteResult.DONE);
    assertThat(silos().remove(silo.tenant(), 1)).isEqualTo(WriteResult.DONE);
    assertThat(silos().find(silo.tenant())).isEmpty();
  }
}
