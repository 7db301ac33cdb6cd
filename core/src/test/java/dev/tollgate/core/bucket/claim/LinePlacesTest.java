package dev.tollgate.core.bucket.claim;

import static dev.tollgate.core.testing.Samples.withSpare;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.BucketMemory.Mark;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Claims in a line that are interrupted, or interleaved with others, at each of their requests. */
final class LinePlacesTest {
  private static final BucketId ID = new BucketId(new TenantId("acme"), Action.CONNECT);
  private static final BucketSpec SPEC =
      new BucketSpec(Rate.perMinute(30), 30, new FillPolicy(FillMode.PRODUCER, 0));
  private static final Duration INTERVAL = Duration.ofSeconds(2);

  /** The epoch of the first line: the second at which it opens. */
  private static final long EPOCH = AdmissionFixture.START.getEpochSecond();

  private final AdmissionFixture ports = new AdmissionFixture();
  private final Faults faults = new Faults();
  private final Claims claims = ports.claims(faults.around(Buckets.class, ports.buckets()));

  LinePlacesTest() {
    ports.open(ID, SPEC);
    while (claims.spend(row(), 1, new Attempt()) instanceof ClaimResult.Granted) {
      ports.clock().advance(Duration.ofMillis(1));
    }
  }

  /** A caller whose place is in a row that its concurrent claims read and write. */
  private final class Caller {
    private Optional<Place> kept = Optional.empty();

    private ClaimResult claim() {
      return claim(row());
    }

    private ClaimResult claim(Bucket read) {
      ClaimResult result = claims.hold(read, asRead(), claims.firstTry(ID));
      if (result instanceof ClaimResult.Granted granted) {
        claims.held().settle(granted);
      }
      return result;
    }

    private LineCaller asRead() {
      return new LineCaller() {
        @SuppressWarnings("unchecked")
        private final Predicate<Place> row =
            faults.around(Predicate.class, (Predicate<Place>) this::write);

        private Optional<Place> known = kept;

        @Override
        public Optional<Place> place() {
          return known;
        }

        @Override
        public boolean keep(Place place, Instant slot) {
          return row.test(place);
        }

        private boolean write(Place place) {
          boolean isUnchanged = kept.equals(known);
          known = Optional.of(place);
          kept = isUnchanged ? known : kept;
          return isUnchanged;
        }
      };
    }
  }

  private Bucket row() {
    return ports.buckets().find(ID).orElseThrow();
  }

  private long issued() {
    return row().line().map(Line::issued).orElse(0L);
  }

  /** Lets a number of callers take places. */
  private void wait(int callers) {
    for (int i = 0; i < callers; i++) {
      assertThat(new Caller().claim()).isInstanceOf(ClaimResult.Denied.class);
    }
  }

  private static Instant retryAt(ClaimResult result) {
    return ((ClaimResult.Denied) result).retryAt();
  }

  /** The number of requests of a new caller's claim, to its own row and to the bucket's. */
  private static int requests(int waiting) {
    LinePlacesTest other = new LinePlacesTest();
    other.wait(waiting);
    other.faults.none();
    Caller caller = other.new Caller();
    caller.claim();
    return other.faults.calls().size();
  }

  @ParameterizedTest(name = "{0} wait")
  @ValueSource(ints = {0, 3})
  void concurrent_claims_of_one_caller_leave_it_one_place(int waiting) {
    for (int at = 1; at <= requests(waiting); at++) {
      LinePlacesTest test = new LinePlacesTest();
      test.wait(waiting);
      Caller caller = test.new Caller();
      test.faults.plan(at, Faults.concurrently(caller::claim));

      ClaimResult first = caller.claim();
      ClaimResult again = caller.claim();

      test.assertOnePlace(caller, waiting, at);
      assertThat(retryAt(again)).isEqualTo(retryAt(first));
    }
  }

  /** The concurrent claim has read the bucket before anybody waited. */
  @ParameterizedTest(name = "{0} wait")
  @ValueSource(ints = {0, 3})
  void claim_that_read_the_bucket_earlier_takes_no_second_place(int waiting) {
    for (int at = 1; at <= requests(waiting); at++) {
      LinePlacesTest test = new LinePlacesTest();
      Bucket early = test.row();
      test.wait(waiting);
      Caller caller = test.new Caller();
      test.faults.plan(at, Faults.concurrently(() -> caller.claim(early)));

      caller.claim();
      caller.claim(early);

      test.assertOnePlace(caller, waiting, at);
    }
  }

