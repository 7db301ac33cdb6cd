package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.message.DeadLetter;
import dev.tollgate.core.message.DeadLetter.Source;
import dev.tollgate.core.message.DeadLetters;
import dev.tollgate.core.message.DeadLetters.Redriven;
import dev.tollgate.core.message.DeadLetters.Search;
import dev.tollgate.core.session.SessionReference;
import dev.tollgate.core.testing.Samples;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The contract of {@link DeadLetters}. */
public abstract class DeadLettersContract {
  private static final String SESSION = "0123456789ab" + "0".repeat(20);

  /** The dead letters under test. The pool has none at the beginning of a test. */
  protected abstract DeadLetters deadLetters();

  /** Creates the queues of a tenant's silo. */
  protected abstract void createSilo(TenantId tenant);

  /** Puts a message into a dead-letter queue. */
  protected abstract void add(Source source, String group, String body);

  /** Removes the messages of the queue to which the tenant's are moved: their groups and bodies. */
  protected abstract List<String> take(Source queue, TenantId tenant);

  private static String group(TenantId tenant) {
    return tenant + ":" + SESSION;
  }

  private static Search search(TenantId tenant) {
    return new Search(tenant, Instant.EPOCH, () -> true);
  }

  private List<String> bodies(TenantId tenant) {
    return deadLetters().find(search(tenant)).letters().stream().map(DeadLetter::body).toList();
  }

  @Test
  void a_tenant_without_dead_letters_has_none() {
    TenantId tenant = Samples.tenantId();

    assertThat(deadLetters().find(search(tenant)))
        .isEqualTo(new DeadLetters.Found(List.of(), true));
    assertThat(deadLetters().redrive(search(tenant), 10)).isEqualTo(new Redriven(0, true));
  }

  @Test
  void a_look_shows_only_the_tenants_and_removes_none() {
    TenantId tenant = Samples.tenantId();
    TenantId longer = new TenantId(tenant + "x");
    add(Source.POOL, group(longer), "of another");
    add(Source.POOL, group(tenant), "first");
    add(Source.POOL, group(tenant), "second");
    add(Source.POOL, tenant + ":no-session", "third");

    assertThat(bodies(tenant)).containsExactlyInAnyOrder("first", "second", "third");
    DeadLetters.Found again = deadLetters().find(search(tenant));

    assertThat(again.complete()).isTrue();
    assertThat(again.letters())
        .filteredOn(letter -> letter.session().isPresent())
        .extracting(DeadLetter::body)
        .containsExactly("first", "second");
    DeadLetter first = again.letters().get(0);
    assertThat(first.source()).isEqualTo(Source.POOL);
    assertThat(first.receives()).isPositive();
    assertThat(first.id()).isNotEmpty();
    assertThat(again.letters())
        .flatExtracting(letter -> letter.session().stream().toList())
        .containsOnly(new SessionReference("0123456789ab"));
  }

  @Test
  void a_redrive_moves_all_of_a_pooled_tenant_in_order_and_leaves_others() {
    TenantId tenant = Samples.tenantId();
    TenantId other = Samples.tenantId();
    for (int i = 0; i < 13; i++) {
      add(Source.POOL, group(tenant), "letter-" + i);
      add(Source.POOL, other + ":session-" + i, "of another");
    }

    assertThat(deadLetters().redrive(search(tenant), 100)).isEqualTo(new Redriven(13, true));

    assertThat(bodies(tenant)).isEmpty();
    assertThat(bodies(other)).hasSize(13);
    List<String> moved = take(Source.POOL, tenant);
    assertThat(moved).hasSize(13);
    for (int i = 0; i < 13; i++) {
      assertThat(moved.get(i)).isEqualTo(group(tenant) + " letter-" + i);
    }
  }

  @Test
  void a_redrive_moves_no_more_than_requested_and_the_next_one_goes_on() {
    TenantId tenant = Samples.tenantId();
    for (int i = 0; i < 5; i++) {
      add(Source.POOL, group(tenant), "letter-" + i);
    }

    assertThat(deadLetters().redrive(search(tenant), 3)).isEqualTo(new Redriven(3, false));
    assertThat(bodies(tenant)).containsExactly("letter-3", "letter-4");
    assertThat(deadLetters().redrive(search(tenant), 3)).isEqualTo(new Redriven(2, true));
  }

  @Test
  void messages_older_than_the_tenant_are_neither_shown_nor_moved() {
    TenantId tenant = Samples.tenantId();
    add(Source.POOL, group(tenant), "letter");
    Instant at = deadLetters().find(search(tenant)).letters().get(0).at();
    Search later = new Search(tenant, at.plusMillis(1), () -> true);

    assertThat(deadLetters().find(later)).isEqualTo(new DeadLetters.Found(List.of(), true));
    assertThat(deadLetters().redrive(later, 10)).isEqualTo(new Redriven(0, true));

    assertThat(deadLetters().redrive(new Search(tenant, at, () -> true), 10).moved()).isEqualTo(1);
  }

  @Test
  void equal_messages_are_all_moved() {
    TenantId tenant = Samples.tenantId();
    add(Source.POOL, group(tenant), "same");
    add(Source.POOL, group(tenant), "same");

    deadLetters().redrive(search(tenant), 10);

    assertThat(take(Source.POOL, tenant)).hasSize(2);
  }

  @Test
  void a_silo_gets_its_dead_letters_back_and_those_of_the_pool_first() {
    TenantId tenant = Samples.tenantId();
    createSilo(tenant);
    add(Source.SILO, group(tenant), "later");
    add(Source.POOL, group(tenant), "earlier");

    assertThat(deadLetters().find(search(tenant)).letters())
        .extracting(DeadLetter::source)
        .containsExactly(Source.POOL, Source.SILO);
    assertThat(deadLetters().redrive(search(tenant), 10)).isEqualTo(new Redriven(2, true));

    assertThat(take(Source.SILO, tenant))
        .containsExactly(group(tenant) + " earlier", group(tenant) + " later");
  }
}
