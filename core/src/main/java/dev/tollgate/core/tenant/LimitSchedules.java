package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The scheduled limits of a tier or a tenant. At most one factor is in force.
 *
 * <p>Windows do not overlap when they are added. They may later, because a time zone may change its
 * rules. Rows stay readable then, and the window that opens first has precedence.
 *
 * <p><b>The limits of a tenant are a function of its tier's row, its overrides and the time</b>,
 * and {@link #at} is the only place where time enters: it opens and closes windows. {@link Tenant}
 * computes limits and buckets from the open windows alone: its own, or else its tier's. Rows hold
 * the result of {@code at}. So rows that are written at different times do not drift apart: when a
 * window opens or closes, the row of the tier or tenant changes, and its change is rolled out as
 * any other.
 *
 * @param all the schedules, in the order of their windows
 */
public record LimitSchedules(List<LimitSchedule> all) {
  /** No schedules. */
  public static final LimitSchedules NONE = new LimitSchedules(List.of());

  /** The most schedules of a tier or a tenant. */
  public static final int MAX = 20;

  /**
   * Sorts the schedules.
   *
   * @throws InvalidValue if there are too many
   */
  public LimitSchedules {
    all = all.stream().sorted(Comparator.comparing(LimitSchedule::opensAt)).toList();
    InvalidValue.unless(
        all.size() <= MAX,
        "schedules",
        all.size(),
        "at most " + MAX + " of a tier or tenant; cancel one first");
  }

  /** These schedules at an instant: without closed windows, and with the right one open. */
  public LimitSchedules at(Instant now) {
    return new LimitSchedules(
            all.stream().filter(schedule -> now.isBefore(schedule.closesAt())).toList())
        .openAt(now);
  }

  /** The same schedules, with the window open that contains an instant, for previews. */
  public LimitSchedules openAt(Instant then) {
    return new LimitSchedules(all.stream().map(schedule -> schedule.at(then)).toList());
  }

  /** The next instant at which {@link #at} returns something else; it may be in the past. */
  public Optional<Instant> nextChange() {
    return all.stream()
        .map(schedule -> schedule.isOpen() ? schedule.closesAt() : schedule.opensAt())
        .min(Comparator.naturalOrder());
  }

  /** Whether {@link #at} returns something else at an instant. */
  public boolean isDue(Instant now) {
    return !at(now).equals(this);
  }

  /** The schedule whose window is open. */
  public Optional<LimitSchedule> open() {
    return all.stream().filter(LimitSchedule::isOpen).findFirst();
  }

  /** The factor in force; empty if no window is open. */
  public Optional<Factor> factor() {
    return open().map(LimitSchedule::factor);
  }

  /** The schedule with this id. */
  public Optional<LimitSchedule> find(String id) {
    return all.stream().filter(schedule -> schedule.id().equals(id)).findAny();
  }

  /**
   * These schedules and another one, unless it is one of them.
   *
   * @throws InvalidValue if there are too many, the window is empty or overlaps another one
   */
  public LimitSchedules with(LimitSchedule schedule) {
    if (find(schedule.id()).filter(schedule::hasSameTermsAs).isPresent()) {
      return this;
    }
    schedule.checkNotEmpty();
    for (LimitSchedule other : all) {
      InvalidValue.unless(
          !schedule.overlaps(other),
          "from",
          schedule.from(),
          "a window that overlaps no other; it overlaps " + other);
    }
    return new LimitSchedules(Stream.concat(all.stream(), Stream.of(schedule)).toList());
  }

  /** These schedules without the one with this id. */
  public LimitSchedules without(String id) {
    return new LimitSchedules(all.stream().filter(schedule -> !schedule.id().equals(id)).toList());
  }
}