  /** One place stays unused if two claims of a caller open the line at the same time. */
  private void assertOnePlace(Caller caller, int waiting, int request) {
    boolean opensTwice =
        waiting == 0 && request > 1 && faults.calls().get(request - 1).equals("Buckets.changeLine");
    long number = waiting + (opensTwice ? 2L : 1L);
    assertThat(issued()).as("issued, at request %d", request).isEqualTo(number);
    assertThat(caller.kept).as("kept, at request %d", request).contains(new Place(EPOCH, number));
  }

  @ParameterizedTest(name = "{0} wait")
  @ValueSource(ints = {0, 3})
  void concurrent_callers_take_a_place_each(int waiting) {
    for (int at = 1; at <= requests(waiting); at++) {
      LinePlacesTest test = new LinePlacesTest();
      test.wait(waiting);
      Caller caller = test.new Caller();
      Caller other = test.new Caller();
      test.faults.plan(at, Faults.concurrently(other::claim));

      ClaimResult result = caller.claim();

      assertThat(test.issued()).as("issued, at request %d", at).isEqualTo(waiting + 2);
      assertThat(caller.kept).as("kept, at request %d", at).isNotEqualTo(other.kept);
      assertThat(caller.claim()).as("told again").isEqualTo(result);
      assertThat(Duration.between(retryAt(caller.claim()), retryAt(other.claim())).abs())
          .isEqualTo(INTERVAL);
    }
  }

  /** Fills the line; one of its places is freed. */
  private Place freedInFullLine() {
    wait(3);
    Place freed = new Place(EPOCH, 2);
    ports.buckets().freePlace(ID, freed);
    ports.buckets().takePlaces(ID, row().line().orElseThrow(), 1_100);
    return freed;
  }

  private Set<Place> freed() {
    return row().line().orElseThrow().freed();
  }

  @Test
  void freed_place_of_a_full_line_goes_to_one_of_two_callers() {
    for (int at = 1; at <= 2; at++) {
      LinePlacesTest test = new LinePlacesTest();
      Place freed = test.freedInFullLine();
      Caller caller = test.new Caller();
      Caller other = test.new Caller();
      test.faults.plan(at, Faults.concurrently(other::claim));

      caller.claim();

      assertThat(Stream.of(caller, other).filter(one -> one.kept.equals(Optional.of(freed))))
          .as("at request %d", at)
          .hasSize(1);
      assertThat(test.freed()).isEmpty();
    }
  }

  @Test
  void freed_place_that_a_caller_cannot_keep_stays_free() {
    Place freed = freedInFullLine();
    LineCaller ended =
        new LineCaller() {
          @Override
          public Optional<Place> place() {
            return Optional.empty();
          }

          @Override
          public boolean keep(Place place, Instant slot) {
            return false;
          }
        };

    ClaimResult result = claims.hold(row(), ended, claims.firstTry(ID));

    assertThat(((ClaimResult.Denied) result).place()).isEmpty();
    assertThat(freed()).containsExactly(freed);
  }

  @ParameterizedTest(name = "{0} wait")
  @ValueSource(ints = {1, 3})
  void place_of_a_caller_that_ended_before_taking_it_is_free(int waiting) {
    wait(waiting);
    AtomicInteger kept = new AtomicInteger();
    LineCaller ending =
        new LineCaller() {
          @Override
          public Optional<Place> place() {
            return Optional.empty();
          }

          @Override
          public boolean keep(Place place, Instant slot) {
            return kept.incrementAndGet() == 1;
          }
        };

    ClaimResult result = claims.hold(row(), ending, claims.firstTry(ID));

    assertThat(((ClaimResult.Denied) result).place()).isEmpty();
    assertThat(freed()).containsExactly(new Place(EPOCH, waiting + 1L));
    Caller next = new Caller();
    next.claim();
    assertThat(next.kept).contains(new Place(EPOCH, waiting + 1L));
  }

