package dev.tollgate.core.fanout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Samples;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class FanoutTest {
  private static final int SIZE = 10;

  private final ManualClock clock = new ManualClock(Samples.NOW);
  private final TreeSet<String> live = new TreeSet<>();
  private final List<Chunk> sent = Collections.synchronizedList(new ArrayList<>());
  private final Fanout fanout = fanout(sent::add);

  private Fanout fanout(SelfInvocation<Chunk> requests) {
    return new Fanout(requests, SIZE, Runnable::run, clock);
  }

  private List<TenantId> next(Optional<TenantId> after, int max) {
    return live.tailSet(after.map(TenantId::value).orElse(""), false).stream()
        .limit(max)
        .map(TenantId::new)
        .toList();
  }

  private Fanout.Split split() {
    return fanout.split("visits", this::next, Instant.MAX);
  }

  private void live(int tenants) {
    IntStream.range(0, tenants).forEach(i -> live.add("tenant-%04d".formatted(i)));
  }

  private static TenantId tenant(int i) {
    return new TenantId("tenant-%04d".formatted(i));
  }

  /** The tenants of all chunks, the first included. */
  private List<String> covered(Fanout.Split split) {
    List<String> covered = new ArrayList<>();
    split.first().forEach(id -> covered.add(id.value()));
    for (Chunk chunk : sent) {
      Chunk received = Chunk.of(chunk.toEvent()).orElseThrow();
      fanout.ids(received, this::next).forEach(id -> covered.add(id.value()));
    }
    return covered;
  }

  @Test
  void few_tenants_are_one_chunk() {
    live(SIZE);

    assertThat(split().first()).hasSize(SIZE);
    assertThat(sent).isEmpty();
    live.clear();
    assertThat(split().first()).isEmpty();
    assertThat(sent).isEmpty();
  }

  @Test
  void further_chunks_are_requested_and_the_last_has_no_end() {
    live(2 * SIZE + 1);

    Fanout.Split split = split();

    assertThat(split).isEqualTo(new Fanout.Split(next(Optional.empty(), SIZE), 3, List.of()));
    assertThat(sent)
        .containsExactly(
            new Chunk("visits", Optional.of(tenant(9)), Optional.of(tenant(19)), 3),
            new Chunk("visits", Optional.of(tenant(19)), Optional.empty(), 3));
  }

  @Test
  void each_tenant_is_in_exactly_one_chunk_while_others_come_and_go() {
    for (long seed = 1; seed <= 500; seed++) {
      Random random = new Random(seed);
      live.clear();
      sent.clear();
      live(random.nextInt(12 * SIZE));
      TreeSet<String> lasting = new TreeSet<>(live);
      Runnable change =
          () -> {
            for (int i = random.nextInt(4); i > 0; i--) {
              String id = "tenant-%04d-%d".formatted(random.nextInt(13 * SIZE), random.nextInt(9));
              if (random.nextBoolean()) {
                live.add(id);
              } else if (!live.isEmpty() && live.ceiling(id) != null) {
                String gone = live.ceiling(id);
                live.remove(gone);
                lasting.remove(gone);
              }
            }
          };

      Fanout.Split split =
          fanout.split(
              "visits",
              (after, max) -> {
                change.run();
                return next(after, max);
              },
              Instant.MAX);
      change.run();

      assertThat(covered(split)).as("seed %d", seed).doesNotHaveDuplicates().containsAll(lasting);
    }
  }

  @Test
  void chunk_that_has_grown_is_listed_to_its_end() {
    live(3 * SIZE);
    split();
    IntStream.range(0, 5 * SIZE).forEach(i -> live.add("tenant-0015-%04d".formatted(i)));

    List<TenantId> ids = fanout.ids(sent.get(0), this::next);

    assertThat(ids).hasSize(6 * SIZE).startsWith(tenant(10)).endsWith(tenant(19));
  }

  @Test
  void chunk_whose_end_fails_to_be_listed_contains_the_rest() {
    live(5 * SIZE);
    Fanout.Split split =
        fanout.split(
            "visits",
            (after, max) -> {
              if (after.equals(Optional.of(tenant(19)))) {
                throw new Unavailable("out of order");
              }
              return next(after, max);
            },
            Instant.MAX);

    assertThat(sent)
        .hasSize(2)
        .endsWith(new Chunk("visits", Optional.of(tenant(19)), Optional.empty(), 3));
    assertThat(covered(split)).containsExactlyElementsOf(live);
  }

  @Test
  void last_chunk_contains_the_tenants_that_are_not_listed_in_time() {
    live(5 * SIZE);
    Fanout.Split split =
        fanout.split(
            "visits",
            (after, max) -> {
              clock.advance(Duration.ofSeconds(1));
              return next(after, max);
            },
            clock.instant().plusSeconds(3));

    assertThat(sent).hasSize(3);
    assertThat(covered(split)).containsExactlyElementsOf(live);
  }

  @Test
  void failed_request_is_reported_and_does_not_stop_the_others() {
    live(5 * SIZE);
    Fanout failing =
        fanout(
            chunk -> {
              if (chunk.after().equals(Optional.of(tenant(19)))) {
                throw new Unavailable("throttled");
              }
              sent.add(chunk);
            });

    Fanout.Split split = failing.split("visits", this::next, Instant.MAX);

    assertThat(split.chunks()).isEqualTo(5);
    assertThat(split.failures()).containsExactly("throttled");
    assertThat(sent).hasSize(3);
  }

  @Test
  void first_ids_that_cannot_be_read_fail_the_split() {
    assertThatThrownBy(
            () ->
                fanout.split(
                    "visits",
                    (after, max) -> {
                      throw new Unavailable("out of order");
                    },
                    Instant.MAX))
        .isInstanceOf(Unavailable.class);
  }

  @Test
  void other_events_are_no_chunk() {
    assertThat(Chunk.of(Map.of("scheduledTime", "2026-01-01T00:00:00Z"))).isEmpty();
  }
}