  /** The row is removed and made anew, for example with its action, or its line was unreadable. */
  @Test
  void places_of_a_lost_line_count_in_no_later_one() {
    wait(1);
    Caller waiting = new Caller();
    waiting.claim();
    ports.buckets().freePlace(ID, waiting.kept.orElseThrow());
    Bucket lost = row();
    ports.clock().advance(Duration.ofSeconds(1));
    ports.buckets().remove(ID);
    Bucket anew = Bucket.opened(ID, SPEC, ports.clock().instant());
    ports.buckets().open(anew);
    wait(1);
    Line next = row().line().orElseThrow();
    ports.buckets().changeLine(ID, row().line(), next.withFreed(lost.line().get().freed()));

    Instant told = retryAt(waiting.claim());

    assertThat(waiting.kept).contains(new Place(next.epoch(), 2));
    assertThat(told).isEqualTo(next.slot(2));
  }

  /** Its line was never opened, or lost. */
  @Test
  void caller_with_a_place_of_a_later_line_that_does_not_exist_gets_a_new_one() {
    for (int waiting : new int[] {0, 3}) {
      LinePlacesTest test = new LinePlacesTest();
      test.wait(waiting);
      Caller caller = test.new Caller();
      caller.kept = Optional.of(new Place(1L << 61, 1));

      ClaimResult result = caller.claim();

      assertThat(caller.kept).contains(new Place(EPOCH, waiting + 1L));
      assertThat(((ClaimResult.Denied) result).place()).isEqualTo(caller.kept);
    }
  }

  @Test
  void caller_whose_place_has_passed_takes_another_one_without_another_read() {
    Caller late = new Caller();
    Instant slot = retryAt(late.claim());
    wait(3);
    ports.clock().set(slot.plusSeconds(10));
    faults.none();

    late.claim();

    assertThat(late.kept).contains(new Place(EPOCH, 5));
    assertThat(faults.calls()).doesNotContain("Buckets.find");
  }

  // What a claim in line does for later ones.

  @Test
  void claim_in_line_requests_a_fill_shortly_before_the_tokens_end() {
    wait(30);
    Instant end = row().ledger().mintedThrough(SPEC);
    long version = row().version();
    ports.clock().set(end.minusMillis(10_001));
    wait(1);
    assertThat(row().version()).isEqualTo(version);
    ports.clock().advance(Duration.ofMillis(1));

    wait(1);

    assertThat(row().version()).isGreaterThan(version);
  }

  @Test
  void process_remembers_a_line_in_which_its_callers_wait_until_the_last_slot() {
    wait(3);
    Claims other = ports.claims();

    assertThat(other.spend(row(), 1, new Attempt())).isInstanceOf(ClaimResult.Denied.class);
    assertThat(other.memory().until(ID, Mark.LINE)).as("for a caller without a place").isEmpty();

    Caller waiting = new Caller();
    waiting.claim();
    ClaimResult again = other.hold(row(), waiting.asRead(), other.firstTry(ID));

    assertThat(((ClaimResult.Denied) again).place()).isEqualTo(waiting.kept);
    assertThat(other.memory().until(ID, Mark.LINE)).contains(row().line().orElseThrow().slot(4));
  }

  // Callers that take no place.

  @Test
  void caller_without_a_place_gets_the_token_behind_all_places_when_its_slot_has_come() {
    wait(1);
    ports.clock().set(row().line().orElseThrow().slot(2));

    assertThat(claims.spend(row(), 1, new Attempt())).isInstanceOf(ClaimResult.Granted.class);

    assertThat(issued()).isEqualTo(2);
    assertThat(freed()).isEmpty();
  }

  @Test
  void caller_without_a_place_frees_the_one_that_it_got_if_its_slot_has_not_come() {
    wait(1);
    Bucket read = row();
    Line line = read.line().orElseThrow();
    ports.clock().set(line.slot(2));
    faults.plan(1, Faults.concurrently(() -> ports.buckets().takePlace(ID, line)));

    assertThat(claims.spend(read, 1, new Attempt())).isInstanceOf(ClaimResult.Denied.class);

    assertThat(freed()).containsExactly(new Place(EPOCH, 3));
  }

  // Freed places.

  private final FreedPlaces freedPlaces = new FreedPlaces(ports.buckets(), ports.clock());

  /** Opens a line with this many places, of which these are free. */
  private Line lineWith(long issued, LongStream free) {
    wait(1);
    Line line = row().line().orElseThrow();
    Set<Place> places =
        free.mapToObj(number -> new Place(EPOCH, number)).collect(Collectors.toSet());
    Line changed = line.withIssued(issued).withFreed(places);
    ports.buckets().changeLine(ID, Optional.of(line), changed);
    return changed;
  }

  @Test
  void place_whose_slot_has_come_is_not_freed() {
    Line line = lineWith(9, LongStream.empty());
    ports.clock().set(line.slot(3));

    freedPlaces.free(ID, new Place(EPOCH, 3));
    assertThat(freed()).isEmpty();

    freedPlaces.free(ID, new Place(EPOCH, 9));
    assertThat(freed()).containsExactly(new Place(EPOCH, 9));
  }

  @Test
  void passed_places_make_room_for_a_freed_one() {
    Line line = lineWith(Line.MAX_FREED + 50, LongStream.rangeClosed(1, Line.MAX_FREED));
    ports.clock().set(line.slot(Line.MAX_FREED));

    Place place = new Place(EPOCH, Line.MAX_FREED + 50);
    freedPlaces.free(ID, place);

    assertThat(freed()).containsExactly(place);
  }

  @Test
  void caller_takes_a_freed_place_of_the_first_minute_and_removes_the_passed_ones() {
    Line line = lineWith(400, LongStream.concat(LongStream.of(1, 2, 9), LongStream.range(60, 400)));
    ports.clock().set(line.slot(5));
    Caller caller = new Caller();

    caller.claim();

    assertThat(caller.kept).contains(new Place(EPOCH, 9));
    assertThat(freed()).hasSize(340).doesNotContain(new Place(EPOCH, 1), new Place(EPOCH, 2));
  }

  @Test
  void freed_place_that_comes_too_late_for_a_caller_stays_free() {
    lineWith(9, LongStream.of(9));
    LineCaller hurried =
        new LineCaller() {
          @Override
          public Optional<Place> place() {
            return Optional.empty();
          }

          @Override
          public boolean lasts(Instant slot) {
            return false;
          }

          @Override
          public boolean keep(Place place, Instant slot) {
            throw new AssertionError("kept " + place);
          }
        };

    ClaimResult result = claims.hold(row(), hurried, claims.firstTry(ID));

    assertThat(((ClaimResult.Denied) result).place()).isEmpty();
    assertThat(freed()).containsExactly(new Place(EPOCH, 9));
  }

  /** The first attempt to open a line removes one that cannot be read. */
  @Test
  void caller_whose_write_removed_an_unreadable_line_opens_one() {
    AtomicInteger changes = new AtomicInteger();
    Buckets removing =
        (Buckets)
            Proxy.newProxyInstance(
                Buckets.class.getClassLoader(),
                new Class<?>[] {Buckets.class},
                (proxy, method, arguments) ->
                    method.getName().equals("changeLine") && changes.incrementAndGet() == 1
                        ? Optional.empty()
                        : method.invoke(ports.buckets(), arguments));
    Claims first = ports.claims(removing);
    Caller caller = new Caller();

    ClaimResult result = first.hold(row(), caller.asRead(), claims.firstTry(ID));

    assertThat(((ClaimResult.Denied) result).place()).contains(new Place(EPOCH, 1));
    assertThat(issued()).isEqualTo(1);
  }

  @Test
  void claim_gives_the_line_the_present_rate_of_the_bucket() {
    wait(3);
    Rate slower = Rate.perMinute(6);
    ports.retune(ID, new BucketSpec(slower, 30, SPEC.fillPolicy()));

    ClaimResult result = new Caller().claim();

    Line line = row().line().orElseThrow();
    assertThat(line.rate()).isEqualTo(slower);
    assertThat(result)
        .isEqualTo(new ClaimResult.Denied(line.slot(4), Optional.of(new Place(EPOCH, 4))));
  }

  @Test
  void refused_claim_returns_what_it_received_while_it_read_the_row() {
    Caller early = new Caller();
    early.claim();
    claims.held().putBack(ID, 1);

    assertThat(early.claim()).isInstanceOf(ClaimResult.Denied.class);
    assertThat(ports.queue().available(ID)).isEqualTo(1);
  }

  @Test
  void spare_token_is_taken_once() {
    wait(2);
    Line line = row().line().orElseThrow();
    ports.buckets().changeLine(ID, Optional.of(line), withSpare(line, 1));
    claims.held().putBack(ID, 2);
    Bucket read = row();

    assertThat(new Caller().claim(read)).isInstanceOf(ClaimResult.Granted.class);
    assertThat(new Caller().claim(read)).isInstanceOf(ClaimResult.Denied.class);
  }

  @Test
  void caller_that_finds_no_spare_token_takes_one_of_the_line_and_then_a_place() {
    wait(2);
    Line line = row().line().orElseThrow();
    ports.buckets().changeLine(ID, Optional.of(line), withSpare(line, 2));

    ClaimResult result = new Caller().claim();

    assertThat(((ClaimResult.Denied) result).place()).contains(new Place(EPOCH, 3));
    assertThat(row().line().orElseThrow().spare()).isEqualTo(1);
  }

  @Test
  void claim_of_up_to_n_gets_one_spare_token_while_others_wait() {
    wait(2);
    Line line = row().line().orElseThrow();
    ports.buckets().changeLine(ID, Optional.of(line), withSpare(line, 2));
    claims.held().putBack(ID, 5);

    SpendResult one = claims.spendUpTo(row(), 1, claims.firstTry(ID));
    SpendResult oneOfThree = claims.spendUpTo(row(), 3, claims.firstTry(ID, 3, Claims.LEASE));
    SpendResult none = claims.spendUpTo(row(), 3, claims.firstTry(ID, 3, Claims.LEASE));

    Instant end = row().at(ports.clock().instant()).lineEnds(2).orElseThrow();
    assertThat(one).isEqualTo(new SpendResult(1, Optional.empty()));
    assertThat(oneOfThree).isEqualTo(new SpendResult(1, Optional.of(new ClaimResult.Denied(end))));
    assertThat(none)
        .isEqualTo(new SpendResult(0, Optional.of(new ClaimResult.Denied(line.slot(3)))));
    assertThat(ports.queue().available(ID)).isEqualTo(3);
  }

  @Test
  void due_place_without_a_token_is_refused_until_a_later_instant() {
    Caller caller = new Caller();
    Instant slot = retryAt(caller.claim());
    ports.clock().set(slot.plusSeconds(5));
    ports.queue().settle(ID, ports.queue().reserve(ID, 10, Claims.LEASE, TokenQueue.Search.SHORT));

    assertThat(retryAt(caller.claim())).isAfter(ports.clock().instant());
    assertThat(claims.memory().hasAny(ID, BucketMemory.Mark.LINE)).isTrue();
  }

  @Test
  void place_that_is_due_when_its_caller_comes_is_redeemed_although_a_fill_request_takes_long() {
    wait(40);
    Caller caller = new Caller();
    Instant slot = retryAt(caller.claim());
    wait(5);
    FillRequests slow =
        new FillRequests() {
          @Override
          public void send(BucketId id) {
            ports.clock().advance(Duration.ofMillis(500));
          }

          @Override
          public void sendAndWait(BucketId id) {
            send(id);
          }
        };
    Claims other =
        new Claims(ports.buckets(), ports.queue(), slow, Runnable::run, pause -> {}, ports.clock());
    ports.clock().advance(Duration.between(ports.clock().instant(), slot.plusMillis(9_800)));

    assertThat(other.hold(row(), caller.asRead(), new Attempt()))
        .isInstanceOf(ClaimResult.Granted.class);
  }

  @Test
  void freed_place_whose_slot_comes_while_it_is_kept_stays_its_callers() {
    wait(3);
    Line line = row().line().orElseThrow();
    Place freed = new Place(EPOCH, 2);
    new FreedPlaces(ports.buckets(), ports.clock()).free(ID, freed);
    Caller caller = new Caller();
    faults.plan(2, Faults.concurrently(() -> ports.clock().advance(Duration.ofSeconds(6))));

    ClaimResult result = caller.claim();

    assertThat(faults.calls().subList(0, 2)).containsExactly("Buckets.takeFreed", "Predicate.test");
    assertThat(result).isEqualTo(new ClaimResult.Denied(line.slot(2), Optional.of(freed)));
    assertThat(caller.claim()).isInstanceOf(ClaimResult.Granted.class);
  }

  private void assertAdmittedSoon(Caller caller, String fault) {
    for (int i = 0; i < 3; i++) {
      ClaimResult result = caller.claim();
      if (result instanceof ClaimResult.Granted) {
        return;
      }
      ports.passUntil(retryAt(result));
    }
    assertThat(caller.claim()).as(fault).isInstanceOf(ClaimResult.Granted.class);
  }

  @ParameterizedTest(name = "{0} wait")
  @ValueSource(ints = {0, 3})
  void interrupted_claim_costs_the_caller_and_those_behind_it_at_most_one_token(int waiting) {
    for (Faults.Fault fault :
        new Faults.Fault[] {Faults.UNREACHABLE, Faults.ANSWER_LOST, Faults.KILLED}) {
      for (int at = 1; at <= requests(waiting); at++) {
        LinePlacesTest test = new LinePlacesTest();
        Instant first = test.row().at(test.ports.clock().instant()).nextToken();
        test.wait(waiting);
        Caller caller = test.new Caller();
        test.faults.plan(at, fault);
        try {
          caller.claim();
        } catch (Faults.Killed killed) {
          // The caller got no answer and comes again.
        }
        test.faults.none();
        Caller next = test.new Caller();
        String where = "request " + at + " of a claim behind " + waiting;

        Instant told = retryAt(caller.claim());
        Instant behind = retryAt(next.claim());

        assertThat(Duration.between(first, behind))
            .as(where)
            .isLessThanOrEqualTo(INTERVAL.multipliedBy(waiting + 2));
        test.ports.passUntil(told);
        test.assertAdmittedSoon(caller, where);
        test.ports.passUntil(behind);
        test.assertAdmittedSoon(next, where);
      }
    }
  }

  @Test
  void place_that_nobody_took_is_not_due() {
    wait(1);
    Caller caller = new Caller();
    caller.kept = Optional.of(new Place(EPOCH, 5));
    Instant slot = retryAt(caller.claim());
    assertThat(issued()).isEqualTo(1);

    ports.passUntil(slot);
    ClaimResult result = caller.claim();

    assertThat(result).isInstanceOf(ClaimResult.Granted.class);
    assertThat(caller.kept).as("a place of its own").contains(new Place(EPOCH, 2));
  }

  /** Takes all tokens that are visible, as a process does that does not know the line yet. */
  private void takeAll() {
    List<Lease> leases = reserveTen();
    while (!leases.isEmpty()) {
      ports.queue().settle(ID, leases);
      leases = reserveTen();
    }
  }

  private List<Lease> reserveTen() {
    return ports.queue().reserve(ID, 10, Duration.ofSeconds(30), TokenQueue.Search.SHORT);
  }

  @ParameterizedTest
  @ValueSource(longs = {20, 40})
  void missing_token_after_a_change_of_the_rate_delays_nobody_behind(long perMinute) {
    for (int second = 1; second <= 63; second++) {
      takeAll();
      ports.passUntil(AdmissionFixture.START.plusSeconds(second));
      if (second == 5 || second == 60) {
        ports.fill().fill(ID);
      }
    }
    takeAll();
    Map<Caller, Instant> slots = new LinkedHashMap<>();
    for (int i = 0; i < 15; i++) {
      Caller caller = new Caller();
      slots.put(caller, retryAt(caller.claim()));
    }
    ports.retune(ID, new BucketSpec(Rate.perMinute(perMinute), SPEC.capacity(), SPEC.fillPolicy()));

    Caller first = slots.keySet().iterator().next();
    Instant slot = Objects.requireNonNull(slots.remove(first));
    ports.passUntil(slot.plusMillis(500));
    takeAll();
    assertThat(retryAt(first.claim())).isBefore(slot.plus(INTERVAL.multipliedBy(2)));

    slots.forEach(
        (caller, due) -> {
          ports.passUntil(due);
          assertThat(caller.claim()).as("%s", due).isInstanceOf(ClaimResult.Granted.class);
        });
  }
}
